package tables

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// maxRows is Config.MaxRows in the tests.
const maxRows = 1000

func TestMain(m *testing.M) { dbtest.Main(m) }

// The accounts of the tests.
const (
	anonymous = "anonymous"
	signedIn  = "signed in, no role"
	admin     = "admin"
	service   = "service key"

	userID  = "00000000-0000-4000-8000-00000000000a"
	adminID = "00000000-0000-4000-8000-00000000000b"
)

var (
	everyone = []string{anonymous, signedIn, admin, service}
	today    = time.Date(2026, 3, 12, 9, 30, 0, 250000000, time.UTC)
)

// site is the service on a database, behind httpx.Guard, as in package app.
type site struct {
	t       testing.TB
	db      *db.DB
	service *Service
	tokens  *identity.Tokens
	handler http.Handler
	mu      sync.Mutex // guards changed
	changed []string   // the tables of the recorded changes

	// Of the hidden rows in the fixture of matrix_test.go:
	unpublished any    // published_at of the work
	hidden      string // why visitors do not see the cover: "" because it is inactive, "scheduled" or "ended"
}

func newSite(t testing.TB, d *db.DB) *site {
	t.Helper()
	s := &site{t: t, db: d, service: newService(d), tokens: identity.New(identity.Config{Secret: []byte("a secret of the tests")}, time.Now)}
	s.service.record, s.service.recordInserted = s.noteChanges, s.readInserted
	write := func(w http.ResponseWriter, r *http.Request, e *apperr.Error) {
		if e.Status >= 500 {
			t.Errorf("%s %s: %v", r.Method, r.URL, e)
		}
		WriteError(w, r, e)
	}
	mux := http.NewServeMux()
	for pattern, h := range map[string]httpx.Handler{
		"GET /rest/v1/{table}": s.service.Read, "POST /rest/v1/{table}": s.service.Insert, "PATCH /rest/v1/{table}": s.service.Update, "DELETE /rest/v1/{table}": s.service.Delete,
		"PUT /rest/v1/{table}": s.service.Put, "OPTIONS /rest/v1/{table}": s.service.Options, "OPTIONS /rest/v1/rpc/{function}": s.service.RPCOptions,
		"/rest/v1/{$}": s.service.Root, "/rest/v1/{table}": s.service.RejectMethod, "/rest/v1/rpc/{function}": s.service.RejectRPCMethod,
		"GET /rest/v1/rpc/{function}": s.service.RPC, "POST /rest/v1/rpc/{function}": s.service.RPC,
	} {
		mux.Handle(pattern, httpx.Handle(write, h))
	}
	auth := &identity.Authenticator{Tokens: s.tokens, IsAdmin: func(_ context.Context, id, _ string) (bool, error) { return id == adminID, nil }}
	s.handler = httpx.Guard(auth, WriteError)(mux)
	for _, id := range []string{userID, adminID} {
		s.exec("insert into auth_users (id, email, created_at, updated_at) values ($1, $2, $3, $3)", id, id+"@example.pt", today)
	}
	s.exec("insert into user_roles (user_id, role) values ($1, 'admin')", adminID)
	return s
}

// newService returns a service whose recorded changes are dropped.
func newService(d *db.DB) *Service {
	return New(d, Config{
		MaxRows: maxRows, Media: &fakeMedia{}, Record: func(context.Context, *db.Tx, []db.RowChange) error { return nil },
		RecordInserted: func(context.Context, *db.Tx, string, string, ...any) error { return nil },
	}, atToday)
}

// readInserted reads inserted rows and passes them to the recorder of the other changes.
func (s *site) readInserted(ctx context.Context, tx *db.Tx, table, query string, args ...any) error {
	records, err := db.Collect(ctx, tx, db.ScanOne[string], query, args...)
	if err != nil {
		return err
	}
	changes := make([]db.RowChange, len(records))
	for i, record := range records {
		changes[i] = db.RowChange{Table: table, Type: db.Inserted, Record: json.RawMessage(record)}
	}
	return s.service.record(ctx, tx, changes)
}

// noteChanges records the names of changed public tables after the commit.
func (s *site) noteChanges(_ context.Context, tx *db.Tx, changes []db.RowChange) error {
	if name := changes[0].Table; schema[name].Public {
		tx.AfterCommit(func() {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.changed = append(s.changed, name)
		})
	}
	return nil
}

// each runs fn with a site on each engine.
func each(t *testing.T, fn func(t *testing.T, s *site)) {
	t.Helper()
	dbtest.Each(t, func(t *testing.T, d *db.DB) { fn(t, newSite(t, d)) })
}

func (s *site) exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.db.Exec(context.Background(), query, args...); err != nil {
		s.t.Fatalf("%s: %v", query, err)
	}
}

func (s *site) token(who string) string {
	s.t.Helper()
	claims := jwt.MapClaims{"role": "anon", "exp": time.Now().Add(time.Hour).Unix()}
	switch who {
	case signedIn:
		claims["role"], claims["sub"] = "authenticated", userID
	case admin:
		claims["role"], claims["sub"] = "authenticated", adminID
	case service:
		claims["role"] = "service_role"
	}
	token, err := s.tokens.Sign(claims)
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

func (s *site) expired() string {
	s.t.Helper()
	token, err := s.tokens.Sign(jwt.MapClaims{"role": "service_role", "exp": time.Now().Add(-time.Hour).Unix()})
	if err != nil {
		s.t.Fatal(err)
	}
	return token
}

// reply is the response to a call.
type reply struct {
	status int
	header http.Header
	body   string
}

// call sends a request; headers are "Name: value".
func (s *site) call(who, method, path, body string, headers ...string) reply {
	s.t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequest(method, "/", reader)
	// The URL is set directly, because NewRequest refuses some of the URLs that clients can send.
	r.URL.Path, r.URL.RawQuery, _ = strings.Cut("/rest/v1/"+path, "?")
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	if who != "" {
		r.Header.Set("apikey", s.token(anonymous))
		r.Header.Set("Authorization", "Bearer "+s.token(who))
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		if name == "Content-Type" {
			r.Header.Del(name)
		}
		r.Header.Add(name, value)
	}
	rec := httptest.NewRecorder()
	s.handler.ServeHTTP(rec, r)
	return reply{rec.Code, rec.Header(), rec.Body.String()}
}

// refusal is the body of an error.
type refusal struct {
	Code    string
	Message string
	Details *string
	Hint    *string
}

// refused checks that a call was refused with the status and code, in the error format of the surface.
func (s *site) refused(name string, got reply, status int, code string) refusal {
	s.t.Helper()
	var e refusal
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(got.body), &members); err != nil || len(members) != 4 {
		s.t.Errorf("%s: body %q is not {code, details, hint, message}", name, got.body)
		return e
	}
	if err := json.Unmarshal([]byte(got.body), &e); err != nil {
		s.t.Errorf("%s: %v", name, err)
	}
	if got.status != status || e.Code != code || e.Message == "" {
		s.t.Errorf("%s: got %d %s, want %d %s", name, got.status, got.body, status, code)
	}
	if (got.status == http.StatusUnauthorized) != (got.header.Get("WWW-Authenticate") == "Bearer") {
		s.t.Errorf("%s: WWW-Authenticate %q with status %d", name, got.header.Get("WWW-Authenticate"), got.status)
	}
	return e
}

// want checks the status and the whole body.
func (s *site) want(name string, got reply, status int, body string) {
	s.t.Helper()
	if got.status != status || got.body != body {
		s.t.Errorf("%s:\n got %d %s\nwant %d %s", name, got.status, got.body, status, body)
	}
}

// count counts rows in the database itself.
func (s *site) count(table string) int {
	s.t.Helper()
	var n int
	if err := s.db.QueryRow(context.Background(), "select count(*) from "+table).Scan(&n); err != nil {
		s.t.Fatal(err)
	}
	return n
}

// id returns a UUID that ends with n in hexadecimal, so that a test can recognize it.
func id(n int) string {
	const hex = "0123456789abcdef"
	return "00000000-0000-4000-8000-0000000000" + string([]byte{hex[n/16], hex[n%16]})
}
