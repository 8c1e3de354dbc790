package auth

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/jobs"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

const (
	secret   = "the-signing-secret-of-the-tests-0123456789"
	email    = "ines@example.pt"
	password = "correct horse battery"
)

// cheapHashParams make password hashing fast in tests. TestNewHashesHaveTheRecommendedCost checks the real costs.
var cheapHashParams = argonParams{memory: 64, time: 1, threads: 1}

// clock is a clock that the test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// fixture is a Service, wrapped in the same middleware as in production (package app).
type fixture struct {
	*Service
	mails   chan Mail // e-mails that deliver has sent
	texts   chan SMS  // SMS that deliver has sent
	t       testing.TB
	clock   *clock
	handler http.Handler
	anon    string // the public key
	service string // the service key
}

// endpoints return the routes that newFixture serves. Each test file adds those that it needs with serve. A pattern that begins with
// "public " needs no key.
var endpoints []func(s *Service) map[string]httpx.Handler

func serve(routes func(s *Service) map[string]httpx.Handler) bool {
	endpoints = append(endpoints, routes)
	return true
}

var _ = serve(func(s *Service) map[string]httpx.Handler {
	return map[string]httpx.Handler{
		"POST /auth/v1/token": s.Token, "POST /auth/v1/logout": s.Logout, "GET /auth/v1/user": s.GetUser,
		"GET /auth/v1/settings": s.Settings, "GET /auth/v1/health": s.Health, "POST /auth/v1/setup": s.Setup,
	}
})

// newFixture serves the endpoints of all areas. settings change the configuration.
func newFixture(t testing.TB, d *db.DB, settings ...func(*Config)) *fixture {
	t.Helper()
	c := &clock{at: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	queue := jobs.New(d, []byte("a-key-of-exactly-thirty-two-byte"), nil, slog.New(slog.DiscardHandler), c.now)
	cfg := Config{
		SiteURL: "https://ines.example/", APIURL: "https://ines.example/", JWTExpiry: time.Hour, RefreshReuse: 10 * time.Second, Version: "1.2.3",
		RefreshKey: []byte("a-key-of-thirty-two-bytes-or-more"), CodeKey: []byte("another-key-of-thirty-two-bytes-or-more"), SealKey: []byte("the-key-of-exactly-thirty-2-byte"),
		RateLimited: true, MailMinInterval: time.Minute, SMSMinInterval: time.Minute, PasswordMinLength: 10,
	}
	for _, set := range settings {
		set(&cfg)
	}
	var h *fixture
	tokens := identity.New(identity.Config{
		Secret: []byte(secret), ES256: cfg.ES256,
		SigningKeys: func(ctx context.Context) ([]identity.SigningKey, error) { return h.SigningKeys(ctx) },
	}, c.now)
	s := New(d, queue, tokens, cfg, c.now)
	s.hasher.params = cheapHashParams
	h = &fixture{Service: s, t: t, clock: c, mails: make(chan Mail, 100), texts: make(chan SMS, 100)}
	queue.Handle(JobMail, func(_ context.Context, payload []byte) error {
		var m Mail
		if err := json.Unmarshal(payload, &m); err != nil {
			return jobs.Permanent(err)
		}
		h.mails <- m
		return nil
	})
	queue.Handle(JobSMS, func(_ context.Context, payload []byte) error {
		var m SMS
		if err := json.Unmarshal(payload, &m); err != nil {
			return jobs.Permanent(err)
		}
		h.texts <- m
		return nil
	})
	h.anon, h.service = h.key(identity.Anon), h.key(identity.Service)
	mux := http.NewServeMux()
	guard := httpx.Guard(&identity.Authenticator{Tokens: tokens, IsAdmin: s.IsAdmin}, WriteError)
	for _, routes := range endpoints {
		for pattern, fn := range routes(s) {
			handler := httpx.Handle(WriteError, fn)
			pattern, public := strings.CutPrefix(pattern, "public ")
			if !public {
				handler = guard(handler)
			}
			mux.Handle(pattern, handler)
		}
	}
	h.handler = httpx.Chain(mux, httpx.Log(slog.New(slog.NewTextHandler(io.Discard, nil)), []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, nil), httpx.CORS)
	return h
}

// deliver runs the queue until all requested messages are sent. They are then in posted and texted.
func (h *fixture) deliver() {
	h.t.Helper()
	ctx, stop := context.WithCancel(h.t.Context())
	done := make(chan struct{})
	go func() { h.queue.Run(ctx); close(done) }()
	for deadline := time.Now().Add(time.Minute); ; {
		var waiting int
		if err := h.db.QueryRow(ctx, "select count(*) from jobs").Scan(&waiting); err != nil {
			h.t.Fatal(err)
		}
		if waiting == 0 {
			break
		}
		if time.Now().After(deadline) {
			h.t.Fatalf("%d messages did not leave", waiting)
		}
		time.Sleep(2 * time.Millisecond)
	}
	stop()
	<-done
}

// mail returns the next sent mail of a kind. The test fails if there is none.
func (h *fixture) mail(kind MailKind) Mail {
	h.t.Helper()
	h.deliver()
	for {
		select {
		case m := <-h.mails:
			if m.Kind == kind {
				return m
			}
		default:
			h.t.Fatalf("no mail of kind %s", kind)
		}
	}
}

// text returns the next sent SMS.
func (h *fixture) text() SMS {
	h.t.Helper()
	h.deliver()
	select {
	case m := <-h.texts:
		return m
	default:
		h.t.Fatal("no SMS")
		return SMS{}
	}
}

func (h *fixture) key(role identity.Role) string {
	h.t.Helper()
	key, err := h.tokens.Key(role)
	if err != nil {
		h.t.Fatal(err)
	}
	return key
}

// reply is a response. Its body is decoded if it is a JSON object.
type reply struct {
	status int
	header http.Header
	raw    string
	body   map[string]any
}

// code returns the error code of either error format.
func (r reply) code() string {
	if code, ok := r.body["error_code"].(string); ok {
		return code
	}
	code, _ := r.body["code"].(string)
	return code
}

func (r reply) text(name string) string {
	s, _ := r.body[name].(string)
	return s
}

type header struct{ name, value string }

// call sends a request as the client does: with the public key as apikey, and with bearer, or else the public key, as token.
func (h *fixture) call(method, path, bearer, body string, headers ...header) reply {
	r := httptest.NewRequest(method, path, strings.NewReader(body))
	r.Header.Set("apikey", h.anon)
	if bearer == "" {
		bearer = h.anon
	}
	r.Header.Set("Authorization", "Bearer "+bearer)
	for _, x := range headers {
		r.Header.Set(x.name, x.value)
		if x.name == "Host" {
			r.Host = x.value // servers read the host from this field
		}
	}
	w := httptest.NewRecorder()
	h.handler.ServeHTTP(w, r)
	out := reply{status: w.Code, header: w.Header(), raw: w.Body.String()}
	if strings.HasPrefix(out.raw, "{") {
		if err := json.Unmarshal([]byte(out.raw), &out.body); err != nil {
			h.t.Errorf("%s %s responds with bad JSON: %v", method, path, err)
		}
	}
	return out
}

func object(fields map[string]any) string {
	b, err := json.Marshal(fields)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func (h *fixture) signInAs(email, password string, headers ...header) reply {
	return h.call("POST", "/auth/v1/token?grant_type=password", "", object(map[string]any{"email": email, "password": password, "gotrue_meta_security": map[string]any{}}), headers...)
}

func (h *fixture) refreshWith(token string) reply {
	return h.call("POST", "/auth/v1/token?grant_type=refresh_token", "", object(map[string]any{"refresh_token": token}))
}

func (h *fixture) user(bearer string) reply { return h.call("GET", "/auth/v1/user", bearer, "") }

// owner adds the owner of the tests.
func (h *fixture) owner() {
	h.t.Helper()
	if err := h.AddOwner(h.t.Context(), email, password); err != nil {
		h.t.Fatal(err)
	}
}

// mustSignIn returns a new session of the owner.
func (h *fixture) mustSignIn() reply {
	h.t.Helper()
	r := h.signInAs(email, password)
	if r.status != http.StatusOK {
		h.t.Fatalf("sign-in: %d %s", r.status, r.raw)
	}
	return r
}

func (h *fixture) expect(what string, r reply, status int, code string) {
	h.t.Helper()
	if r.status != status || r.code() != code {
		h.t.Errorf("%s: got %d %s, want %d %s", what, r.status, r.raw, status, code)
	}
}

func (h *fixture) exec(query string, args ...any) {
	h.t.Helper()
	if _, err := h.db.Exec(h.t.Context(), query, args...); err != nil {
		h.t.Fatal(err)
	}
}

func (h *fixture) value(query string, args ...any) string {
	h.t.Helper()
	var v string
	if err := h.db.QueryRow(h.t.Context(), query, args...).Scan(&v); err != nil {
		h.t.Fatal(err)
	}
	return v
}

func (h *fixture) count(table string) int {
	h.t.Helper()
	var n int
	if err := h.db.QueryRow(h.t.Context(), "select count(*) from "+table).Scan(&n); err != nil {
		h.t.Fatal(err)
	}
	return n
}

// claims decodes an access token without verifying it.
func (h *fixture) claims(token string) jwt.MapClaims {
	h.t.Helper()
	claims := jwt.MapClaims{}
	if _, _, err := jwt.NewParser().ParseUnverified(token, claims); err != nil {
		h.t.Fatal(err)
	}
	return claims
}

func (h *fixture) sign(claims jwt.MapClaims) string {
	h.t.Helper()
	token, err := h.tokens.Sign(claims)
	if err != nil {
		h.t.Fatal(err)
	}
	return token
}

func keysOf[V any](m map[string]V) string { return strings.Join(slices.Sorted(maps.Keys(m)), " ") }

// hashes counts the password hashes that the service computes from now on.
func (h *fixture) hashes() *int {
	n, mu, real := new(int), &sync.Mutex{}, h.hasher.idKey
	h.hasher.idKey = func(pw, salt []byte, time, memory uint32, threads uint8, keyLen uint32) []byte {
		mu.Lock()
		defer mu.Unlock()
		if (argonParams{memory, time, threads}) != h.hasher.params {
			h.t.Errorf("hash of another cost: m=%d t=%d p=%d", memory, time, threads)
		}
		*n++
		return real(pw, salt, time, memory, threads, keyLen)
	}
	return n
}
