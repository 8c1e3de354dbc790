package functions

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/identity"
	"atelie/internal/jobs"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const (
	adminID   = "11111111-1111-4111-8111-111111111111"
	visitorID = "22222222-2222-4222-8222-222222222222"
)

// site is the functions surface on a new database, connected as package app does it.
type site struct {
	*Service
	recorded func(context.Context, *db.Tx, string) error // called for each inserted message
	t        *testing.T
	d        *db.DB
	http     http.Handler
	clock    time.Time
	keys     map[string]string // API keys and tokens by the name of their caller
	calls    int               // number of requests, from which their IP addresses follow
	live     []string          // recorded live changes of messages and replies
	space    error             // result of CheckSpace
	mails    []ReplyMail       // sent replies
	mailErr  error             // result of SendReply
}

func newSite(t *testing.T, d *db.DB) *site {
	t.Helper()
	return newSiteWith(t, d, Config{})
}

func newSiteWith(t *testing.T, d *db.DB, cfg Config) *site {
	t.Helper()
	s := &site{t: t, d: d, clock: time.Date(2026, 3, 12, 10, 0, 15, 0, time.UTC), keys: map[string]string{"forged": "x.y.z", "nobody": ""}}
	now := func() time.Time { return s.clock }
	s.recorded = func(context.Context, *db.Tx, string) error { return nil }
	cfg.WritePage = writePage
	cfg.RecordInserted = func(ctx context.Context, tx *db.Tx, id string) error { return s.recorded(ctx, tx, id) }
	if cfg.AddressPlaces == nil {
		cfg.AddressPlaces = func() []AddressPlace {
			return []AddressPlace{
				{"messages", s.EachMessageOf, s.EraseMessagesOf}, {"quarantine", s.EachQuarantinedOf, s.EraseQuarantinedOf}, {"notices", s.EachNoticeOf, s.EraseNoticesOf},
			}
		}
		cfg.AddressHasRole = func(_ context.Context, _ *db.Tx, address string) (bool, error) {
			return address == "owner@exemplo.pt", nil
		}
	}
	cfg.RecordUpdated = func(ctx context.Context, tx *db.Tx, id string) error {
		s.live = append(s.live, "message "+id)
		return nil
	}
	cfg.RecordReply = func(_ context.Context, _ *db.Tx, id string, inserted bool) error {
		s.live = append(s.live, fmt.Sprintf("reply %s inserted %v", id, inserted))
		return nil
	}
	cfg.RecordCommission = func(_ context.Context, _ *db.Tx, table, _ string, inserted bool) error {
		s.live = append(s.live, fmt.Sprintf("%s inserted %v", table, inserted))
		return nil
	}
	cfg.RecordReview = func(context.Context, *db.Tx, string) error {
		s.live = append(s.live, "review")
		return nil
	}
	cfg.CheckSpace = func() error { return s.space }
	cfg.SiteURL, cfg.LinkKey = "https://alvor.example", []byte("the key of links")
	cfg.FindWork = func(_ context.Context, id string, l i18n.Language) (*EnquiryWork, error) {
		return &EnquiryWork{Title: "Romãs " + string(l), URL: "/gallery/mural?art=" + id}, nil
	}
	cfg.OwnAddress = func(_ context.Context, userID string) (Recipient, error) {
		return map[string]Recipient{adminID: {"owner@exemplo.pt", i18n.PT}}[userID], nil
	}
	cfg.SendReply = func(_ context.Context, m ReplyMail) error {
		s.mails = append(s.mails, m)
		return s.mailErr
	}
	cfg.RecordDeleted = func(ctx context.Context, tx *db.Tx, ids []string) error { return s.CleanUpMessages(ctx, tx, ids...) }
	cfg.Queue = jobs.New(d, []byte("the key of the tests"), nil, slog.New(slog.DiscardHandler), now)
	s.Service = New(d, cfg, now)
	tokens := identity.New(identity.Config{Secret: []byte("a secret for tests, long enough to sign")}, now)
	for who, claims := range map[string]jwt.MapClaims{
		"anon":    {"role": "anon", "exp": s.clock.AddDate(1, 0, 0).Unix()},
		"user":    {"role": "authenticated", "sub": visitorID, "exp": s.clock.AddDate(1, 0, 0).Unix()},
		"admin":   {"role": "authenticated", "sub": adminID, "exp": s.clock.AddDate(1, 0, 0).Unix()},
		"service": {"role": "service_role", "exp": s.clock.AddDate(1, 0, 0).Unix()},
		"expired": {"role": "anon", "exp": s.clock.Add(-time.Hour).Unix()},
	} {
		var err error
		if s.keys[who], err = tokens.Sign(claims); err != nil {
			t.Fatal(err)
		}
	}
	auth := &identity.Authenticator{Tokens: tokens, IsAdmin: func(_ context.Context, user, _ string) (bool, error) { return user == adminID, nil }}
	mux := http.NewServeMux()
	invoke := httpx.Handle(WriteError, s.Invoke)
	guarded := httpx.Guard(auth, WriteError)(invoke)
	mux.HandleFunc("/functions/v1/{name}", func(w http.ResponseWriter, r *http.Request) {
		if AllowAnonymous(r) {
			invoke.ServeHTTP(w, r.WithContext(identity.With(r.Context(), identity.Caller{Role: identity.Anon})))
			return
		}
		guarded.ServeHTTP(w, r)
	})
	mux.Handle(EnquiryPath, httpx.Handle(WriteError, s.Enquiry))
	mux.Handle(CalendarPath, httpx.Handle(WriteError, s.Calendar))
	s.http = httpx.Log(slog.New(slog.DiscardHandler), nil, nil)(mux)
	return s
}

// writePage writes a page without the header and footer of the site.
func writePage(w http.ResponseWriter, _ *http.Request, p Page) error {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(p.Status)
	_, err := fmt.Fprintf(w, "<html lang=%q><title>%s</title>\n%s", p.Language, p.Title, p.Main)
	return err
}

// call sends a body with the key of who, each time from another IP address.
func (s *site) call(who, name, body string) *httptest.ResponseRecorder {
	s.calls++
	return s.callFrom("198.51.100."+strconv.Itoa(s.calls%250)+":1", who, name, body)
}

// callOwner calls a function as the owner with an action about a message; more are names and values of further fields. state is empty
// if the function responds with an error, whose form is another one.
func callOwner[T any](s *site, name, action, id string, more ...any) (code int, state T, text string) {
	s.t.Helper()
	fields := map[string]any{"action": action, "message_id": id}
	for i := 0; i < len(more); i += 2 {
		fields[more[i].(string)] = more[i+1]
	}
	rec := s.call("admin", name, body(s.t, fields))
	if rec.Code == http.StatusOK {
		if err := json.Unmarshal(rec.Body.Bytes(), &state); err != nil {
			s.t.Fatalf("%v: %s", err, rec.Body)
		}
	}
	return rec.Code, state, rec.Body.String()
}

// mustCallOwner is callOwner for an action that must succeed.
func mustCallOwner[T any](s *site, name, action, id string, more ...any) T {
	s.t.Helper()
	code, state, text := callOwner[T](s, name, action, id, more...)
	if code != http.StatusOK {
		s.t.Fatalf("%s %s %v: %d %s", name, action, more, code, text)
	}
	return state
}

func (s *site) callFrom(address, who, name, body string) *httptest.ResponseRecorder {
	s.t.Helper()
	r := httptest.NewRequestWithContext(s.t.Context(), "POST", "/functions/v1/"+name, strings.NewReader(body))
	r.RemoteAddr = address
	r.Header.Set("Content-Type", "application/json")
	if key := s.keys[who]; key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	rec := httptest.NewRecorder()
	s.http.ServeHTTP(rec, r)
	return rec
}

// stored reads a table's rows as name, email, message, reason.
func (s *site) stored(table string) [][4]string {
	s.t.Helper()
	rows, err := s.d.Query(s.t.Context(), "select name, email, message, reason from "+table+" order by created_at, name")
	if err != nil {
		s.t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var out [][4]string
	for rows.Next() {
		var m [4]string
		if err := rows.Scan(&m[0], &m[1], &m[2], &m[3]); err != nil {
			s.t.Fatal(err)
		}
		out = append(out, m)
	}
	if err := rows.Err(); err != nil {
		s.t.Fatal(err)
	}
	return out
}

func body(t *testing.T, fields map[string]any) string {
	t.Helper()
	text, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

const (
	good    = `{"name":"Inês Prado","email":"ines@exemplo.pt","message":"Gosto muito do mural.","reason":""}`
	success = `{"success":true,"message":"Thank you for reaching out. I'll get back to you soon."}`
)

func answered(t *testing.T, rec *httptest.ResponseRecorder, status int, want string) {
	t.Helper()
	if rec.Code != status || rec.Body.String() != want {
		t.Errorf("got %d %s\nwant %d %s", rec.Code, rec.Body, status, want)
	}
	if kind := rec.Header().Get("Content-Type"); !strings.HasPrefix(kind, "application/json") { // else the client does not parse it
		t.Errorf("Content-Type %q", kind)
	}
}

// Proves FN-call-post, FN-call-unknown.
//
// TestSubmitContactByRole calls submit-contact with every role.
func TestSubmitContactByRole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i, who := range []string{"anon", "user", "admin", "service"} {
			answered(t, s.call(who, "submit-contact", good), 200, success)
			if n := len(s.stored("contact_submissions")); n != i+1 {
				t.Errorf("%s: %d stored", who, n)
			}
		}
		answered(t, s.call("nobody", "submit-contact", good), 401, `{"code":"UNAUTHORIZED_NO_AUTH_HEADER","message":"Missing authorization header"}`)
		for _, who := range []string{"forged", "expired"} {
			answered(t, s.call(who, "submit-contact", good), 401, `{"code":"UNAUTHORIZED_INVALID_JWT_FORMAT","message":"Invalid JWT"}`)
		}
		for _, name := range []string{"other", "Submit-Contact", "submit-contact%20", "%00", "submit_contact"} {
			answered(t, s.call("admin", name, good), 404, `{"code":"NOT_FOUND","message":"Requested function was not found"}`)
		}
		if n := len(s.stored("contact_submissions")); n != 4 {
			t.Errorf("%d stored", n)
		}
		rec := httptest.NewRecorder()
		httpx.Handle(WriteError, s.Invoke).ServeHTTP(rec, func() *http.Request {
			r := httptest.NewRequest("POST", "/", strings.NewReader(good))
			r.SetPathValue("name", "submit-contact")
			return r
		}())
		answered(t, rec, 403, `{"code":"FORBIDDEN","message":"This key may not call the function"}`)
	})
}

// Proves FN-contact-ok, S9-contact-2.
func TestMessageIsNormalizedAndStored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		answered(t, s.call("anon", "submit-contact", body(t, map[string]any{"name": " \ufeff Inês\u00a0Prado \n", "email": "\tines+art@exemplo.com.br ", "message": "  Olá!\r\nUma linha\re\toutra 🎨 \n", "extra": 1})), 200, success)
		want := [][4]string{{"Inês\u00a0Prado", "ines+art@exemplo.com.br", "Olá!\nUma linha\ne outra 🎨", "general"}}
		if got := s.stored("contact_submissions"); !reflect.DeepEqual(got, want) {
			t.Errorf("got %q", got)
		}
		var (
			id, status string
			at         time.Time
		)
		if err := d.QueryRow(t.Context(), "select id, status, created_at from contact_submissions").Scan(&id, &status, &at); err != nil || len(id) != 36 || status != "new" || !at.Equal(s.clock) {
			t.Errorf("%s %s %v %v", id, status, at, err)
		}
	})
}

// contactTexts are the texts of the responses in one language.
type contactTexts struct {
	sent, nameShort, nameLong, nameSigns, email, messageShort, messageLong, messageSigns string
}

var (
	english = contactTexts{
		sent:         "Thank you for reaching out. I'll get back to you soon.",
		nameShort:    "Name must be at least 2 characters",
		nameLong:     "Name must be at most 100 characters",
		nameSigns:    "Name must not contain control characters",
		email:        "Please enter a valid email address",
		messageShort: "Message must be at least 10 characters",
		messageLong:  "Message must be at most 5000 characters",
		messageSigns: "Message must not contain control characters",
	}
	portuguese = contactTexts{
		sent:         "Agradeço o seu contacto. Respondo em breve.",
		nameShort:    "O nome deve ter pelo menos 2 caracteres",
		nameLong:     "O nome deve ter no máximo 100 caracteres",
		nameSigns:    "O nome não pode conter caracteres de controlo",
		email:        "Indique um endereço de e-mail válido",
		messageShort: "A mensagem deve ter pelo menos 10 caracteres",
		messageLong:  "A mensagem deve ter no máximo 5000 caracteres",
		messageSigns: "A mensagem não pode conter caracteres de controlo",
	}
)

// Proves FN-contact-rules, S5-contact-7.
func TestFieldRulesAndTheirTexts(t *testing.T) {
	emoji := strings.Repeat("🎨", 5000) // each is one character, but four bytes and two code units of JavaScript
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, language := range []string{"", "en", "pt", "fr"} {
			s := newSite(t, d)
			texts := english
			if language == "pt" {
				texts = portuguese
			}
			for _, c := range []struct {
				field, value, problem string
			}{
				{"name", "", texts.nameShort}, {"name", "I", texts.nameShort}, {"name", "  I  ", texts.nameShort}, {"name", "🎨", texts.nameShort},
				{"name", "Io", ""}, {"name", "🎨🎨", ""}, {"name", emoji[:400], ""}, {"name", emoji[:404], texts.nameLong}, {"name", " " + strings.Repeat("a", 100) + " ", ""}, {"name", strings.Repeat("a", 101), texts.nameLong},
				{"name", "Inês\nPrado", texts.nameSigns}, {"name", "Inês\tPrado", texts.nameSigns}, {"name", "Inês\x00", texts.nameSigns}, {"name", "a\u009fb", texts.nameSigns},

				{"email", "", texts.email}, {"email", "ines", texts.email}, {"email", "ines@", texts.email}, {"email", "@exemplo.pt", texts.email}, {"email", "ines@exemplo", texts.email}, {"email", "ines@exemplo.p", texts.email},
				{"email", "ines prado@exemplo.pt", texts.email}, {"email", ".ines@exemplo.pt", texts.email}, {"email", "ines.@exemplo.pt", texts.email}, {"email", "in..es@exemplo.pt", texts.email}, {"email", "ines@exemplo..pt", texts.email},
				{"email", "ines@-exemplo.pt", texts.email}, {"email", "inês@exemplo.pt", texts.email}, {"email", "ines@exemplo.pt\nbcc: x@y.pt", texts.email}, {"email", "a@b.pt,c@d.pt", texts.email}, {"email", "a@b.pt\x00", texts.email},
				{"email", "a@b.pt", ""}, {"email", "O'Neil_x-y+z.w@sub.exemplo.museum", ""}, {"email", " a@b.pt ", ""},
				{"email", strings.Repeat("a", 247) + "@bcd.pt", ""}, {"email", strings.Repeat("a", 248) + "@bcd.pt", texts.email},

				{"message", "", texts.messageShort}, {"message", "123456789", texts.messageShort}, {"message", "   123456789   ", texts.messageShort}, {"message", emoji[:36], texts.messageShort},
				{"message", "1234567890", ""}, {"message", emoji[:40], ""}, {"message", emoji, ""}, {"message", emoji + "!", texts.messageLong}, {"message", strings.Repeat("é", 5001), texts.messageLong},
				{"message", "one line\nand another", ""}, {"message", "one line\tand another", ""}, {"message", "a bell \a rings here", texts.messageSigns}, {"message", "ends in nothing\x00", texts.messageSigns}, {"message", "escape \x1b[31m red", texts.messageSigns},
			} {
				fields := map[string]any{"name": "Inês Prado", "email": "ines@exemplo.pt", "message": "Gosto muito do mural.", "language": language}
				fields[c.field] = c.value
				before := len(s.stored("contact_submissions"))
				rec := s.call("anon", "submit-contact", body(t, fields))
				status, want, stored := 200, map[string]any{"success": true, "message": texts.sent}, 1
				if c.problem != "" {
					status, want, stored = 400, map[string]any{"success": false, "error": c.problem}, 0
				}
				var got map[string]any
				if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || rec.Code != status || !reflect.DeepEqual(got, want) {
					t.Errorf("%q %s %.30q: %d %s", language, c.field, c.value, rec.Code, rec.Body)
				}
				if n := len(s.stored("contact_submissions")) - before; n != stored {
					t.Errorf("%q %s %.30q: %d stored", language, c.field, c.value, n)
				}
			}
			if _, err := d.Exec(t.Context(), "delete from rate_limits"); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// Proves FN-contact-rules, S5-contact-7.
//
// TestTextsMatchThoseOfThePage compares the texts with the site's own translations.
func TestTextsMatchThoseOfThePage(t *testing.T) {
	for _, language := range i18n.Languages {
		file, err := os.ReadFile("../../web/src/locales/" + string(language) + ".json")
		if err != nil {
			t.Fatal(err)
		}
		server, err := os.ReadFile("../i18n/" + string(language) + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var site, ours map[string]string
		if err := errors.Join(json.Unmarshal(file, &site), json.Unmarshal(server, &ours)); err != nil {
			t.Fatal(err)
		}
		shared := 0
		for key := range ours {
			if text, ok := site[key]; ok && strings.HasPrefix(key, "contact.") {
				shared++
				if got := language.Text(key); got != text {
					t.Errorf("%s %s: the site says %q, the server %q", language, key, text, got)
				}
			}
		}
		if shared != 16 {
			t.Errorf("%s: %d texts are compared", language, shared)
		}
	}
}

// Proves FN-contact-reason, S5-contact-5.
func TestHoneypot(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		send := func(name string, reason any) *httptest.ResponseRecorder {
			return s.call("anon", "submit-contact", body(t, map[string]any{"name": name, "email": "a@b.pt", "message": "long enough", "reason": reason}))
		}
		for _, reason := range []any{"", nil, "  ", "general", "commission", "purchase", "collaboration", " purchase "} {
			answered(t, send("person", reason), 200, success)
		}
		answered(t, s.call("anon", "submit-contact", `{"name":"person","email":"a@b.pt","message":"long enough"}`), 200, success)
		var got []string
		for _, m := range s.stored("contact_submissions") {
			got = append(got, m[3])
		}
		counts := map[string]int{}
		for _, r := range got {
			counts[r]++
		}
		if want := map[string]int{"general": 5, "commission": 1, "purchase": 2, "collaboration": 1}; !reflect.DeepEqual(counts, want) {
			t.Errorf("got %v", counts)
		}
		people := len(got)
		for _, reason := range []string{"SEO services", "General", "general,commission", "http://spam.example", "null\x00\x1b", strings.Repeat("é", 3000)} {
			human, machine := send("person", ""), send("machine", reason)
			people++
			if machine.Code != human.Code || machine.Body.String() != human.Body.String() || !reflect.DeepEqual(headerNames(machine), headerNames(human)) {
				t.Errorf("%.20q: the response reveals the quarantine: %d %s %v", reason, machine.Code, machine.Body, machine.Header())
			}
		}
		if n := len(s.stored("contact_submissions")); n != people {
			t.Errorf("%d submissions, want %d", n, people)
		}
		quarantined := s.stored("contact_quarantine")
		if len(quarantined) != 6 {
			t.Fatalf("%q", quarantined)
		}
		kept := map[string]bool{}
		for _, m := range quarantined {
			if m[0] != "machine" || m[1] != "a@b.pt" || m[2] != "long enough" {
				t.Errorf("%q", m)
			}
			kept[m[3]] = true
		}
		for _, reason := range []string{"SEO services", "General", "general,commission", "http://spam.example", "null", strings.Repeat("é", maxHiddenField)} {
			if !kept[reason] {
				t.Errorf("%.20q is not kept", reason)
			}
		}
		// The same rules apply to messages with the hidden field.
		answered(t, s.call("anon", "submit-contact", body(t, map[string]any{"name": "x", "email": "a@b.pt", "message": "long enough", "reason": "spam"})), 400, `{"success":false,"error":"Name must be at least 2 characters"}`)
	})
}

func headerNames(rec *httptest.ResponseRecorder) map[string]bool {
	names := map[string]bool{}
	for name := range rec.Header() {
		names[name] = true
	}
	return names
}

// Proves FN-contact-reason.
func TestQuarantineLasts30Days(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		start := s.clock
		for i, name := range []string{"first", "second"} {
			s.clock = start.AddDate(0, 0, i)
			s.call("anon", "submit-contact", body(t, map[string]any{"name": name, "email": "a@b.pt", "message": "long enough", "reason": "spam"}))
		}
		s.call("anon", "submit-contact", good)
		for _, c := range []struct {
			at   time.Time
			want int
		}{{start.AddDate(0, 0, 30), 2}, {start.AddDate(0, 0, 30).Add(time.Second), 1}, {start.AddDate(0, 0, 32), 0}} {
			s.clock = c.at
			if err := s.PurgeQuarantine(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := s.stored("contact_quarantine"); len(got) != c.want {
				t.Errorf("%v: %q", c.at, got)
			}
		}
		if len(s.stored("contact_submissions")) != 1 {
			t.Error("a submission is gone")
		}
	})
}

// Proves FN-call-limit.
func TestRateLimitPerAddress(t *testing.T) {
	const tooMany = `{"success":false,"error":"Too many messages. Please try again in a minute."}`
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for i := range 30 {
			text, status := good, 200
			if i%3 == 0 { // calls that are refused count too
				text, status = "{", 400
			}
			if rec := s.callFrom("203.0.113.7:1000", "anon", "submit-contact", text); rec.Code != status {
				t.Fatalf("%d: %d %s", i, rec.Code, rec.Body)
			}
		}
		for _, who := range []string{"anon", "user"} {
			rec := s.callFrom("203.0.113.7:2000", who, "submit-contact", good)
			answered(t, rec, 429, tooMany)
			if rec.Header().Get("Retry-After") != "45" {
				t.Errorf("Retry-After %q", rec.Header().Get("Retry-After"))
			}
		}
		for _, who := range []string{"admin", "service"} {
			answered(t, s.callFrom("203.0.113.7:2000", who, "submit-contact", good), 200, success)
		}
		answered(t, s.callFrom("203.0.113.8:1000", "anon", "submit-contact", good), 200, success)
		if n := len(s.stored("contact_submissions")); n != 23 {
			t.Errorf("%d stored", n)
		}
		s.clock = s.clock.Add(44 * time.Second)
		if rec := s.callFrom("203.0.113.7:3000", "anon", "submit-contact", good); rec.Code != 429 || rec.Header().Get("Retry-After") != "1" {
			t.Errorf("%d %v", rec.Code, rec.Header())
		}
		s.clock = s.clock.Add(time.Second)
		answered(t, s.callFrom("203.0.113.7:3000", "anon", "submit-contact", good), 200, success)
		for i := range 31 {
			rec := s.callFrom("[2001:db8:1:2::"+strconv.FormatInt(int64(i+1), 16)+"]:1", "anon", "submit-contact", good)
			if want := map[bool]int{true: 200, false: 429}[i < 30]; rec.Code != want {
				t.Errorf("IPv6 neighbour %d: %d", i, rec.Code)
			}
		}
		answered(t, s.callFrom("[2001:db8:1:3::1]:1", "anon", "submit-contact", good), 200, success)
		if _, err := d.Exec(t.Context(), "drop table rate_limits"); err != nil {
			t.Fatal(err)
		}
		if rec := s.call("anon", "submit-contact", good); rec.Code != 500 || strings.Contains(rec.Body.String(), "rate_limits") {
			t.Errorf("%d %s", rec.Code, rec.Body)
		}
	})
}

// Proves FN-body-json.
func TestBodiesThatCannotBeRead(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for _, text := range []string{`{`, `not json`, `[]`, `"text"`, `7`, `{"name":7}`, `{"name":["a"],"email":"a@b.pt","message":"long enough"}`, `{"name":{},"email":"a@b.pt","message":"long enough"}`,
			`{"name":"Inês","email":true,"message":"long enough"}`, `{"name":"Inês","email":"a@b.pt","message":null,"reason":1}`, good + "x", `{"language":1}`} {
			answered(t, s.call("anon", "submit-contact", text), 400, `{"success":false,"error":"Could not parse request body as JSON"}`)
		}
		for _, text := range []string{``, `{}`, `null`, `{"name":null}`} {
			answered(t, s.call("anon", "submit-contact", text), 400, `{"success":false,"error":"Name must be at least 2 characters"}`)
		}
		large := body(t, map[string]any{"name": "Inês", "email": "a@b.pt", "message": strings.Repeat("a", maxBody)})
		answered(t, s.call("anon", "submit-contact", large), 413, `{"success":false,"error":"The request is too large"}`)
		exact := []byte(good)
		exact = append(exact, bytes.Repeat([]byte(" "), maxBody-len(exact))...)
		answered(t, s.call("anon", "submit-contact", string(exact)), 200, success)
		if n := len(s.stored("contact_submissions")); n != 1 {
			t.Errorf("%d stored", n)
		}
	})
}

// Proves FN-contact-ok.
//
// TestSuccessIsReportedAfterStoring checks that the response is an error if the database refuses the message.
func TestSuccessIsReportedAfterStoring(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for table, reason := range map[string]string{"contact_submissions": "", "contact_quarantine": "spam"} {
			if _, err := d.Exec(t.Context(), "alter table "+table+" rename to no_"+table); err != nil {
				t.Fatal(err)
			}
			rec := s.call("anon", "submit-contact", body(t, map[string]any{"name": "Inês", "email": "a@b.pt", "message": "long enough", "reason": reason}))
			var got struct {
				Success *bool
				Error   string
			}
			if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil || rec.Code != 500 || got.Success == nil || *got.Success || got.Error == "" || strings.Contains(got.Error, table) {
				t.Errorf("%s: %d %s", table, rec.Code, rec.Body)
			}
		}
	})
}

// Proves FN-contact-gone.
//
// TestMessageOfADisconnectedVisitorIsStored closes the request's context before the row is written.
func TestMessageOfADisconnectedVisitorIsStored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		gone, leave := context.WithCancel(t.Context())
		leave()
		r := httptest.NewRequestWithContext(gone, "POST", "/", strings.NewReader(good))
		if err := s.submitContact(httptest.NewRecorder(), r); err != nil {
			t.Fatal(err)
		}
		if len(s.stored("contact_submissions")) != 1 {
			t.Error("the message is lost")
		}
	})
}

// Proves P-outage-hang.
//
// TestAMessageThatCannotBeStoredInTime: storing does not end with the request, so its own timeout ends first.
func TestAMessageThatCannotBeStoredInTime(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.storeTimeout = 50 * time.Millisecond
		err := d.WithTx(t.Context(), func(tx *db.Tx) error { // on SQLite other writes wait for this transaction in any case
			if d.Dialect == db.Postgres {
				if _, err := tx.Exec(t.Context(), "lock table contact_submissions"); err != nil {
					return err
				}
			}
			answered(t, s.call("service", "submit-contact", good), 504, `{"success":false,"error":"The request took too long, please try again"}`)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		s.storeTimeout = defaultStoreTimeout
		answered(t, s.call("service", "submit-contact", good), 200, success)
	})
}
