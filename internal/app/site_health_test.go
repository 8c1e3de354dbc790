package app

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/health"
	"atelie/internal/i18n"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/mail"
	"atelie/internal/mail/mailtest"
)

// getHealth calls rpc/get_site_health with a token.
func getHealth(t *testing.T, a *App, token string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/rest/v1/rpc/get_site_health", strings.NewReader("{}"))
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	r.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	a.Handler().ServeHTTP(rec, r)
	return rec
}

// siteHealth returns what rpc/get_site_health responds to the service key, as to an owner.
func (s *noticeSite) siteHealth() (state health.State) {
	s.t.Helper()
	rec := getHealth(s.t, s.App, key(s.t, s.App, identity.Service))
	if err := json.Unmarshal(rec.Body.Bytes(), &state); err != nil || rec.Code != http.StatusOK {
		s.t.Fatalf("%d %s %v", rec.Code, rec.Body, err)
	}
	return state
}

// hasProblem reports whether siteHealth contains a problem with this code.
func (s *noticeSite) hasProblem(code health.Code) bool {
	s.t.Helper()
	return slices.ContainsFunc(s.siteHealth().Problems, func(p health.Problem) bool { return p.Code == code })
}

// advance moves the clock of the site forward.
func (s *noticeSite) advance(d time.Duration) { s.clock.Add(d.Microseconds()) }

// Proves A-health-who.
func TestHealthIsForAdministrators(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			const password = "a wall of whitewash"
			if err := a.Auth.AddOwner(t.Context(), "ana@example.com", password); err != nil {
				t.Fatal(err)
			}
			if err := a.Auth.AddOwner(t.Context(), "rui@example.com", password); err != nil {
				t.Fatal(err)
			}
			if err := a.Auth.RemoveOwner(t.Context(), "rui@example.com"); err != nil {
				t.Fatal(err)
			}
			anon := key(t, a, identity.Anon)
			signIn := func(email string) string {
				r := httptest.NewRequestWithContext(t.Context(), "POST", "/auth/v1/token?grant_type=password", strings.NewReader(`{"email":"`+email+`","password":"`+password+`"}`))
				r.Header.Set("apikey", anon)
				r.Header.Set("Content-Type", "application/json")
				rec := httptest.NewRecorder()
				a.Handler().ServeHTTP(rec, r)
				var session struct {
					AccessToken string `json:"access_token"`
				}
				if err := json.Unmarshal(rec.Body.Bytes(), &session); err != nil || session.AccessToken == "" {
					t.Fatalf("%s: %d %s", email, rec.Code, rec.Body)
				}
				return session.AccessToken
			}
			for who, c := range map[string]struct {
				token  string
				status int
			}{
				"nobody":               {"", http.StatusUnauthorized},
				"the public key":       {anon, http.StatusUnauthorized},
				"a forged token":       {anon[:len(anon)-4] + "AAAA", http.StatusUnauthorized},
				"who has no role":      {signIn("rui@example.com"), http.StatusForbidden},
				"an administrator":     {signIn("ana@example.com"), http.StatusOK},
				"the service key":      {key(t, a, identity.Service), http.StatusOK},
				"a key with more text": {anon + "x", http.StatusUnauthorized},
			} {
				rec := getHealth(t, a, c.token)
				if rec.Code != c.status {
					t.Errorf("%s: %d %s, want %d", who, rec.Code, rec.Body, c.status)
				}
				if c.status == http.StatusOK && (rec.Header().Get("Cache-Control") != "no-store" || !strings.Contains(rec.Body.String(), `"problems":[`)) {
					t.Errorf("%s: %v %s", who, rec.Header(), rec.Body)
				}
				if c.status != http.StatusOK && strings.Contains(rec.Body.String(), "backup") {
					t.Errorf("%s reads %s", who, rec.Body)
				}
			}
		})
	}
}

// addWaitingNotice stores a notice that has been waiting for three hours, and returns its message's id.
func (s *noticeSite) addWaitingNotice(name string) (id string) {
	s.t.Helper()
	id = s.write(name, "ines@exemplo.example", "pt")
	s.exec("delete from jobs where kind = 'contact.plan'")
	s.exec("delete from contact_notices where message_id = $1", id)
	s.exec("insert into contact_notices (id, message_id, channel, recipient, language, queued_at) values ($1, $2, 'mail', 'studio@alvor.example', 'en', $3)", uuid.NewString(), id, s.now().Add(-3*time.Hour))
	return id
}

// makeWaitAgain makes the notice of a message wait again.
func (s *noticeSite) makeWaitAgain(id string) {
	s.t.Helper()
	s.exec("update contact_notices set sent_at = null, queued_at = $2 where message_id = $1", id, s.now().Add(-3*time.Hour))
}

func (s *noticeSite) deliverNotices(id string) {
	s.t.Helper()
	s.exec("update contact_notices set sent_at = $2 where message_id = $1", id, s.now())
}

// check runs the hourly check on two nodes concurrently.
func (s *noticeSite) check(other *App) {
	s.t.Helper()
	var nodes sync.WaitGroup
	for _, a := range []*App{s.App, other} {
		nodes.Go(func() {
			if err := a.health.Check(s.t.Context()); err != nil {
				s.t.Error(err)
			}
		})
	}
	nodes.Wait()
}

// Proves A-health-mailed.
func TestOwnersAreMailedOnceADayPerProblem(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt-PT")
		s.owner("22222222-2222-4222-8222-222222222222", "bea@alvor.example", "en")
		other, err := New(t.Context(), s.cfg, slog.New(slog.DiscardHandler), s.now)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := other.Close(); err != nil {
				t.Error(err)
			}
		})
		// The tests of this package run without backups. That is a problem, and the mails about it have been sent.
		s.exec("insert into auth_last_sent (kind, subject, sent_at) values ('backup_off', 'owners', $1)", s.now())
		queued := func(what string, want int) {
			t.Helper()
			if n := s.count("select count(*) from jobs where kind = 'auth.mail'"); n != want {
				t.Fatalf("%s: %d mails are queued, want %d", what, n, want)
			}
		}
		s.check(other)
		queued("nothing is wrong", 0)

		message := s.addWaitingNotice("Inês")
		if !s.hasProblem(health.MailWaiting) {
			t.Fatalf("%+v", s.siteHealth())
		}
		s.check(other)
		queued("one for each owner", 2)
		for range 3 {
			s.advance(time.Hour)
			s.check(other)
		}
		queued("the same day", 2)

		serve(t, s.App)
		waitForState(t, s.App, "auth.mail", jobs.State{})
		mails := map[string]mailtest.Mail{}
		for _, got := range s.mailServer.Mails() {
			m, err := mailtest.Open(got.Data)
			if err != nil {
				t.Fatal(err)
			}
			mails[got.To] = m
		}
		if len(mails) != 2 || len(s.mailServer.Mails()) != 2 {
			t.Fatalf("%d mails", len(s.mailServer.Mails()))
		}
		for to, want := range map[string][2]string{
			"ana@alvor.example": {"Ateliê: um e-mail espera há horas", "\nhttp://site.example/admin?lang=pt\n"},
			"bea@alvor.example": {"Ateliê: a mail waits for hours", "\nhttp://site.example/admin\n"},
		} {
			if m := mails[to]; m.Subject != want[0] || !strings.Contains(m.Text, want[1]) {
				t.Errorf("%s: %q\n%s", to, m.Subject, m.Text)
			}
		}
		if got := s.siteHealth().Mail; got.DeliveredAt == nil || !got.DeliveredAt.Equal(s.now()) {
			t.Errorf("the overview does not show the delivery: %+v", got)
		}

		s.deliverNotices(message)
		s.advance(25 * time.Hour)
		s.check(other)
		queued("what has ended", 0)
		s.makeWaitAgain(message)
		s.check(other)
		waitForState(t, s.App, "auth.mail", jobs.State{})
		if n := len(s.mailServer.Mails()); n != 4 {
			t.Errorf("%d mails after another occurrence on the next day, want 4", n)
		}
	})
}

// Proves A-health-mailed.
func TestNoMailAboutAProblemThatHasEnded(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.owner("22222222-2222-4222-8222-222222222222", "bea@alvor.example", "en")
		id := s.addWaitingNotice("Inês")
		if err := s.health.Check(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.deliverNotices(id)
		serve(t, s.App)
		waitForState(t, s.App, "auth.mail", jobs.State{})
		if n := len(s.mailServer.Mails()); n != 0 {
			t.Errorf("%d mails", n)
		}
	})
}

// Proves A-health-mail.
func TestOverviewShowsFailingMails(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		send := func(ok bool) {
			t.Helper()
			_, err := s.SendMail(t.Context(), mail.Message{Kind: mail.Test, To: "bea@alvor.example", Language: i18n.EN, At: s.now()})
			if (err == nil) != ok {
				t.Fatalf("sent %v: %v", ok, err)
			}
		}
		no := mailtest.Refusal(451, "try <bea@alvor.example> again")
		s.mailServer.Answer(no, no, no)
		for range 3 {
			send(false)
		}
		if s.hasProblem(health.MailFailing) {
			t.Error("failing for a moment is a problem")
		}
		since := s.now()
		s.advance(61 * time.Minute)
		state := s.siteHealth()
		i := slices.IndexFunc(state.Problems, func(t health.Problem) bool { return t.Code == health.MailFailing })
		if i < 0 || !state.Problems[i].Since.Equal(since) || !strings.Contains(state.Problems[i].Cause, "try <…> again") {
			t.Fatalf("%+v", state)
		}
		send(true)
		if state := s.siteHealth(); !state.Mail.Verified || s.hasProblem(health.MailFailing) {
			t.Errorf("%+v", state)
		}
	})
}

// Proves A-health-mailed.
func TestEveryProblemHasAMail(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		for _, code := range health.Codes {
			for _, l := range i18n.Languages {
				if _, err := s.SendMail(t.Context(), mail.Message{Kind: mail.Kind(code), To: "bea@alvor.example", Language: l, Cause: "the bucket <copies> does not answer", At: s.now()}); err != nil {
					t.Errorf("%s: %v", code, err)
				}
			}
		}
		for _, got := range s.mailServer.Mails() {
			m, err := mailtest.Open(got.Data)
			if err != nil || !strings.Contains(m.Text, "the bucket <copies> does not answer") || strings.Contains(m.HTML, "<copies>") {
				t.Errorf("%v\n%s", err, m.Text)
			}
		}
	})
}

// Proves A-health-certificate.
func TestOverviewShowsAnEndingCertificate(t *testing.T) {
	w := newTestbed(t, db.SQLite, longLived)
	var ahead atomic.Int64
	w.now = func() time.Time { return time.Now().Add(time.Duration(ahead.Load())) }
	n := w.start()
	w.https.set(n.https)
	w.plain.set(n.plain)
	var state health.State
	read := func() bool {
		rec := getHealth(t, n.app, key(t, n.app, identity.Service))
		if err := json.Unmarshal(rec.Body.Bytes(), &state); err != nil {
			t.Fatalf("%d %s %v", rec.Code, rec.Body, err)
		}
		return state.Certificate != nil && state.Certificate.EndsAt != nil
	}
	w.eventually("the overview knows the certificate", read)
	if left := time.Until(*state.Certificate.EndsAt); !state.Certificate.Verified || state.Certificate.Domain != domain || left < longLived-time.Hour || left > longLived {
		t.Errorf("%+v", state.Certificate)
	}
	ahead.Store(int64(longLived - 13*24*time.Hour))
	if !read() || state.Certificate.Verified || !slices.ContainsFunc(state.Problems, func(t health.Problem) bool { return t.Code == health.CertificateEnding && t.Cause == domain }) {
		t.Errorf("%+v", state)
	}
}

// Proves A-health-backup, A-health-data.
func TestOverviewShowsTheRunningBackup(t *testing.T) {
	s := newNoticeSite(t, db.SQLite, true, func(cfg *config.Config) { cfg.Backup = config.Backup{Retention: 24 * time.Hour} })
	serve(t, s.App)
	place := s.cfg.BackupDir()
	s.waitFor("the first backup", func() bool { return s.siteHealth().Backup.LastRestorePoint != nil })
	if got := s.siteHealth().Backup; got.Destination != place || !got.SameDisk || got.Verified {
		t.Errorf("%+v", got)
	}
	if len(s.siteHealth().Problems) > 0 {
		t.Errorf("%+v", s.siteHealth().Problems)
	}

	// A file takes the place of the folder, so nothing can be stored there any more.
	if err := errors.Join(os.Rename(place, place+".away"), os.WriteFile(place, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	s.exec("insert into contact_thanked (subject, sent_at) values ('something new', $1)", s.now())
	s.waitFor("the failure", func() bool {
		n, err := db.One[int](t.Context(), s.DB, "select count(*) from backup_status where error <> ''")
		return err == nil && n > 0
	})
	if !s.hasProblem(health.BackupFailing) {
		t.Errorf("%+v", s.siteHealth())
	}

	if err := errors.Join(os.Remove(place), os.Rename(place+".away", place)); err != nil {
		t.Fatal(err)
	}
	s.waitFor("the end of the failure", func() bool { return !s.hasProblem(health.BackupFailing) })
}

// Proves A-health-release, H-upgrade-asks.
func TestOverviewShowsANewerRelease(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			cfg := configuration(t)
			if dialect == db.Postgres {
				cfg.Database.URL = dbtest.URL(t, dialect)
			}
			cfg.Build = "1.2.0"
			if a := newAppOf(t, cfg, time.Now); a.releaseFile() != nil || a.health.CheckRelease(t.Context()) != nil || !strings.Contains(getHealth(t, a, key(t, a, identity.Service)).Body.String(), `"release":null`) {
				t.Error("without a release file a file was read, or a state returned")
			}
			cfg = configuration(t)
			if dialect == db.Postgres {
				cfg.Database.URL = dbtest.URL(t, dialect)
			}
			cfg.Build, cfg.Server.ReleaseFile = "1.2.0", filepath.Join(t.TempDir(), "release.json")
			if err := os.WriteFile(cfg.Server.ReleaseFile, []byte(`{"version":"1.3.0","date":"2026-12-01","notes":"https://example.com/1.3.0"}`), 0o600); err != nil {
				t.Fatal(err)
			}
			a := newAppOf(t, cfg, time.Now)
			if err := a.health.CheckRelease(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := getHealth(t, a, key(t, a, identity.Service)).Body.String(); !strings.Contains(got, `"newer":{"version":"1.3.0","date":"2026-12-01","notes":"https://example.com/1.3.0"}`) || !strings.Contains(got, `"version":"1.2.0"`) {
				t.Errorf("%s", got)
			}
		})
	}
}
