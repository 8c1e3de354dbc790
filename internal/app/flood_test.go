package app

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelie/internal/auth"
	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/mail/mailtest"
)

// flood sends perAddress messages from each of several IP addresses, and checks that all responses are equal. The site's clock stands still
// meanwhile.
func (s *noticeSite) flood(addresses, perAddress int) {
	s.t.Helper()
	public, handler, first := key(s.t, s.App, identity.Anon), s.Handler(), ""
	for i := range perAddress {
		for a := range addresses {
			body := fmt.Sprintf(`{"name":"Visitor %d-%d","email":"v@exemplo.example","message":"Temos uma parede.","reason":"purchase"}`, a, i)
			r := httptest.NewRequestWithContext(s.t.Context(), "POST", "/functions/v1/submit-contact", strings.NewReader(body))
			r.Header.Set("Authorization", "Bearer "+public)
			r.RemoteAddr = fmt.Sprintf("203.0.113.%d:1", a+1)
			rec := httptest.NewRecorder()
			handler.ServeHTTP(rec, r)
			if first == "" {
				first = rec.Body.String()
			}
			if rec.Code != http.StatusOK || rec.Body.String() != first {
				s.t.Fatalf("message %d of address %d: %d %s", i, a, rec.Code, rec.Body)
			}
		}
	}
}

// count runs a query that returns one number.
func (s *noticeSite) count(query string) (n int) {
	s.t.Helper()
	if err := s.DB.QueryRow(s.t.Context(), query).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// subjects returns the subjects of all mails to an address, in the order of arrival.
func (s *noticeSite) subjects(to string) (all []string) {
	s.t.Helper()
	for _, got := range s.mailServer.Mails() {
		m, err := mailtest.Open(got.Data)
		if err != nil {
			s.t.Fatal(err)
		}
		if got.To == to {
			all = append(all, m.Subject)
		}
	}
	return all
}

// Proves AM-notice-7, FN-contact-flood.
//
// TestFloodOfMessagesSendsFewMails sends 30 messages from each of 20 IP addresses within a minute. The owner and the webhook get five
// notices immediately, and one digest of the other messages in the inbox. Messages beyond the limit are in quarantine.
func TestFloodOfMessagesSendsFewMails(t *testing.T) {
	for dialect, each := range map[db.Dialect]int{db.SQLite: 30, db.Postgres: 5} {
		t.Run(string(dialect), func(t *testing.T) {
			const owner, most = "ana@alvor.example", 60
			total := 20 * each
			s := newNoticeSite(t, dialect, true, func(c *config.Config) { c.Mail.MessagesPerHour = most })
			s.owner("11111111-1111-4111-8111-111111111111", owner, "en")
			s.set("notice.webhook", `"`+s.hook.URL+`"`)
			s.flood(20, each)
			if inbox, aside := s.count("select count(*) from contact_submissions"), s.count("select count(*) from contact_quarantine where cause = 'flood'"); inbox != most || aside != total-most {
				t.Fatalf("%d in the inbox, %d in quarantine", inbox, aside)
			}
			serve(t, s.App)
			if dialect == db.Postgres { // two nodes send notices, but each recipient gets one digest
				next, err := New(t.Context(), s.cfg, s.log, s.now)
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() {
					if err := next.Close(); err != nil {
						t.Error(err)
					}
				})
				serve(t, next)
			}
			waitForState(t, s.App, "contact.plan", jobs.State{})
			waitForState(t, s.App, "contact.notice", jobs.State{})
			waitForState(t, s.App, "contact.digest", jobs.State{Waiting: 2})
			if mails, calls := len(s.subjects(owner)), len(s.webhookCalls()); mails != 5 || calls != 5 {
				t.Errorf("%d mails and %d calls before the hour is over", mails, calls)
			}

			s.clock.Store(s.now().Truncate(time.Hour).Add(time.Hour).UnixMicro())
			late := s.write("Late", "late@exemplo.example", "en") // wakes the queue; it has its own notice
			s.waitForStates(late, "mail "+owner+" sent", "webhook "+strings.TrimPrefix(s.hook.URL, "http://")+" sent")
			waitForState(t, s.App, "", jobs.State{})
			subjects := s.subjects(owner)
			digests := 0
			for _, subject := range subjects {
				if subject == fmt.Sprintf("Ateliê: new messages: %d", most-5) {
					digests++
				}
			}
			if len(subjects) != 7 || digests != 1 {
				t.Errorf("mails: %q", subjects)
			}
			t.Logf("%d mails for %d messages", len(subjects)-1, total)
			if n := s.count("select count(*) from contact_notices where sent_at is null"); n != 0 {
				t.Errorf("%d notices count as not sent", n)
			}
			s.checkDigest(most-5, total-most)
			if n := s.count("select count(*) from contact_digests"); n != 0 {
				t.Errorf("%d digests are open", n)
			}
		})
	}
}

// checkDigest checks the content of the digest by mail and by webhook.
func (s *noticeSite) checkDigest(count, aside int) {
	s.t.Helper()
	for _, got := range s.mailServer.Mails() {
		m, err := mailtest.Open(got.Data)
		if err != nil {
			s.t.Fatal(err)
		}
		if !strings.Contains(m.Subject, "new messages") {
			continue
		}
		if strings.Count(m.Text, "Visitor ") != 10 || !strings.Contains(m.Text, "Purchase") || !strings.Contains(m.Text, "http://site.example/admin/contact-messages\n") ||
			!strings.Contains(m.Text, fmt.Sprintf("kept in quarantine: %d.", aside)) || m.Header.Get("Reply-To") != "" {
			s.t.Errorf("digest:\n%s", m.Text)
		}
	}
	found := 0
	for _, h := range s.webhookCalls() {
		var event struct {
			Type string
			Data struct {
				Count     int
				KeptAside int `json:"kept_aside"`
				Messages  []struct{ ID, Name, Message, Reason string }
			}
		}
		if err := json.Unmarshal(h.body, &event); err != nil {
			s.t.Fatal(err)
		}
		if event.Type != "contact_submission.digest" {
			continue
		}
		found++
		d := event.Data
		if d.Count != count || d.KeptAside != aside || len(d.Messages) != count || d.Messages[0].Message != "Temos uma parede." || h.header.Get("webhook-signature") == "" {
			s.t.Errorf("%s", h.body)
		}
	}
	if found != 1 || len(s.webhookCalls()) != 7 {
		s.t.Errorf("%d digests in %d calls", found, len(s.webhookCalls()))
	}
}

// Proves AM-notice-7.
//
// TestFailedDigestIsReportedAndCanBeRetried checks that each notice of a failed digest can be retried, and that deleted messages are left
// out.
func TestFailedDigestIsReportedAndCanBeRetried(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
		var ids []string
		for i := range 8 {
			ids = append(ids, s.write(fmt.Sprintf("Visitor %d", i), "v@exemplo.example", "en"))
		}
		serve(t, s.App)
		waitForState(t, s.App, "contact.plan", jobs.State{})
		waitForState(t, s.App, "contact.notice", jobs.State{})
		var waiting []string
		for _, id := range ids {
			if got := s.states("list", id); len(got) == 1 && got[0] == "mail ana@alvor.example waiting" {
				waiting = append(waiting, id)
			}
		}
		if len(waiting) != 3 {
			t.Fatalf("%d wait for the digest", len(waiting))
		}
		s.exec("delete from contact_submissions where id = $1", waiting[0])
		s.mailServer.Answer(mailtest.Refusal(550, "No such mailbox"), mailtest.Refusal(550, "No such mailbox"))
		s.clock.Store(s.now().Truncate(time.Hour).Add(time.Hour).UnixMicro())
		s.set("notice.email", `["gone@alvor.example"]`) // recipient of the later notices
		s.write("Wakes the queue", "v@exemplo.example", "en")
		s.waitFor("the digest fails", func() bool {
			got := s.states("list", waiting[1])
			return len(got) == 1 && strings.HasPrefix(got[0], "mail ana@alvor.example failed") && strings.Contains(got[0], "550")
		})
		s.waitFor("both jobs have failed", func() bool {
			state, err := s.Jobs.State(t.Context(), "")
			return err == nil && state.Failed == 2
		})
		s.states("retry", waiting[1])
		s.waitForStates(waiting[1], "mail ana@alvor.example sent")
		if got := s.states("list", waiting[2]); !strings.HasPrefix(got[0], "mail ana@alvor.example failed") {
			t.Errorf("%q", got)
		}
	})
}

// Proves AM-notice-8.
//
// TestSignInMailNeverWaitsBehindNotices uses a mail server that accepts connections for notices and does not respond. There are more
// notices than workers. A recovery mail must be delivered nevertheless.
func TestSignInMailNeverWaitsBehindNotices(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			release := make(chan struct{})
			mailServer, err := mailtest.Start(mailtest.Options{OnReceive: func(r mailtest.Received) {
				if r.To != "ana@alvor.example" {
					<-release
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			cfg := configuration(t)
			cfg.Mail.SMTPURL, cfg.Mail.From = "smtp://"+mailServer.Address()+"?tls=none", "Alvor <ola@alvor.example>"
			cfg.Database.URL = dbtest.URL(t, dialect)
			a := newAppOf(t, cfg, time.Now)
			s := &noticeSite{App: a, t: t, mailServer: mailServer}
			s.clock.Store(time.Now().UnixMicro())
			t.Cleanup(func() {
				if err := mailServer.Close(); err != nil {
					t.Error(err)
				}
			})
			receivers := make([]string, 10)
			for i := range receivers {
				receivers[i] = fmt.Sprintf("%q", fmt.Sprintf("n%d@alvor.example", i))
			}
			s.set("notice.email", "["+strings.Join(receivers, ",")+"]")
			s.write("Inês", "ines@exemplo.example", "en")
			serve(t, a)
			t.Cleanup(func() { close(release) }) // before the server stops: it waits for running jobs
			s.waitFor("four notices are at the mail server", func() bool { return len(s.mailServer.Mails()) == 4 })
			enqueue(t, a, auth.JobMail, auth.Mail{Kind: auth.MailRecovery, To: "ana@alvor.example", Language: "en", Link: "http://site.example/auth/v1/verify?token=x", At: a.now()})
			s.waitFor("the recovery mail", func() bool { return len(s.subjects("ana@alvor.example")) == 1 })
			if n := len(s.mailServer.Mails()); n != 5 {
				t.Errorf("%d mails arrived", n)
			}
		})
	}
}
