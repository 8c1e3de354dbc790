package app

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"
	"io"
	"log/slog"
	"mime"
	"net"
	"net/http"
	"net/http/httptest"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	_ "atelie/internal/media/rendition/renditiontest" // jobs start this program as their worker
	"atelie/internal/storage"
	"atelie/internal/storage/blob/blobtest"
)

func TestMain(m *testing.M) { blobtest.Main(m, dbtest.Stop) }

// newApp returns a program with a new, empty database and data folder.
func newApp(t testing.TB, dialect db.Dialect) *App { return newAppAt(t, dialect, time.Now) }

// configuration returns the settings of a test program, without a database URL.
func configuration(t testing.TB) config.Config {
	t.Helper()
	return config.Config{
		Server:   config.Server{DataDir: t.TempDir(), Listen: "127.0.0.1:0", SiteURL: "http://site.example", APIURL: "http://site.example"},
		Database: config.Database{MaxRows: 1000},
		Storage:  config.Storage{MaxUpload: 10 << 20, UploadExpiry: time.Hour}, Realtime: config.Realtime{MaxSockets: 100, MaxSocketsPerAddress: 100},
		Auth:     config.Auth{JWTSecret: strings.Repeat("k", 32), JWTExpiry: time.Hour, RefreshReuse: 10 * time.Second, Signup: "closed", PasswordMinLength: 10, RateLimits: true},
		Backup:   config.Backup{URL: config.BackupOff}, // backup_test.go has tests with backups
		Pictures: config.Pictures{Vips: "off"},         // every machine makes the same pictures
	}
}

// newAppAt is newApp with a clock.
func newAppAt(t testing.TB, dialect db.Dialect, now func() time.Time) *App {
	t.Helper()
	cfg := configuration(t)
	cfg.Database.URL = dbtest.URL(t, dialect)
	return newAppOf(t, cfg, now)
}

// newAppOf returns a program with the given settings. The program is closed at the end of the test.
func newAppOf(t testing.TB, cfg config.Config, now func() time.Time) *App {
	t.Helper()
	a, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler), now)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func key(t *testing.T, a *App, role identity.Role) string {
	t.Helper()
	k, err := a.Tokens.Key(role)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func sendRequest(a *App, method, target, token string) *httptest.ResponseRecorder {
	r := httptest.NewRequest(method, target, nil)
	if token != "" {
		r.Header.Set("Authorization", "Bearer "+token)
	}
	rec := httptest.NewRecorder()
	a.Handler().ServeHTTP(rec, r)
	return rec
}

// For each surface, a URL that the public key may request.
var surfaces = map[string][2]string{
	"/auth/v1":      {"GET", "/auth/v1/settings"},
	"/rest/v1":      {"GET", "/rest/v1/products"},
	"/storage/v1":   {"GET", "/storage/v1/bucket"},
	"/functions/v1": {"POST", "/functions/v1/submit-contact"},
	"/realtime/v1":  {"POST", "/realtime/v1/api/broadcast"},
}

// Proves S6-key-3.
func TestEverySurfaceRefusesBadTokens(t *testing.T) {
	a := newApp(t, db.SQLite)
	signed := func(secret string, claims jwt.MapClaims) string {
		s, err := identity.New(identity.Config{Secret: []byte(secret)}, time.Now).Sign(claims)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	none, err := jwt.NewWithClaims(jwt.SigningMethodNone, jwt.MapClaims{"role": "service_role", "exp": time.Now().Add(time.Hour).Unix()}).SignedString(jwt.UnsafeAllowNoneSignatureType)
	if err != nil {
		t.Fatal(err)
	}
	for name, token := range map[string]string{
		"none":    "",
		"forged":  signed(strings.Repeat("x", 32), jwt.MapClaims{"role": "service_role", "exp": time.Now().Add(time.Hour).Unix()}),
		"expired": signed(strings.Repeat("k", 32), jwt.MapClaims{"role": "service_role", "exp": time.Now().Add(-time.Minute).Unix()}),
		"alg":     none,
		"noise":   "a.b.c",
	} {
		for prefix, target := range surfaces {
			rec := sendRequest(a, target[0], target[1], token)
			if rec.Code != http.StatusUnauthorized || !json.Valid(rec.Body.Bytes()) {
				t.Errorf("%s with token %q: %d %s", prefix, name, rec.Code, rec.Body)
			}
		}
	}
	for prefix, target := range surfaces {
		if rec := sendRequest(a, target[0], target[1], key(t, a, identity.Anon)); rec.Code == http.StatusUnauthorized || rec.Code >= 500 {
			t.Errorf("%s with the public key: %d %s", prefix, rec.Code, rec.Body)
		}
	}
}

// Proves S8-form-6, FN-call-unknown.
func TestUnknownBackendPathsUseTheirSurfacesErrorFormat(t *testing.T) {
	a := newApp(t, db.SQLite)
	for prefix, field := range map[string]string{"/auth/v1": "error_code", "/rest/v1": "code", "/storage/v1": "statusCode", "/functions/v1": "code", "/realtime/v1": "message"} {
		for _, target := range []string{prefix + "/a/b/c/d", prefix + "/"} {
			rec := sendRequest(a, "PATCH", target, key(t, a, identity.Anon))
			var body map[string]any
			if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil || rec.Code < 400 || rec.Code >= 500 || body[field] == nil {
				t.Errorf("%s: %d %s", target, rec.Code, rec.Body)
			}
		}
	}
}

func TestDotSegmentsAreRefusedNotRedirected(t *testing.T) {
	a := newApp(t, db.SQLite)
	for _, target := range []string{
		"/storage/v1/object/public/product-images/../../secret", "/storage/v1/object/public/product-images/%2e%2e/%2e%2e/jwt-secret",
		"/rest/v1//products", "/auth/v1/./user", "/functions/v1/x/../submit-contact",
	} {
		if rec := sendRequest(a, "GET", target, key(t, a, identity.Anon)); rec.Code != http.StatusBadRequest || !json.Valid(rec.Body.Bytes()) {
			t.Errorf("%s: %d %s", target, rec.Code, rec.Body)
		}
	}
}

func TestBodyDeadlineEndsTheRequest(t *testing.T) {
	a := newApp(t, db.SQLite)
	a.bodyTimeout = 100 * time.Millisecond
	server := httptest.NewServer(a.Handler())
	defer server.Close()
	anon := key(t, a, identity.Anon)
	for target, want := range map[string]int{
		"/": 405, "/functions/v1/submit-contact": 400, "/auth/v1/token?grant_type=password": 400, "/rest/v1/rpc/get_user_role": 400, // the body is read by some handlers only
		"/storage/v1/object/product-images/a.png": 400,
	} {
		conn, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "POST "+target+" HTTP/1.1\r\nHost: x\r\napikey: "+anon+"\r\nContent-Length: 100\r\n\r\n{"); err != nil {
			t.Fatal(err)
		}
		response, err := io.ReadAll(conn) // until the server closes the connection
		if err != nil || !strings.HasPrefix(string(response), "HTTP/1.1 "+strconv.Itoa(want)) {
			t.Errorf("%s: %v %s", target, err, response)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRequestTimeoutWhileTheDatabaseIsBusy(t *testing.T) {
	a := newApp(t, db.SQLite)
	a.requestTimeout = 100 * time.Millisecond
	var rec *httptest.ResponseRecorder
	if err := a.DB.WithTx(t.Context(), func(*db.Tx) error { // blocks the only write connection
		rec = sendRequest(a, "POST", "/functions/v1/submit-contact", key(t, a, identity.Anon))
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if rec.Code != http.StatusGatewayTimeout || !json.Valid(rec.Body.Bytes()) {
		t.Errorf("%d %s", rec.Code, rec.Body)
	}
}

func TestHealth(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			for _, target := range []string{"/health/live", "/health/ready"} {
				if rec := sendRequest(a, "GET", target, ""); rec.Code != 200 || rec.Body.String() != `{"status":"ok"}`+"\n" {
					t.Errorf("%s: %d %s", target, rec.Code, rec.Body)
				}
			}
			a.stopping.Store(true)
			if rec := sendRequest(a, "GET", "/health/ready", ""); rec.Code != 503 {
				t.Errorf("while stopping: %d", rec.Code)
			}
			a.stopping.Store(false)
			if err := a.DB.Close(); err != nil {
				t.Fatal(err)
			}
			if rec := sendRequest(a, "GET", "/health/ready", ""); rec.Code != 503 {
				t.Errorf("without a database: %d", rec.Code)
			}
			if rec := sendRequest(a, "GET", "/health/live", ""); rec.Code != 200 {
				t.Errorf("live without a database: %d", rec.Code)
			}
		})
	}
}

func TestShutdownFinishesRunningRequests(t *testing.T) {
	a := newApp(t, db.SQLite)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- a.Serve(ctx, listener, nil) }()

	// A message is sent with its body in two halves, and the server is stopped in between. The client sends the first half only when the
	// handler has requested it ("100 Continue"), so that the request is certainly running.
	body, half := io.Pipe()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+listener.Addr().String()+"/functions/v1/submit-contact", body)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("apikey", key(t, a, identity.Anon))
	r.Header.Set("Expect", "100-continue")
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Minute}}
	type outcome struct {
		status int
		err    error
	}
	answered := make(chan outcome, 1)
	go func() {
		response, err := client.Do(r)
		if err != nil {
			answered <- outcome{err: err}
			return
		}
		answered <- outcome{status: response.StatusCode, err: response.Body.Close()}
	}()
	message := `{"name":"Inês","email":"ines@exemplo.example","message":"Half before the stop, half after."}`
	if _, err := half.Write([]byte(message[:20])); err != nil {
		t.Fatal(err)
	}
	stop()
	for !a.stopping.Load() {
		time.Sleep(time.Millisecond)
	}
	if _, err := half.Write([]byte(message[20:])); err != nil {
		t.Fatal(err)
	}
	if err := half.Close(); err != nil {
		t.Fatal(err)
	}
	if got := <-answered; got.err != nil || got.status != 200 {
		t.Errorf("status %d, %v", got.status, got.err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve ended with %v", err)
	}
	var count int
	if err := a.DB.QueryRow(t.Context(), "select count(*) from contact_submissions").Scan(&count); err != nil || count != 1 {
		t.Errorf("%d messages, %v", count, err)
	}
}

// Proves A-guide-demo.
func TestDemoLoadsOnceAndIsComplete(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			for range 2 {
				if err := a.LoadDemo(t.Context()); err != nil {
					t.Fatal(err)
				}
				for table, want := range map[string]int{"products": 22, "reviews": 6, "cover_images": 3} {
					var got int
					if err := a.DB.QueryRow(t.Context(), "select count(*) from "+table).Scan(&got); err != nil || got != want {
						t.Errorf("%s: %d rows, %v", table, got, err)
					}
				}
			}
			// Every picture that a row names is served.
			rec := sendRequest(a, "GET", "/rest/v1/products?select=image_url,image_gallery", key(t, a, identity.Anon))
			var works []struct {
				ImageURL     string   `json:"image_url"`
				ImageGallery []string `json:"image_gallery"`
			}
			if err := json.Unmarshal(rec.Body.Bytes(), &works); err != nil {
				t.Fatal(err)
			}
			for _, w := range works {
				for _, u := range append(w.ImageGallery, w.ImageURL) {
					if rec := sendRequest(a, "HEAD", u, ""); rec.Code != 200 || rec.Header().Get("Content-Type") != mime.TypeByExtension(path.Ext(u)) {
						t.Errorf("%s: %d %s", u, rec.Code, rec.Header().Get("Content-Type"))
					}
				}
			}
			// A work that the owner has removed is not loaded again.
			if _, err := a.DB.Exec(t.Context(), "delete from products where title = 'Onda'"); err != nil {
				t.Fatal(err)
			}
			if err := a.LoadDemo(t.Context()); err != nil {
				t.Fatal(err)
			}
			var left int
			if err := a.DB.QueryRow(t.Context(), "select count(*) from products").Scan(&left); err != nil || left != 21 {
				t.Errorf("%d works after removing one, %v", left, err)
			}
			checkUnchangedDemoTexts(t, a)
		})
	}
}

// checkUnchangedDemoTexts checks that the owner is shown which texts are still those of the demo artist. The demo's works count until the
// owner has added a work.
func checkUnchangedDemoTexts(t *testing.T, a *App) {
	t.Helper()
	seed := func() (keys []string) {
		var response struct{ Seed []string }
		rec := sendRequest(a, "GET", "/rest/v1/rpc/get_site_settings", key(t, a, identity.Service))
		if err := json.Unmarshal(rec.Body.Bytes(), &response); err != nil || rec.Code != 200 {
			t.Fatalf("%d %s", rec.Code, rec.Body)
		}
		return response.Seed
	}
	keys := seed()
	for _, want := range []string{"site.name", "site.portrait", "site.instagram", "site.email", "site.texts.en.about.portraitAlt", "site.texts.pt.about.title", "works"} {
		if !slices.Contains(keys, want) {
			t.Errorf("%s is the demo's, not among %q", want, keys)
		}
	}
	own := []map[string]any{{"title": "Céu"}}
	if err := a.Tables.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, "products", own); err != nil {
		t.Fatal(err)
	}
	if keys := seed(); slices.Contains(keys, "works") || !slices.Contains(keys, "site.name") {
		t.Errorf("with a work of the owner's own: %q", keys)
	}
}

func TestUnreferencedFilesAreDeletedAfter48Hours(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			clock := time.Now()
			a := newAppAt(t, dialect, func() time.Time { return clock })
			if err := a.LoadDemo(t.Context()); err != nil {
				t.Fatal(err)
			}
			objects := func() (n int) {
				if err := a.DB.QueryRow(t.Context(), "select count(*) from storage_objects").Scan(&n); err != nil {
					t.Fatal(err)
				}
				return n
			}
			upload := func(name string) {
				var picture bytes.Buffer
				if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
					t.Fatal(err)
				}
				if _, err := a.Storage.Put(t.Context(), identity.Caller{Role: identity.Service}, "product-images", name, &picture, -1, storage.PutOptions{}); err != nil {
					t.Fatal(err)
				}
			}
			collect := func() {
				if err := a.collectFiles(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			demo := objects()
			upload("left behind.png")
			upload("shown ã.png")
			service := identity.Caller{Role: identity.Service}
			if err := a.Tables.InsertRows(t.Context(), service, "products", []map[string]any{
				{"title": "With a host", "image_gallery": []string{"http://site.example/storage/v1/object/public/product-images/shown%20%C3%A3.png"}},
			}); err != nil {
				t.Fatal(err)
			}
			clock = clock.Add(47 * time.Hour)
			collect()
			if n := objects(); n != demo+2 {
				t.Errorf("after 47 hours %d files, want %d", n, demo+2)
			}
			upload("just now.png")
			clock = clock.Add(2 * time.Hour)
			collect()
			if n := objects(); n != demo+2 {
				t.Errorf("after 49 hours %d files, want %d: the demo's, the shown one, the new one", n, demo+2)
			}
			if rec := sendRequest(a, "HEAD", "/storage/v1/object/public/product-images/left%20behind.png", ""); rec.Code != 400 {
				t.Errorf("left behind: %d", rec.Code)
			}
			// The files of a deleted work are deleted in the same way.
			if _, err := a.DB.Exec(t.Context(), "delete from products where title = 'Onda'"); err != nil {
				t.Fatal(err)
			}
			collect()
			if rec := sendRequest(a, "HEAD", "/storage/v1/object/public/product-images/demo/pt-onda.webp", ""); rec.Code != 400 {
				t.Errorf("the deleted work's picture: %d", rec.Code)
			}
		})
	}
}
