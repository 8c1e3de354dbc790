package settings

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-set-commissions.
func TestPagesContainCommissionsIfConfigured(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		first := d.get()
		for _, text := range []string{`"commissions"`, `"responseTime"`} { // settings without these fields keep their version
			if data, err := json.Marshal(first.Settings); err != nil || strings.Contains(string(data), text) {
				t.Errorf("a new site has %s: %s, %v", text, data, err)
			}
		}
		onPages := func() (Commissions, string) {
			t.Helper()
			site, err := LoadPageSite(t.Context(), database)
			if err != nil {
				t.Fatal(err)
			}
			data, err := json.Marshal(site)
			if err != nil {
				t.Fatal(err)
			}
			return site.Commissions, string(data)
		}
		_, before := onPages()

		saved, err := d.save(first.Version, `{"site":{"commissions":{"texts":{"en":{"accepts":" Murals\r\nand portraits ","prices":"from 300 €"},"pt":{"leadTime":"seis semanas"}}}}}`)
		if err != nil {
			t.Fatal(err)
		}
		if _, after := onPages(); after != before {
			t.Errorf("off: %s\nbefore: %s", after, before)
		}
		want := Commissions{State: CommissionsWaitlist}
		want.Texts.EN.Accepts, want.Texts.EN.Prices, want.Texts.PT.LeadTime, want.Texts.PT.Steps = "Murals\nand portraits", "from 300 €", "seis semanas", "Conversa\nEsboço"
		if saved, err = d.save(saved.Version, `{"site":{"commissions":{"state":"waitlist","texts":{"pt":{"steps":"Conversa\nEsboço"}}}}}`); err != nil || !reflect.DeepEqual(saved.Settings.Site.Commissions, want) {
			t.Errorf("%+v, %v, want %+v", saved.Settings.Site.Commissions, err, want)
		}
		if got, _ := onPages(); !reflect.DeepEqual(got, want) {
			t.Errorf("pages: %+v, want %+v", got, want)
		}
		if saved, err = d.save(saved.Version, `{"site":{"commissions":{"state":""}}}`); err != nil {
			t.Fatal(err)
		}
		if _, after := onPages(); after != before || saved.Settings.Site.Commissions.Texts != want.Texts {
			t.Errorf("off again: %s, kept %+v", after, saved.Settings.Site.Commissions)
		}
	})
}

// Proves A-set-commissions.
func TestCommissionsAreChecked(t *testing.T) {
	d := newClient(t, dbtest.Open(t, db.SQLite))
	version := d.get().Version
	for _, c := range []struct{ given, field string }{
		{`{"state":"on"}`, "site.commissions.state"},
		{`{"slots":-1}`, "site.commissions.slots"},
		{`{"slots":101}`, "site.commissions.slots"},
		{`{"texts":{"en":{"accepts":"` + strings.Repeat("é", 2001) + `"}}}`, "site.commissions.texts.en.accepts"},
		{`{"texts":{"pt":{"declines":"` + strings.Repeat("é", 2001) + `"}}}`, "site.commissions.texts.pt.declines"},
		{`{"texts":{"pt":{"prices":"` + strings.Repeat("é", 2001) + `"}}}`, "site.commissions.texts.pt.prices"},
		{`{"texts":{"pt":{"leadTime":"` + strings.Repeat("é", 201) + `"}}}`, "site.commissions.texts.pt.leadTime"},
		{`{"texts":{"en":{"leadTime":"six\nweeks"}}}`, "site.commissions.texts.en.leadTime"},
		{`{"texts":{"en":{"steps":"` + strings.Repeat("é", 2001) + `"}}}`, "site.commissions.texts.en.steps"},
		{`{"texts":{"en":{"terms":"` + strings.Repeat("é", 5001) + `"}}}`, "site.commissions.texts.en.terms"},
		{`{"texts":{"en":{"terms":"a\u0000b"}}}`, "site.commissions.texts.en.terms"},
	} {
		if _, err := d.save(version, `{"site":{"commissions":`+c.given+`}}`); err == nil || err.Status != 400 || err.Code != "22023" || err.Details != c.field {
			t.Errorf("%.60s: %+v", c.given, err)
		}
	}
	if _, err := d.save(version, `{"site":{"responseTime":"guessed"}}`); err == nil || err.Details != "site.responseTime" {
		t.Errorf("%+v", err)
	}
	for _, given := range []string{`{"commissions":"open"}`, `{"commissions":{"state":1}}`, `{"commissions":{"slots":1.5}}`, `{"commissions":{"slots":"3"}}`, `{"commissions":{"texts":[]}}`, `{"responseTime":24}`} {
		if _, err := d.save(version, `{"site":`+given+`}`); err == nil || err.Status != 400 {
			t.Errorf("%s: %+v", given, err)
		}
	}
	longest := strings.Repeat("é", 2000)
	if _, err := d.save(version, `{"site":{"commissions":{"state":"open","texts":{"en":{"accepts":"`+longest+`","declines":"`+longest+`","prices":"`+longest+`","steps":"`+longest+`","leadTime":"`+
		strings.Repeat("é", 200)+`","terms":"`+strings.Repeat("é", 5000)+`"}}}}}`); err != nil {
		t.Errorf("texts at their limits: %+v", err)
	}
}

// Proves A-set-slots.
func TestFreeSlotsAreCounted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, database *db.DB) {
		d := newClient(t, database)
		saved, err := d.save(d.get().Version, `{"site":{"commissions":{"state":"open","slots":2,"free":7}}}`)
		if err != nil || saved.Settings.Site.Commissions != (Commissions{State: CommissionsOpen, Slots: 2}) {
			t.Fatalf("%+v, %v", saved.Settings.Site.Commissions, err)
		}
		exec := func(query string, args ...any) {
			t.Helper()
			if _, err := database.Exec(t.Context(), query, args...); err != nil {
				t.Fatal(err)
			}
		}
		version := func() (v int) {
			t.Helper()
			if err := database.QueryRow(t.Context(), "select edited from content_version").Scan(&v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		onPages := func() Commissions {
			t.Helper()
			site, err := LoadPageSite(t.Context(), database)
			if err != nil {
				t.Fatal(err)
			}
			return site.Commissions
		}
		open, closed := func(free int) Commissions { return Commissions{State: CommissionsOpen, Free: free} }, Commissions{State: CommissionsClosed}
		if got := onPages(); got != open(2) {
			t.Errorf("%+v", got)
		}
		ids := []string{"00000000-0000-4000-8000-000000000001", "00000000-0000-4000-8000-000000000002", "00000000-0000-4000-8000-000000000003"}
		for _, id := range ids {
			exec("insert into contact_submissions (id, name, email, message, reason, status, created_at) values ($1, 'Ana', 'ana@exemplo.pt', 'Um retrato', 'commission', 'new', $2)", id, time.Now())
			exec("insert into commissions (message_id, stage, stage_at) values ($1, 'offer', $2)", id, time.Now())
		}
		stage := func(id, stage string) { exec("update commissions set stage = $2 where message_id = $1", id, stage) }
		for _, step := range []struct {
			id, stage string
			want      Commissions
			changed   bool // the content version was raised
		}{
			{ids[0], "accepted", open(1), true}, {ids[0], "in_progress", open(1), false}, {ids[1], "accepted", closed, true}, {ids[2], "accepted", closed, true},
			{ids[2], "declined", closed, true}, {ids[0], "finished", open(1), true}, {ids[2], "enquiry", open(1), false}, {ids[1], "in_progress", open(1), false},
		} {
			before := version()
			stage(step.id, step.stage)
			if got := onPages(); got != step.want || (version() != before) != step.changed {
				t.Errorf("%s %s: %+v, version %d after %d", step.id, step.stage, got, version(), before)
			}
		}
		before := version()
		exec("delete from contact_submissions where id = $1", ids[1])
		if got := onPages(); got != open(2) || version() == before {
			t.Errorf("after a deletion: %+v", got)
		}
		before = version()
		exec("insert into contact_submissions (id, name, email, message, reason, status, created_at) values ($1, 'Ana', 'ana@exemplo.pt', 'Um retrato', 'commission', 'new', $2)", ids[1], time.Now())
		exec("insert into commissions (message_id, stage, stage_at) values ($1, 'in_progress', $2)", ids[1], time.Now())
		if got := onPages(); got != open(1) || version() == before {
			t.Errorf("after an insertion: %+v", got)
		}
		// Pages contain free slots only while commissions are open.
		for state, want := range map[string]Commissions{"waitlist": {State: CommissionsWaitlist}, "closed": closed, "": {}} {
			if saved, err = d.save(saved.Version, `{"site":{"commissions":{"state":"`+state+`"}}}`); err != nil {
				t.Fatal(err)
			}
			if got := onPages(); got != want {
				t.Errorf("%q: %+v", state, got)
			}
		}
		if _, err = d.save(saved.Version, `{"site":{"commissions":{"state":"open","slots":0}}}`); err != nil {
			t.Fatal(err)
		}
		if got := onPages(); got != open(0) {
			t.Errorf("without a limit: %+v", got)
		}
	})
}
