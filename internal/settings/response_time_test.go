package settings

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
)

// addAnswered stores the nth message. It was answered after wait.
func addAnswered(t *testing.T, d *db.DB, n int, wait time.Duration) {
	t.Helper()
	sent := time.Date(2026, 11, 1, 0, n, 0, 0, time.UTC)
	if _, err := d.Exec(t.Context(), `insert into contact_submissions (id, name, email, message, status, created_at, answered_at)
		values ($1, 'Rui', 'rui@example.com', 'How large is it?', 'replied', $2, $3)`, uuid.NewString(), sent, sent.Add(wait)); err != nil {
		t.Fatal(err)
	}
}

// Proves A-set-response.
func TestTheMeasuredResponseTimeReplacesTheOwnersText(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		written := d.get().Settings.Site.Texts
		version := func() int64 {
			t.Helper()
			n, err := db.One[int64](t.Context(), database, "select version from content_version")
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
		check := func(when, en, pt string) {
			t.Helper()
			if err := d.s.MeasureResponseTime(t.Context(), database); err != nil {
				t.Fatal(err)
			}
			site, err := LoadPageSite(t.Context(), database)
			if err != nil || site.Texts.EN.ContactResponseTime != en || site.Texts.PT.ContactResponseTime != pt || site.ResponseTime != "" {
				t.Errorf("%s: %q %q %q, %v", when, site.Texts.EN.ContactResponseTime, site.Texts.PT.ContactResponseTime, site.ResponseTime, err)
			}
			// The seed's confirmation promises a reply within 24 hours. With another response time, it is replaced by a text without a time.
			wantEN, wantPT := written.EN.ContactSuccessBody, written.PT.ContactSuccessBody
			if en != written.EN.ContactResponseTime {
				wantEN, wantPT = "Thank you for writing. I'll get back to you soon.", "Agradeço a sua mensagem. Respondo em breve."
			}
			if site.Texts.EN.ContactSuccessBody != wantEN || site.Texts.PT.ContactSuccessBody != wantPT {
				t.Errorf("%s: %q %q", when, site.Texts.EN.ContactSuccessBody, site.Texts.PT.ContactSuccessBody)
			}
		}
		for n := range 12 {
			addAnswered(t, database, n, 9*time.Hour-time.Minute)
		}
		before := version()
		check("not chosen", written.EN.ContactResponseTime, written.PT.ContactResponseTime)
		if rows, err := db.One[int](t.Context(), database, "select count(*) from response_time"); err != nil || rows != 0 || version() != before {
			t.Errorf("not chosen: %d rows, %v, version %d instead of %d", rows, err, version(), before)
		}
		const en, pt = "Usually answered within 9 hours", "Costumo responder no prazo de 9 horas"
		saved, err := d.save(d.get().Version, `{"site":{"responseTime":"measured"}}`)
		if err != nil || saved.Settings.Site.ResponseTime != responseMeasured || saved.Answers != (answerTimes{12, 9, en, pt}) || saved.Settings.Site.Texts != written {
			t.Fatalf("got %+v, error %v", saved, err)
		}
		check("chosen", en, pt)

		// Answers that do not change the text do not change the version, so the cached pages stay valid.
		before = version()
		addAnswered(t, database, 20, 500*time.Hour)
		check("one late answer", en, pt)
		if got := version(); got != before {
			t.Errorf("the text is the same, the version %d instead of %d", got, before)
		}
		// The newest twenty answers count; eleven of them took long.
		for n := range 10 {
			addAnswered(t, database, 30+n, 70*time.Hour)
		}
		check("eleven of the last twenty", "Usually answered within 3 days", "Costumo responder no prazo de 3 dias")
		if got := version(); got == before {
			t.Error("the text has changed, the version has not")
		}
		if _, err := database.Exec(t.Context(), "delete from contact_submissions where answered_at > $1", time.Date(2026, 11, 1, 9, 7, 30, 0, time.UTC)); err != nil {
			t.Fatal(err)
		}
		check("nine are left", written.EN.ContactResponseTime, written.PT.ContactResponseTime)
	})
}

// Proves A-set-response.
func TestSeedConfirmationNamesNoTimeBesideTheOwnersText(t *testing.T) {
	d := newClient(t, dbtest.Open(t, db.SQLite))
	seed := d.get().Page.Texts
	saved, err := d.save(d.get().Version, `{"site":{"texts":{"en":{"contact.responseTime":"Within a week"}}}}`)
	if err != nil || saved.Page.Texts.EN.ContactSuccessBody != "Thank you for writing. I'll get back to you soon." || saved.Page.Texts.PT != seed.PT ||
		saved.Settings.Site.Texts.EN.ContactSuccessBody != seed.EN.ContactSuccessBody {
		t.Fatalf("%+v, %v", saved, err)
	}
	const own = "I answer on Fridays, in 24 hours at best."
	saved, err = d.save(saved.Version, `{"site":{"texts":{"en":{"contact.success.body":"`+own+`"}}}}`)
	if err != nil || saved.Page.Texts.EN.ContactSuccessBody != own || d.get().Page.Texts != saved.Page.Texts {
		t.Errorf("%+v, %v", saved.Page, err)
	}
}

func TestRoundedResponseTimes(t *testing.T) {
	for _, c := range []struct {
		waits []time.Duration
		hours int
		text  string
	}{
		{[]time.Duration{-time.Hour}, 1, "Usually answered within an hour"}, // clocks of several machines
		{[]time.Duration{0}, 1, "Usually answered within an hour"},
		{[]time.Duration{time.Hour}, 1, "Usually answered within an hour"},
		{[]time.Duration{time.Hour + 1}, 2, "Usually answered within 2 hours"},
		{[]time.Duration{40 * time.Hour, time.Hour, 3 * time.Hour}, 3, "Usually answered within 3 hours"},
		{[]time.Duration{3 * time.Hour, time.Hour}, 2, "Usually answered within 2 hours"},
		{[]time.Duration{47 * time.Hour}, 47, "Usually answered within 47 hours"},
		{[]time.Duration{47*time.Hour + 1}, 48, "Usually answered within 2 days"},
		{[]time.Duration{48*time.Hour + 1}, 72, "Usually answered within 3 days"},
		{[]time.Duration{365 * 24 * time.Hour}, 365 * 24, "Usually answered within 365 days"},
	} {
		if hours := roundedHours(median(c.waits)); hours != c.hours || responseText(i18n.EN, hours) != c.text {
			t.Errorf("%v: %d %q", c.waits, hours, responseText(i18n.EN, hours))
		}
	}
}
