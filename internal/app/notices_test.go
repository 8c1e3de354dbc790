package app

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	netmail "net/mail"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/mail/mailtest"
)

// webhookCall is a request that the owner's webhook received.
type webhookCall struct {
	header http.Header
	body   []byte
}

// noticeSite is the program with a real mail server, a real receiver of webhooks, and a clock that the test sets.
type noticeSite struct {
	*App
	t          *testing.T
	mailServer *mailtest.Server
	hook       *httptest.Server
	clock      atomic.Int64

	mu     sync.Mutex // guards the following fields
	calls  []webhookCall
	status int // with which the webhook responds
}

func (s *noticeSite) now() time.Time { return time.UnixMicro(s.clock.Load()).UTC() }

// newNoticeSite starts a noticeSite. If private is true, webhooks may have private addresses, such as that of the test.
func newNoticeSite(t *testing.T, dialect db.Dialect, private bool, settings ...func(*config.Config)) *noticeSite {
	t.Helper()
	s := &noticeSite{t: t, status: http.StatusNoContent}
	s.clock.Store(time.Date(2026, 11, 21, 9, 41, 0, 0, time.UTC).UnixMicro())
	var err error
	if s.mailServer, err = mailtest.Start(mailtest.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.mailServer.Close(); err != nil {
			t.Error(err)
		}
	})
	s.hook = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		s.calls = append(s.calls, webhookCall{r.Header, body})
		if s.status == http.StatusFound {
			w.Header().Set("Location", s.hook.URL+"/elsewhere")
		}
		w.WriteHeader(s.status)
	}))
	t.Cleanup(s.hook.Close)
	cfg := configuration(t)
	cfg.Mail.SMTPURL, cfg.Mail.From = "smtp://"+s.mailServer.Address()+"?tls=none", "Alvor <ola@alvor.example>"
	cfg.Mail.WebhookPrivate = config.Switch(private)
	cfg.Database.URL = dbtest.URL(t, dialect)
	for _, set := range settings {
		set(&cfg)
	}
	if s.App, err = New(t.Context(), cfg, slog.New(slog.DiscardHandler), s.now); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

func (s *noticeSite) owner(id, email, locale string) {
	s.t.Helper()
	s.exec("insert into auth_users (id, email, user_metadata, created_at, updated_at) values ($1, $2, $3, $4, $4)", id, email, `{"locale":"`+locale+`"}`, s.now())
	s.exec("insert into user_roles (user_id, role) values ($1, 'admin')", id)
}

func (s *noticeSite) set(key, value string) {
	s.t.Helper()
	s.exec(`insert into site_settings (key, value, updated_at) values ($1, $2, $3)
		on conflict (key) do update set value = excluded.value`, key, value, s.now())
}

func (s *noticeSite) exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.DB.Exec(s.t.Context(), query, args...); err != nil {
		s.t.Fatal(err)
	}
}

// write sends a visitor's message and returns its id.
func (s *noticeSite) write(name, email, language string) (id string) {
	s.t.Helper()
	body, err := json.Marshal(map[string]string{"name": name, "email": email, "message": "Bom dia!\nTemos uma parede.", "reason": "commission", "language": language})
	if err != nil {
		s.t.Fatal(err)
	}
	s.call(identity.Anon, "submit-contact", string(body))
	if err := s.DB.QueryRow(s.t.Context(), "select id from contact_submissions where name = $1", name).Scan(&id); err != nil {
		s.t.Fatal(err)
	}
	return id
}

func (s *noticeSite) call(role identity.Role, name, body string) []byte {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), "POST", "/functions/v1/"+name, strings.NewReader(body))
	r.Header.Set("Authorization", "Bearer "+key(s.t, s.App, role))
	rec := httptest.NewRecorder()
	s.Handler().ServeHTTP(rec, r)
	if rec.Code != http.StatusOK {
		s.t.Fatalf("%s: %d %s", name, rec.Code, rec.Body)
	}
	return rec.Body.Bytes()
}

// states returns the notices about a message as the owner reads them: "channel recipient state error".
func (s *noticeSite) states(action, id string) []string {
	s.t.Helper()
	var got struct {
		Items []struct{ Channel, Recipient, State, Error string }
	}
	if err := json.Unmarshal(s.call(identity.Service, "contact-notices", `{"action":"`+action+`","ids":["`+id+`"]}`), &got); err != nil {
		s.t.Fatal(err)
	}
	var states []string
	for _, n := range got.Items {
		states = append(states, strings.TrimSpace(fmt.Sprintf("%s %s %s %s", n.Channel, n.Recipient, n.State, n.Error)))
	}
	slices.Sort(states)
	return states
}

func (s *noticeSite) waitFor(what string, ok func() bool) {
	s.t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); <-time.After(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			s.t.Fatalf("not within the time limit: %s", what)
		}
	}
}

// idle reports whether no job runs, so that the results of all that ran are recorded.
func (s *noticeSite) idle() bool {
	s.t.Helper()
	return s.count("select count(*) from jobs where claim is not null") == 0
}

func (s *noticeSite) waitForStates(id string, want ...string) {
	s.t.Helper()
	var got []string
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); <-time.After(5 * time.Millisecond) {
		if got = s.states("list", id); slices.Equal(got, want) {
			return
		}
	}
	s.t.Fatalf("got  %q\nwant %q", got, want)
}

func (s *noticeSite) webhookCalls() []webhookCall {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.calls)
}

func (s *noticeSite) answer(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

func eachNoticeSite(t *testing.T, private bool, fn func(t *testing.T, s *noticeSite)) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) { fn(t, newNoticeSite(t, dialect, private)) })
	}
}

// Proves AM-notice-1, AM-notice-3, FN-notices-key.
//
// TestNoticesSurviveTheDeathOfANode stores a message and ends the program before it has sent a notice. Another program sends the notices,
// in each owner's language, and calls the webhook with a signature.
func TestNoticesSurviveTheDeathOfANode(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt-PT")
		s.owner("22222222-2222-4222-8222-222222222222", "bea@alvor.example", "en")
		s.set("notice.webhook", `"`+s.hook.URL+`/in?token=s3cr3t"`)
		id := s.write("Inês Prado", "ines@exemplo.example", "pt") // the program does not serve, so no job runs
		if got := s.states("list", id); !slices.Equal(got, []string{"plan  waiting"}) {
			t.Fatalf("%q", got)
		}
		next, err := New(t.Context(), s.cfg, slog.New(slog.DiscardHandler), s.now)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := next.Close(); err != nil {
				t.Error(err)
			}
		})
		serve(t, next)
		host := strings.TrimPrefix(s.hook.URL, "http://")
		s.waitForStates(id, "mail ana@alvor.example sent", "mail bea@alvor.example sent", "webhook "+host+" sent")

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
		for to, subject := range map[string]string{"ana@alvor.example": "Ateliê: mensagem de Inês Prado", "bea@alvor.example": "Ateliê: message from Inês Prado"} {
			m := mails[to]
			reply, err := m.Header.AddressList("Reply-To")
			if err != nil || len(reply) != 1 || *reply[0] != (netmail.Address{Name: "Inês Prado", Address: "ines@exemplo.example"}) || m.Subject != subject {
				t.Errorf("%s: %q, Reply-To %v %v", to, m.Subject, reply, err)
			}
			if !strings.Contains(m.Text, "> Bom dia!\n> Temos uma parede.\n") || !strings.Contains(m.Text, "/admin/contact-messages?") || !strings.Contains(m.Text, "message="+id) {
				t.Errorf("%s:\n%s", to, m.Text)
			}
		}

		calls := s.webhookCalls()
		if len(calls) != 1 {
			t.Fatalf("the webhook was called %d times", len(calls))
		}
		h := calls[0].header
		var response struct{ Secret string }
		if err := json.Unmarshal(s.call(identity.Service, "contact-notices", `{"action":"webhook-secret"}`), &response); err != nil || !strings.HasPrefix(response.Secret, "whsec_") {
			t.Fatalf("%q %v", response.Secret, err)
		}
		secret, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(response.Secret, "whsec_"))
		if err != nil {
			t.Fatal(err)
		}
		mac := hmac.New(sha256.New, secret)
		mac.Write([]byte(h.Get("webhook-id") + "." + h.Get("webhook-timestamp") + "." + string(calls[0].body)))
		if h.Get("webhook-signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) || h.Get("webhook-timestamp") != fmt.Sprint(s.now().Unix()) {
			t.Errorf("%v", h)
		}
		want := `{"type":"contact_submission.created","timestamp":"2026-11-21T09:41:00Z","data":{"id":"` + id + `","name":"Inês Prado","email":"ines@exemplo.example","message":"Bom dia!\nTemos uma parede.","reason":"commission","created_at":"2026-11-21T09:41:00Z"}}`
		if string(calls[0].body) != want {
			t.Errorf("%s\nwant %s", calls[0].body, want)
		}
	})
}

// Proves AM-notice-3, AM-notice-5, AM-notice-6, FN-notices-list, FN-notices-retry.
//
// TestFailedNoticeIsReportedAndCanBeRetried uses an address that is refused permanently and a webhook that is down. Neither must stop the
// other notices.
func TestFailedNoticeIsReportedAndCanBeRetried(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.set("notice.email", `["gone@alvor.example"," ","not an address","x@alvor.example\r\nBcc: y@z.example"]`)
		s.set("notice.webhook", `"`+s.hook.URL+`/in?token=s3cr3t"`)
		s.mailServer.Answer(mailtest.Refusal(550, "No such mailbox"))
		s.answer(http.StatusInternalServerError)
		serve(t, s.App)
		id := s.write("Rui", "rui@exemplo.example", "en")
		host := strings.TrimPrefix(s.hook.URL, "http://")
		s.waitFor("both fail", func() bool {
			got := s.states("list", id)
			return len(got) == 2 && strings.HasPrefix(got[0], "mail gone@alvor.example failed mail: ") && strings.Contains(got[0], "550") && got[1] == "webhook "+host+" retrying "+host+" responded with status 500"
		})
		if got := strings.Join(s.states("list", id), ""); strings.Contains(got, "s3cr3t") {
			t.Errorf("shown: %s", got)
		}

		// The owner repairs the mailbox and retries: the mail is sent. The webhook call that is still being retried is not changed.
		if got := s.states("retry", id); got[0] != "mail gone@alvor.example waiting" && got[0] != "mail gone@alvor.example sent" {
			t.Errorf("%q", got)
		}
		s.answer(http.StatusOK)
		s.waitFor("the mail is sent", func() bool { return s.states("list", id)[0] == "mail gone@alvor.example sent" })
		s.waitFor("the webhook's next try is set", s.idle)
		s.clock.Add(time.Second.Microseconds())
		s.waitForStates(id, "mail gone@alvor.example sent", "webhook "+host+" sent")
		if calls := s.webhookCalls(); len(calls) != 2 || calls[0].header.Get("webhook-id") != calls[1].header.Get("webhook-id") {
			t.Errorf("both tries must have the same id: %d", len(calls))
		}
		if n := len(s.mailServer.Mails()); n != 1 {
			t.Errorf("%d mails", n)
		}
	})
}

// Proves AM-notice-5, FN-notices-retry.
//
// TestUnsentNoticeCountsAsFailed checks a notice after all its tries would have ended. A notice about a deleted message is dropped.
func TestUnsentNoticeCountsAsFailed(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
		id := s.write("Inês", "ines@exemplo.example", "pt")
		gone := s.write("Spam", "spam@exemplo.example", "pt")
		s.clock.Add((12 * time.Hour).Microseconds() - 1)
		if got := s.states("list", id); !slices.Equal(got, []string{"plan  waiting"}) {
			t.Errorf("%q", got)
		}
		s.clock.Add(1)
		if got := s.states("list", id); !slices.Equal(got, []string{"plan  failed"}) {
			t.Errorf("%q", got)
		}
		s.exec("delete from contact_submissions where id = $1", gone)
		s.states("retry", id) // a second job for the same plan sends nothing again
		serve(t, s.App)
		s.waitForStates(id, "mail ana@alvor.example sent")
		waitForState(t, s.App, "", jobs.State{})
		if mails := s.mailServer.Mails(); len(mails) != 1 || mails[0].To != "ana@alvor.example" {
			t.Errorf("%d mails", len(mails))
		}
	})
}

// Proves AM-thanks-1.
//
// TestThankYouMailsAreLimited checks that thank-you mails are off by default, that a mailbox gets one a day in any spelling, in the
// language of the form, and that they contain nothing of the message.
func TestThankYouMailsAreLimited(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.set("notice.email", `[]`)
		serve(t, s.App)
		quiet := func() { waitForState(t, s.App, "", jobs.State{}) }
		s.write("Anna Off", "in.es+a@exemplo.example", "pt")
		quiet()
		if n := len(s.mailServer.Mails()); n != 0 {
			t.Fatalf("thank-you mails are off, but %d mails were sent", n)
		}
		s.set("thanks.enabled", "true")
		for i, email := range []string{"in.es+a@exemplo.example", "ines@exemplo.example", "INES+b@Exemplo.example"} {
			s.write(fmt.Sprintf("Buy Watches %d", i), email, "pt")
			quiet()
		}
		mails := s.mailServer.Mails()
		if len(mails) != 1 || mails[0].To != "in.es+a@exemplo.example" {
			t.Fatalf("%d mails", len(mails))
		}
		m, err := mailtest.Open(mails[0].Data)
		if err != nil || m.Subject != "Ateliê: a sua mensagem chegou" || m.Header.Get("Reply-To") != "" || m.Header.Get("Auto-Submitted") != "auto-generated" {
			t.Errorf("%v %v", m.Header, err)
		}
		for _, text := range []string{m.Text, m.HTML} {
			if strings.Contains(text, "Watches") || strings.Contains(text, "parede") {
				t.Errorf("the thank-you mail contains the visitor's text:\n%s", text)
			}
		}
		s.clock.Add((24*time.Hour - time.Second).Microseconds())
		s.write("Early", "ines@exemplo.example", "en")
		quiet()
		s.clock.Add(time.Second.Microseconds())
		if err := s.Functions.PurgeThanks(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.write("In time", "ines@exemplo.example", "en")
		quiet()
		if n := len(s.mailServer.Mails()); n != 2 {
			t.Errorf("%d mails after a day, want a second one", n)
		}
	})
}

// Proves AM-notice-4.
//
// TestWebhooksDoNotReachPrivateNetworks also checks that redirects are not followed.
func TestWebhooksDoNotReachPrivateNetworks(t *testing.T) {
	t.Run("by default", func(t *testing.T) {
		s := newNoticeSite(t, db.SQLite, false)
		s.set("notice.email", `[]`)
		serve(t, s.App)
		host := strings.TrimPrefix(s.hook.URL, "http://")
		for i, c := range []struct{ url, want string }{
			{s.hook.URL, "webhook " + host + " failed the webhook's URL must begin with https:// and have no user name"},
			{"https://" + host, "webhook " + host + " failed the webhook's URL points to a host in a private network"},
			{"https://localhost:1", "webhook localhost:1 failed the webhook's URL points to a host in a private network"},
			{"https://[::ffff:169.254.169.254]/latest", "webhook [::ffff:169.254.169.254] failed the webhook's URL points to a host in a private network"},
			{"https://ana:pw@" + host, "webhook " + host + " failed the webhook's URL must begin with https:// and have no user name"},
			{"file:///etc/passwd", "webhook  failed the webhook's URL must begin with https:// and have no user name"},
		} {
			s.set("notice.webhook", `"`+c.url+`"`)
			s.clock.Add((20 * time.Minute).Microseconds()) // so few in an hour that each has its own notice
			s.waitForStates(s.write(fmt.Sprintf("Visitor %d", i), "v@exemplo.example", "en"), c.want)
		}
		if n := len(s.webhookCalls()); n != 0 {
			t.Errorf("%d calls arrived", n)
		}
	})
	t.Run("with private ones allowed", func(t *testing.T) {
		s := newNoticeSite(t, db.SQLite, true)
		s.set("notice.email", `[]`)
		serve(t, s.App)
		host := strings.TrimPrefix(s.hook.URL, "http://")
		s.set("notice.webhook", `"`+s.hook.URL+`"`)
		s.answer(http.StatusFound)
		s.waitForStates(s.write("Redirected", "v@exemplo.example", "en"), "webhook "+host+" retrying "+host+" responded with status 302")
		s.answer(http.StatusGone)
		s.waitForStates(s.write("Gone for good", "v@exemplo.example", "en"), "webhook "+host+" failed "+host+" responded with status 410")
		for _, h := range s.webhookCalls() {
			if len(h.body) == 0 {
				t.Error("a redirect was followed")
			}
		}
		s.set("notice.webhook", `""`)
		if got := s.states("list", s.write("No webhook", "v@exemplo.example", "en")); len(got) > 1 {
			t.Errorf("%q", got)
		}
	})
}

// Proves AM-notice-2.
//
// TestUnreadableNoticeSettingsNotifyTheOwners stores invalid settings. Notices must be sent to the owners nevertheless.
func TestUnreadableNoticeSettingsNotifyTheOwners(t *testing.T) {
	s := newNoticeSite(t, db.SQLite, true)
	s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
	serve(t, s.App)
	s.set("notice.email", `"ana@alvor.example"`)
	s.set("notice.webhook", `["x"]`)
	s.set("thanks.enabled", `"yes"`)
	s.waitForStates(s.write("Inês", "ines@exemplo.example", "pt"), "mail ana@alvor.example sent")
	s.set("notice.email", `["studio@alvor.example"]`)
	s.waitForStates(s.write("Rui", "rui@exemplo.example", "en"), "mail studio@alvor.example sent")
	s.set("notice.language", `"en"`)
	s.waitForStates(s.write("Eva", "eva@exemplo.example", "pt"), "mail studio@alvor.example sent")
	var subjects []string
	for _, got := range s.mailServer.Mails() {
		m, err := mailtest.Open(got.Data)
		if err != nil {
			t.Fatal(err)
		}
		subjects = append(subjects, m.Subject)
	}
	if want := []string{"Ateliê: mensagem de Inês", "Ateliê: mensagem de Rui", "Ateliê: message from Eva"}; !slices.Equal(subjects, want) {
		t.Errorf("%q", subjects)
	}
}

// Proves AM-quarantine-2.
//
// TestQuarantinedMessagesSendNoNotices also checks restored messages: the owner who restores a message knows of it.
func TestQuarantinedMessagesSendNoNotices(t *testing.T) {
	eachNoticeSite(t, true, func(t *testing.T, s *noticeSite) {
		s.owner("11111111-1111-4111-8111-111111111111", "ana@alvor.example", "pt")
		s.set("thanks.enabled", "true")
		serve(t, s.App)
		s.call(identity.Anon, "submit-contact", `{"name":"Bot","email":"bot@exemplo.example","message":"Buy my watches now","reason":"http://watches"}`)
		var list struct{ Items []struct{ ID string } }
		if err := json.Unmarshal(s.call(identity.Service, "contact-quarantine", ""), &list); err != nil || len(list.Items) != 1 {
			t.Fatalf("%v %v", list, err)
		}
		s.call(identity.Service, "contact-quarantine", `{"action":"restore","id":"`+list.Items[0].ID+`"}`)
		waitForState(t, s.App, "", jobs.State{})
		if n := len(s.mailServer.Mails()); n != 0 {
			t.Errorf("%d mails", n)
		}
		var kind string
		if err := s.DB.QueryRow(context.Background(), "select kind from realtime_outbox where payload like '%contact_submissions%'").Scan(&kind); err != nil {
			t.Errorf("a restored message is a live change: %v", err)
		}
	})
}
