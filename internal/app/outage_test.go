package app

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/jpeg"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/storage"
)

// outageLog collects the log, which several goroutines write.
type outageLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *outageLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

// hangTimeout is the time of requests to a database that does not respond.
const hangTimeout = 100 * time.Millisecond

// records returns all lines of the log.
func (l *outageLog) records(t *testing.T) (out []map[string]any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for line := range strings.Lines(l.b.String()) {
		var record map[string]any
		if err := json.Unmarshal([]byte(line), &record); err != nil {
			t.Fatal(err)
		}
		out = append(out, record)
	}
	return out
}

// count returns how often the beginning and the end of an outage were logged, the number of stale responses, and the number of other
// warnings and errors. beginning is the start of the message about the beginning. late is the number of requests whose time may have ended
// before the outage was known: so many messages about such requests are not counted.
func (l *outageLog) count(t *testing.T, beginning string, late int) (begun, ended, stale int, others []map[string]any) {
	t.Helper()
	for _, r := range l.records(t) {
		switch {
		case strings.HasPrefix(r["msg"].(string), beginning):
			begun++
		case r["msg"] == "the database can be reached again":
			ended++
		case r["stale"] == true:
			stale++
		case late > 0 && (r["status"] == float64(http.StatusGatewayTimeout) || r["status"] == float64(http.StatusServiceUnavailable) && r["took"].(float64) >= float64(hangTimeout)):
			late--
		case r["level"] == "ERROR", r["level"] == "WARN":
			others = append(others, r)
		}
	}
	return begun, ended, stale, others
}

// newLoggedApp opens the program on a database and records its log.
func newLoggedApp(t *testing.T, address string) (*App, *outageLog) {
	t.Helper()
	cfg := configuration(t)
	cfg.Database.URL = address
	log := &outageLog{}
	a, err := New(t.Context(), cfg, slog.New(slog.NewJSONHandler(log, nil)), time.Now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	return a, log
}

// waitUntilOver waits for the end of an outage, at most a minute.
func waitUntilOver(t *testing.T, lasts func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); lasts(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the end of the outage is not seen")
		}
	}
}

func outagePicture(t *testing.T) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, image.NewGray(image.Rect(0, 0, 40, 30)), nil); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Proves P-outage, P-outage-page, P-outage-log, P-outage-hang, F-outage, T-outage.
//
// TestDatabaseOutage makes the database of a running site unreachable, and reachable again.
func TestDatabaseOutage(t *testing.T) {
	stops := func(dialect db.Dialect) func(t *testing.T) (string, func(), func()) {
		return func(t *testing.T) (string, func(), func()) { return dbtest.Outage(t, dialect) }
	}
	for name, outage := range map[string]func(*testing.T) (string, func(), func()){
		"sqlite": stops(db.SQLite), "postgres": stops(db.Postgres), "postgres hangs": dbtest.Hang,
	} {
		t.Run(name, func(t *testing.T) {
			databaseURL, beginOutage, endOutage := outage(t)
			a, log := newLoggedApp(t, databaseURL)
			h := a.Handler()
			public, secret := key(t, a, identity.Anon), key(t, a, identity.Service)
			send := func(method, target, token, body string) *httptest.ResponseRecorder {
				r := httptest.NewRequest(method, target, strings.NewReader(body))
				r.Header.Set("Accept", "*/*, text/html")
				if body == "" {
					r.Body, r.ContentLength = http.NoBody, 0
				} else {
					r.Header.Set("Content-Type", "application/json")
				}
				if token != "" {
					r.Header.Set("apikey", token)
					r.Header.Set("Authorization", "Bearer "+token)
				}
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, r)
				return rec
			}
			// On a busy machine, the rendering engine may take longer to start than the next page would wait for it.
			send("GET", "/", "", "")
			background, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer stop()
			for _, run := range []func(context.Context){a.content.Run, a.Jobs.Run, a.Realtime.Run, a.pages.Warm} {
				running.Go(func() { run(background) })
			}
			const list, file, removed = "/rest/v1/products?select=id", "/storage/v1/object/public/open/kept.jpg", "/storage/v1/object/public/open/removed.jpg"
			// Uploads to a bucket that the test creates cause no renditions, so no jobs run during the test.
			if rec := send("POST", "/storage/v1/bucket", secret, `{"id":"open","name":"open","public":true}`); rec.Code != 200 {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			for _, name := range []string{"kept.jpg", "removed.jpg"} {
				if _, err := a.Storage.Put(t.Context(), identity.Caller{Role: identity.Service}, "open", name, bytes.NewReader(outagePicture(t)), -1, storage.PutOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			if rec := send("GET", removed, "", ""); rec.Code != 200 {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			if rec := send("DELETE", "/storage/v1/object/open/removed.jpg", secret, ""); rec.Code != 200 {
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			pages := []string{"/", "/?lang=pt", "/gallery/mural", "/sitemap.xml", "/feed.xml", "/feed.xml?lang=pt", file}
			before := map[string]string{}
			for _, page := range pages {
				before[page] = send("GET", page, "", "").Body.String()
			}
			before[list] = send("GET", list, public, "").Body.String()
			if _, err := a.content.Current(t.Context()); err != nil { // reads the changes that the start has made
				t.Fatal(err)
			}

			beginOutage()
			a.requestTimeout = hangTimeout
			late := 0
			for !a.DB.InOutage() { // the first request notices the outage, unless its time ends before the result of the probe
				send("GET", "/rest/v1/cover_images?select=id", secret, "")
				late++
			}
			a.requestTimeout = defaultRequestTimeout
			for range 3 {
				for _, target := range append(pages, list) {
					token := ""
					if target == list {
						token = public
					}
					rec := send("GET", target, token, "")
					if rec.Code != 200 || rec.Body.String() != before[target] || !strings.HasPrefix(rec.Header().Get("Cache-Status"), "atelie; hit; ttl=-") {
						t.Fatalf("%s: %d, Cache-Status %q", target, rec.Code, rec.Header().Get("Cache-Status"))
					}
				}
				for _, c := range []struct{ method, target, token, body, want string }{
					{"GET", "/rest/v1/reviews?select=message", public, "", `"code":"PGRST001","details":null`},
					{"GET", list, secret, "", `"code":"PGRST001","details":null`},
					{"POST", "/rest/v1/products", secret, `{"title":"Cais"}`, `"code":"PGRST001"`},
					{"POST", "/auth/v1/token?grant_type=password", public, `{"email":"ines@example.pt","password":"a wall of whitewash"}`, `"error_code":"unexpected_failure"`},
					{"GET", "/storage/v1/bucket", public, "", `"statusCode":"503","error":"DatabaseError"`},
					{"GET", "/storage/v1/object/public/product-images/a.jpg", "", "", `"statusCode":"503"`},
					{"POST", "/functions/v1/submit-contact", public, `{"name":"Rui","email":"rui@example.pt","message":"Olá, bom dia, gostava de saber"}`, `{"success":false,"error":"The database`},
					{"POST", "/realtime/v1/api/broadcast", secret, `{"messages":[{"topic":"x","event":"y","payload":{}}]}`, `{"code":"database_unavailable","message":`},
					{"GET", "/gallery/mural?art=00000000-0000-4000-8000-000000000001", "", "", "não é possível mostrar esta página"},
					{"GET", removed, "", "", `"statusCode":"503"`},
					{"GET", "/sitemap.xml?part=7", "", "", "This page cannot be shown right now"},
				} {
					rec := send(c.method, c.target, c.token, c.body)
					if a.DB.Dialect == db.SQLite && strings.HasSuffix(c.target, "/broadcast") { // on SQLite, messages are not stored
						continue
					}
					if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") != "5" || !strings.Contains(rec.Body.String(), c.want) {
						t.Errorf("%s %s: %d, Retry-After %q: %s", c.method, c.target, rec.Code, rec.Header().Get("Retry-After"), rec.Body)
					}
				}
				if rec := send("GET", "/health/ready", "", ""); rec.Code != http.StatusServiceUnavailable {
					t.Errorf("ready: %d", rec.Code)
				}
			}
			endOutage()
			waitUntilOver(t, a.DB.InOutage)
			for _, target := range append(pages, list) {
				rec := send("GET", target, map[bool]string{true: public}[target == list], "")
				if rec.Code != 200 || rec.Header().Get("Cache-Status") != "" {
					t.Errorf("afterwards %s: %d, Cache-Status %q", target, rec.Code, rec.Header().Get("Cache-Status"))
				}
			}
			begun, ended, stale, loud := log.count(t, "the database cannot be reached", late)
			if begun != 1 || ended != 1 || stale != 3*len(before) || len(loud) > 0 {
				t.Errorf("the outage was logged %d times, its end %d times; %d responses were stale; other lines: %v", begun, ended, stale, loud)
			}
		})
	}
}

// Proves P-outage-hang.
//
// TestRequestsEndWhileTheDatabaseHangs sends a request to each surface when PostgreSQL has just stopped responding. No outage is known
// yet, so each request waits until its timeout.
func TestRequestsEndWhileTheDatabaseHangs(t *testing.T) {
	databaseURL, beginHang, endHang := dbtest.Hang(t)
	a, log := newLoggedApp(t, databaseURL)
	h := a.Handler()
	secret := key(t, a, identity.Service)
	if _, err := a.Storage.Put(t.Context(), identity.Caller{Role: identity.Service}, "product-images", "kept.jpg", bytes.NewReader(outagePicture(t)), -1, storage.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	const unread = "could not be read, and is not needed"
	for _, c := range []struct{ method, target, contentType, body, want string }{
		{"GET", "/rest/v1/products?select=id", "", "", `{"code":"57014","details":null,"hint":null,"message":"canceling statement due to statement timeout"}`},
		{"POST", "/rest/v1/products", "application/json", `{"title":"Cais"}`, `"code":"57014"`},
		{"POST", "/auth/v1/token?grant_type=password", "application/json", `{"email":"ines@example.pt","password":"a wall of whitewash"}`, `"error_code":"request_timeout"`},
		{"GET", "/auth/v1/admin/users", "", "", `"error_code":"request_timeout"`},
		{"GET", "/storage/v1/bucket", "", "", `"statusCode":"504","error":"DatabaseTimeout"`},
		{"POST", "/storage/v1/object/list/product-images", "application/json", `{"prefix":""}`, `"statusCode":"504"`},
		{"GET", "/storage/v1/object/product-images/kept.jpg", "", "", `"statusCode":"504"`},
		{"GET", "/storage/v1/object/public/product-images/kept.jpg", "", "", `"statusCode":"504"`},
		{"GET", "/storage/v1/render/image/authenticated/product-images/kept.jpg?width=20", "", "", `"statusCode":"504"`},
		{"POST", "/storage/v1/object/product-images/new.jpg", "image/jpeg", string(outagePicture(t)), `"statusCode":"504"`},
		{"POST", "/storage/v1/object/move", "application/json", `{"bucketId":"product-images","sourceKey":"kept.jpg","destinationKey":"moved.jpg"}`, `"statusCode":"504"`},
		{"DELETE", "/storage/v1/object/product-images/kept.jpg", "", "", `"statusCode":"504"`},
		{"POST", "/storage/v1/upload/resumable", "", unread, "The request took too long"},
		{"POST", "/functions/v1/contact-quarantine", "application/json", `{}`, `{"success":false,"error":"The request took too long, please try again"}`},
		{"POST", "/functions/v1/address-data", "application/json", `{"address":"rui@example.pt"}`, `{"success":false,"error":"The request took too long`},
		{"POST", "/realtime/v1/api/broadcast", "application/json", `{"messages":[{"topic":"x","event":"y","payload":{}}]}`, `{"code":"request_timeout","message":`},
	} {
		send := func() *httptest.ResponseRecorder {
			r := httptest.NewRequest(c.method, c.target, strings.NewReader(c.body))
			r.Header.Set("Authorization", "Bearer "+secret)
			r.Header.Set("Content-Type", c.contentType)
			if c.body == unread {
				r.Body, r.ContentLength = http.NoBody, 0
				r.Header.Set("Tus-Resumable", "1.0.0")
				r.Header.Set("Upload-Length", "20")
				r.Header.Set("Upload-Metadata", "bucketName cHJvZHVjdC1pbWFnZXM=,objectName YS5qcGc=") // product-images, a.jpg
			}
			a.requestTimeout = defaultRequestTimeout
			if rec := sendRequest(a, "GET", "/rest/v1/reviews?select=id", secret); rec.Code != http.StatusOK { // loads the valid keys
				t.Fatalf("%d %s", rec.Code, rec.Body)
			}
			rec := httptest.NewRecorder()
			beginHang()
			a.requestTimeout = 100 * time.Millisecond
			h.ServeHTTP(rec, r)
			endHang()
			// Waits for the probe that the timeout has started. If the machine was too busy for it, an outage has begun and must end.
			if err := a.DB.ProbeAfter(t.Context(), context.DeadlineExceeded); a.DB.InOutage() {
				t.Log(err)
				waitUntilOver(t, a.DB.InOutage)
			}
			return rec
		}
		// A request during which an outage began fails immediately, which is not what this test is about: it is sent again.
		var rec *httptest.ResponseRecorder
		for before, begun := -1, 0; before < begun && begun < 5; {
			before = begun
			rec = send()
			begun, _, _, _ = log.count(t, "the database cannot be reached", 0)
		}
		if rec.Code != http.StatusGatewayTimeout || !strings.Contains(rec.Body.String(), c.want) {
			t.Errorf("%s %s: %d %s", c.method, c.target, rec.Code, rec.Body)
		}
	}
}

// Proves P-outage-lock.
//
// TestDatabaseLockedByAnotherProgram has another program hold SQLite's write lock for longer than a write waits. Reads must still work,
// and no response may be stale.
func TestDatabaseLockedByAnotherProgram(t *testing.T) {
	databaseURL, lock, unlock := dbtest.Lock(t)
	a, log := newLoggedApp(t, databaseURL)
	public, secret := key(t, a, identity.Anon), key(t, a, identity.Service)
	h := a.Handler()
	send := func(method, target, token, body string) *httptest.ResponseRecorder {
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("apikey", token)
		r.Header.Set("Authorization", "Bearer "+token)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec
	}
	reads := []string{"/", "/gallery/mural", "/gallery/photography", "/sitemap.xml", "/rest/v1/products?select=id", "/rest/v1/reviews?select=message"}
	read := func(reads []string) {
		t.Helper()
		for _, target := range reads {
			token := ""
			if strings.HasPrefix(target, "/rest/") {
				token = public
			}
			if rec := send("GET", target, token, ""); rec.Code != http.StatusOK || rec.Header().Get("Cache-Status") != "" {
				t.Errorf("%s: %d, Cache-Status %q: %s", target, rec.Code, rec.Header().Get("Cache-Status"), rec.Body)
			}
		}
	}
	read(reads[:2]) // the other reads are requested for the first time during the lock
	if _, err := a.Storage.Put(t.Context(), identity.Caller{Role: identity.Service}, "product-images", "a.jpg", bytes.NewReader(outagePicture(t)), -1, storage.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	// Two URLs of one rendition. The first request makes it. The request for the second URL, during the lock, should record that it is used.
	const rendition = "/storage/v1/render/image/public/product-images/a.jpg?format=jpeg&width="
	read([]string{rendition + "320"})
	if _, err := a.DB.Exec(t.Context(), "update media_renditions set used_at = $1", time.Now().Add(-2*time.Hour)); err != nil {
		t.Fatal(err)
	}
	reads = append(reads, rendition+"640")
	// The setting stays on the only write connection. In production a write waits five seconds.
	if _, err := a.DB.Exec(t.Context(), "pragma busy_timeout = 50"); err != nil {
		t.Fatal(err)
	}
	lock()
	for range 2 {
		for _, c := range []struct{ method, target, token, body, want string }{
			{"POST", "/rest/v1/products", secret, `{"title":"Cais"}`, `"code":"PGRST001"`},
			{"POST", "/auth/v1/token?grant_type=password", public, `{"email":"ines@example.pt","password":"a wall of whitewash"}`, `"error_code":"unexpected_failure"`},
			{"POST", "/storage/v1/bucket", secret, `{"id":"open","name":"open"}`, `"statusCode":"503","error":"DatabaseError"`},
			{"POST", "/functions/v1/submit-contact", public, `{"name":"Rui","email":"rui@example.pt","message":"Olá, bom dia, gostava de saber"}`, `{"success":false,"error":"The database`},
		} {
			rec := send(c.method, c.target, c.token, c.body)
			if rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Retry-After") != "5" || !strings.Contains(rec.Body.String(), c.want) {
				t.Errorf("%s %s: %d, Retry-After %q: %s", c.method, c.target, rec.Code, rec.Header().Get("Retry-After"), rec.Body)
			}
		}
		read(reads)
		if rec := send("GET", "/health/ready", "", ""); rec.Code != http.StatusServiceUnavailable {
			t.Errorf("ready: %d", rec.Code)
		}
	}
	unlock()
	waitUntilOver(t, a.DB.CannotWrite)
	if rec := send("POST", "/rest/v1/products", secret, `{"title":"Cais"}`); rec.Code != http.StatusCreated {
		t.Errorf("afterwards: %d %s", rec.Code, rec.Body)
	}
	read(reads)
	begun, ended, _, loud := log.count(t, "another program has locked the database", 0)
	if begun != 1 || ended != 1 || len(loud) > 0 {
		t.Errorf("the lock was logged %d times, its end %d times; other lines: %v", begun, ended, loud)
	}
}

// Proves T-cache.
//
// TestOnlyAnonymousResponsesAreCacheable requests every URL that checks a key, with every kind of key.
func TestOnlyAnonymousResponsesAreCacheable(t *testing.T) {
	a := newApp(t, db.SQLite)
	service := key(t, a, identity.Service)
	if _, err := a.Storage.Put(t.Context(), identity.Caller{Role: identity.Service}, "product-images", "kept.jpg", bytes.NewReader(outagePicture(t)), -1, storage.PutOptions{}); err != nil {
		t.Fatal(err)
	}
	var targets []string // METHOD /path, first those that only read
	a.eachSurface(func(_ string, _ httpx.ErrorWriter, routes []route, _ ...httpx.Middleware) {
		for _, r := range routes {
			if r.public { // the response is the same for everybody, or the URL is signed
				continue
			}
			method, path, ok := strings.Cut(r.pattern, " ")
			if !ok {
				method, path = "POST", r.pattern
			}
			for name, value := range map[string]string{
				"{bucket}": "product-images", "{path...}": "kept.jpg", "{table}": "products", "{function}": "get_user_role", "{name}": "contact-quarantine",
				"{topic}": "x", "{event}": "y", "{$}": "", "{id}": unknownID, "{user_id}": unknownID, "{factor_id}": unknownID, "{identity_id}": unknownID,
			} {
				path = strings.ReplaceAll(path, name, value)
			}
			if strings.ContainsAny(path, "{}") {
				t.Errorf("%s: what may stand there?", r.pattern)
			}
			if target := method + " " + path; method == "GET" || method == "HEAD" || method == "OPTIONS" {
				targets = slices.Insert(targets, 0, target)
			} else {
				targets = append(targets, target)
			}
		}
	})
	answered := map[string]int{}
	for _, target := range targets {
		method, path, _ := strings.Cut(target, " ")
		for name, token := range map[string]string{"the service key": service, "a forged token": "forged"} {
			rec := sendRequest(a, method, path, token)
			if got := rec.Header().Get("Cache-Control"); got != "no-store" {
				t.Errorf("%s with %s: %d, Cache-Control %q", target, name, rec.Code, got)
			}
			if token == service {
				answered[target] = rec.Code
			}
		}
	}
	if len(answered) < 90 {
		t.Errorf("%d addresses were requested", len(answered))
	}
	for _, target := range []string{
		"GET /storage/v1/object/product-images/kept.jpg", "GET /storage/v1/object/authenticated/product-images/kept.jpg",
		"GET /storage/v1/object/info/authenticated/product-images/kept.jpg", "GET /storage/v1/render/image/authenticated/product-images/kept.jpg",
		"GET /rest/v1/products", "GET /storage/v1/bucket", "GET /auth/v1/admin/users",
	} {
		if answered[target] != http.StatusOK {
			t.Errorf("%s: %d", target, answered[target])
		}
	}
	anonymous := key(t, a, identity.Anon)
	for target, want := range map[string]string{"/rest/v1/products": "", "/storage/v1/bucket": ""} {
		if got := sendRequest(a, "GET", target, anonymous).Header().Get("Cache-Control"); got != want {
			t.Errorf("anonymous %s: %q", target, got)
		}
	}
	if got := sendRequest(a, "GET", "/rest/v1/nothing", service).Header().Get("Cache-Control"); got != "no-store" {
		t.Errorf("a refusal: %q", got)
	}
}

// unknownID is an id that no row has.
const unknownID = "00000000-0000-4000-8000-00000000abcd"
