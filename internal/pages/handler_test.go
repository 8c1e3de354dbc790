package pages

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var built = fstest.MapFS{
	"index.html":       {Data: []byte(`<!doctype html>` + langMark + `><head>` + titleMark + bootMark + `</head></html>`)},
	"assets/app-1a.js": {Data: []byte("export {}")},
	"favicon.svg":      {Data: []byte("<svg/>")},
	".gitkeep":         {},
	"fonts/a.woff2":    {Data: []byte("wOF2")},
}

func newService(t *testing.T, d *db.DB) http.Handler {
	t.Helper()
	s, err := New(d, built, Config{SiteURL: "https://a.example", APIURL: "https://a.example", AnonKey: "key"}, func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) })
	if err != nil {
		t.Fatal(err)
	}
	return httpx.Handle(WriteError, s.Page)
}

func get(h http.Handler, method, target string) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, httptest.NewRequest(method, target, nil))
	return rec
}

func TestRoutesAndUnknownPaths(t *testing.T) {
	h := newService(t, dbtest.Open(t, db.SQLite))
	for target, status := range map[string]int{
		"/": 200, "/gallery": 200, "/gallery/": 200, "/gallery/mural": 200, "/gallery/sculpture": 200, "/politica-privacidade": 200,
		"/admin": 200, "/admin/auth": 200, "/admin/products": 200, "/admin/reviews": 200, "/admin/cover-images": 200, "/admin/contact-messages": 200,
		"/nope": 404, "/gallery/a/b": 404, "/admin/nope": 404, "/index.html": 404, "/.gitkeep": 404, "/assets/nope.js": 404, "/../etc/passwd": 404, "/fonts": 404,
	} {
		rec := get(h, "GET", target)
		if rec.Code != status || !strings.Contains(rec.Body.String(), `id="boot"`) {
			t.Errorf("%s: %d %s", target, rec.Code, rec.Body)
		}
		if csp := rec.Header().Get("Content-Security-Policy"); !strings.Contains(csp, "script-src 'self';") {
			t.Errorf("%s: policy %q", target, csp)
		}
	}
	if rec := get(h, "POST", "/"); rec.Code != 405 || rec.Header().Get("Allow") == "" {
		t.Errorf("POST: %d", rec.Code)
	}
	if rec := get(h, "HEAD", "/"); rec.Code != 200 || rec.Body.Len() != 0 {
		t.Errorf("HEAD: %d, %d bytes", rec.Code, rec.Body.Len())
	}
}

func TestBootDataCannotLeaveItsBlock(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		hostile := Site{Name: `</script><img src=x onerror=alert(1)> & "Ana"`, Email: "a@b.pt"}
		if err := SaveSite(t.Context(), d, hostile, time.Now()); err != nil {
			t.Fatal(err)
		}
		body := get(newService(t, d), "GET", "/?lang=pt").Body.String()
		if strings.Contains(body, "<img") || strings.Count(body, "</script>") != 1 || !strings.Contains(body, `<html lang="pt"`) {
			t.Fatalf("got %s", body)
		}
		_, rest, _ := strings.Cut(body, `id="boot">`)
		data, _, _ := strings.Cut(rest, "</script>")
		var b boot
		if err := json.Unmarshal([]byte(data), &b); err != nil {
			t.Fatal(err)
		}
		if b.Site != hostile || b.Language != "pt" || b.Today != "2026-11-21" || b.AnonKey != "key" || b.APIURL != "https://a.example" {
			t.Errorf("got %+v", b)
		}
	})
}

func TestSiteSettingsAreSeededAndReplaced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		got, err := LoadSite(t.Context(), d)
		if err != nil || got != seed {
			t.Fatalf("%+v, %v", got, err)
		}
		for _, name := range []string{"One", "Two"} {
			if err := SaveSite(t.Context(), d, Site{Name: name}, time.Now()); err != nil {
				t.Fatal(err)
			}
			if got, err := LoadSite(t.Context(), d); err != nil || got.Name != name {
				t.Errorf("%+v, %v", got, err)
			}
		}
	})
}

func TestAssets(t *testing.T) {
	h := newService(t, dbtest.Open(t, db.SQLite))
	rec := get(h, "GET", "/assets/app-1a.js")
	if rec.Code != 200 || !strings.Contains(rec.Header().Get("Cache-Control"), "immutable") || !strings.HasPrefix(rec.Header().Get("Content-Type"), "text/javascript") {
		t.Errorf("asset: %d %v", rec.Code, rec.Header())
	}
	if rec := get(h, "GET", "/favicon.svg"); rec.Code != 200 || strings.Contains(rec.Header().Get("Cache-Control"), "immutable") || rec.Header().Get("Content-Security-Policy") == "" {
		t.Errorf("favicon: %d %v", rec.Code, rec.Header())
	}
}

func TestASiteThatWasNotBuiltSaysSo(t *testing.T) {
	s, err := New(dbtest.Open(t, db.SQLite), fstest.MapFS{}, Config{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if rec := get(httpx.Handle(WriteError, s.Page), "GET", "/"); rec.Code != 503 || !strings.Contains(rec.Body.String(), "make build") {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
	if _, err := New(dbtest.Open(t, db.SQLite), fstest.MapFS{"index.html": {Data: []byte("<html>")}}, Config{}, time.Now); err == nil {
		t.Error("a shell without its marks was accepted")
	}
}
