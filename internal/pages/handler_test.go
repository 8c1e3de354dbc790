package pages

import (
	"context"
	"encoding/json"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// built is a built site with an empty page.
var built = fstest.MapFS{
	"index.html": {Data: []byte(`<!doctype html>` + langMark + `><head>` + titleMark + bootMark + scriptsMark + sheetMark + `</head><body>` + rootMark + `</body></html>`)},
	manifestFile: {Data: manifestJSON(testManifest)},

	"assets/app-1a.js": {Data: []byte("export {}")},
	"favicon.svg":      {Data: []byte("<svg/>")},
	".gitkeep":         {},
	"fonts/a.woff2":    {Data: []byte("wOF2")},
}

var testManifest = pageManifest{
	StartModule: "/assets/start-9c.js", Languages: map[string][]string{"en": {"/assets/en-4d.js"}, "pt": {"/assets/pt-5e.js"}},
	Pages: slices.Concat([]page{
		{Path: "/", ServerRendered: true, WorksFilter: "is_featured=eq.true", Queries: []pageQuery{
			{Key: []any{"cover_images", "active"}, Table: "cover_images"},
			{Key: []any{"products", "featured", 0}, Table: "products", Query: "is_featured=eq.true&order=created_at.desc", Limit: 12},
			{Key: []any{"reviews", "active", 0}, Table: "reviews", Query: "is_active=eq.true", Limit: 12},
		}, WorkQuery: &pageQuery{Key: []any{"products", "featured-work", workPlaceholder}, Table: "products", Query: "is_featured=eq.true&id=eq." + workPlaceholder}},
		testGallery("all"), testGallery("digital"), testGallery("watercolour"), testGallery("mural"), testGallery("oil"), testGallery("acrylic"),
		{Path: "/politica-privacidade", ServerRendered: true, Modules: []string{"/assets/privacy-8b.js", "/assets/privacy-6f.js"}},
	}, testAdminPages()),
}

// testGallery returns the page of a gallery, as the build's manifest describes it.
func testGallery(filter string) page {
	condition := "artwork_type=not.in.(oil,acrylic)"
	if filter != allTypes {
		condition += "&artwork_type=eq." + filter
	}
	p := page{
		Path: galleryPath + filter, ServerRendered: true, WorksFilter: condition, Modules: []string{"/assets/gallery-7a.js", "/assets/grid-3c.js"},
		Queries:   []pageQuery{{Key: []any{"products", "gallery", filter, 0}, Table: "products", Query: condition + "&order=created_at.desc", Limit: 48}},
		WorkQuery: &pageQuery{Key: []any{"products", "gallery-work", filter, workPlaceholder}, Table: "products", Query: condition + "&id=eq." + workPlaceholder},
	}
	if filter == allTypes {
		p.Pattern = "/gallery/:type?"
	}
	return p
}

func testAdminPages() (pages []page) {
	for _, name := range []string{"", "/auth", "/products", "/reviews", "/cover-images", "/contact-messages", "/settings", "/account", "/guide"} {
		pages = append(pages, page{Path: "/admin" + name})
	}
	return pages
}

func manifestJSON(m pageManifest) []byte {
	data, err := json.Marshal(m)
	if err != nil {
		panic(err)
	}
	return data
}

// newWithDefaults sets what a test does not set: a site with reviews and without works.
func newWithDefaults(d *db.DB, dist fs.FS, cfg Config, now func() time.Time) (*Service, error) {
	if cfg.DescribePictures == nil {
		cfg.DescribePictures = func(context.Context, []string) (map[string]json.RawMessage, error) { return nil, nil }
	}
	if cfg.Content.Rows == nil {
		cfg.Content = rowsOf(map[string][]string{"reviews": {`{"id":"r"}`}})
	}
	if cfg.Content.Pictures == nil {
		cfg.Content.Pictures = func(context.Context, []string) (map[string]Picture, error) { return nil, nil }
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.AnonKey == nil {
		cfg.AnonKey = testKey
	}
	if cfg.Version == nil {
		cfg.Version = content.NewVersion(d, cfg.Log)
	}
	return New(d, dist, cfg, now)
}

func testKey(context.Context) (string, error) { return "key", nil }

func newService(t *testing.T, d *db.DB) http.Handler {
	t.Helper()
	s, err := newWithDefaults(d, built, Config{SiteURL: "https://a.example", APIURL: "https://a.example", AnonKey: testKey}, func() time.Time { return time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC) })
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

// Proves A-set-page, S2-route-5, S2-route-8.
func TestRoutesAndUnknownPaths(t *testing.T) {
	h := newService(t, dbtest.Open(t, db.SQLite))
	for target, status := range map[string]int{
		"/": 200, "/gallery": 200, "/gallery/": 200, "/gallery/mural": 200, "/gallery/sculpture": 200, "/politica-privacidade": 200,
		"/admin": 200, "/admin/auth": 200, "/admin/products": 200, "/admin/reviews": 200, "/admin/cover-images": 200, "/admin/contact-messages": 200,
		"/admin/settings": 200, "/admin/account": 200, "/admin/guide": 200,
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

// Proves P-found-hostile, P-drawn-hostile.
func TestBootDataCannotBreakOutOfItsElement(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		attack := `</script><img src=x onerror=alert(1)> & "Ana" <!--` + "\u2028"
		hostile := settings.Site{Name: attack, Email: "a@b.pt", Texts: settings.SiteTexts{EN: settings.Texts{AboutTitle: attack}, PT: settings.Texts{TrustedBy: attack}}}
		if err := settingstest.SaveSite(t.Context(), d, hostile, time.Now()); err != nil {
			t.Fatal(err)
		}
		body := get(newService(t, d), "GET", "/?lang=pt").Body.String()
		if strings.Contains(body, "<img") || strings.Count(body, "</script>") != 2 || !strings.Contains(body, `<html lang="pt"`) {
			t.Fatalf("got %s", body)
		}
		_, rest, _ := strings.Cut(body, `id="boot">`)
		data, _, _ := strings.Cut(rest, "</script>")
		var b struct {
			bootData
			Queries json.RawMessage `json:"queries"` // which are only written
		}
		if err := json.Unmarshal([]byte(data), &b); err != nil {
			t.Fatal(err)
		}
		if b.Site.Name != attack || !reflect.DeepEqual(b.Site.Texts, hostile.Texts) || b.Language != "pt" || b.Today != "2026-11-21" || b.AnonKey != "key" || b.APIURL != "https://a.example" {
			t.Errorf("got %+v", b)
		}
	})
}

func TestBootDescribesThePortrait(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, err := newWithDefaults(d, built, Config{DescribePictures: func(_ context.Context, addresses []string) (map[string]json.RawMessage, error) {
			return map[string]json.RawMessage{addresses[0]: json.RawMessage(`{"v":"</script>"}`)}, nil
		}}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		h := httpx.Handle(WriteError, s.Page)
		if body := get(h, "GET", "/").Body.String(); strings.Contains(body, `"media"`) {
			t.Errorf("without a portrait: %s", body)
		}
		if err := settingstest.SaveSite(t.Context(), d, settings.Site{Portrait: "/p.jpg"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		body := get(h, "GET", "/").Body.String()
		if !strings.Contains(body, `"media":{"/p.jpg":{"v":"\u003c/script\u003e"}}`) {
			t.Error(body)
		}
	})
}

// Proves A-set-secret.
//
// Every page has the public part of the settings immediately after a change, and nothing of the rest.
func TestPagesContainOnlyThePublicSettings(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		site := json.RawMessage(`{"name":"Anil","privacy":{"use":"Nada mais."},"texts":{"pt":{"about.title":"Paredes"}}}`) // the other fields are those of the seed
		for key, value := range map[string]any{
			settings.SiteKey: site, "notice.email": []string{"eu@alvor.example"}, "notice.webhook": "https://hooks.example/new?key=1", "thanks.enabled": true, "guide": "done",
		} {
			if err := settings.Insert(t.Context(), d, key, value, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		body := get(newService(t, d), "GET", "/").Body.String()
		for text, want := range map[string]bool{"Anil": true, "Paredes": true, "Nada mais": true, "hooks.example": false, "eu@alvor": false, "notice": false, "thanks": false, "guide": false} {
			if strings.Contains(body, text) != want {
				t.Errorf("%s in the page: %v", text, !want)
			}
		}
		if !strings.Contains(body, `"about.title":"Paredes"`) || !strings.Contains(body, `"privacySince":"2026-11-21"`) {
			t.Errorf("got %s", body)
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

func TestModulesOfTheViewArePreloaded(t *testing.T) {
	h := newService(t, dbtest.Open(t, db.SQLite))
	link := regexp.MustCompile(`<link rel="modulepreload" crossorigin href="/assets/([^"]+)\.js">`)
	for target, want := range map[string]string{
		"/":                              "en-4d",
		"/?lang=pt":                      "pt-5e",
		"/gallery":                       "en-4d gallery-7a grid-3c",
		"/gallery/mural?lang=pt":         "pt-5e gallery-7a grid-3c",
		"/politica-privacidade/?lang=pt": "pt-5e privacy-8b privacy-6f",
		"/admin":                         "en-4d",
		"/nope":                          "en-4d",
	} {
		var got []string
		for _, m := range link.FindAllStringSubmatch(get(h, "GET", target).Body.String(), -1) {
			got = append(got, m[1])
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", target, got, want)
		}
	}
}

func TestAManifestThatLacksAPageIsAnError(t *testing.T) {
	for _, text := range []string{"", "{}", "[", `{"src/locales/en.json": {"file": "a"}}`} {
		dist := fstest.MapFS{"index.html": built["index.html"], manifestFile: {Data: []byte(text)}}
		if _, err := newWithDefaults(dbtest.Open(t, db.SQLite), dist, Config{}, time.Now); err == nil || !strings.Contains(err.Error(), "manifest") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSiteThatWasNotBuiltIsAnError(t *testing.T) {
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), fstest.MapFS{}, Config{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if rec := get(httpx.Handle(WriteError, s.Page), "GET", "/"); rec.Code != 503 || !strings.Contains(rec.Body.String(), "make build") {
		t.Errorf("got %d %s", rec.Code, rec.Body)
	}
	if _, err := newWithDefaults(dbtest.Open(t, db.SQLite), fstest.MapFS{"index.html": {Data: []byte("<html>")}}, Config{}, time.Now); err == nil {
		t.Error("a shell without its marks was accepted")
	}
}

// Proves AM-live-4.
//
// TestPolicyAllowsTheBackendsSockets matters because 'self' allows sockets of the same origin only.
func TestPolicyAllowsTheBackendsSockets(t *testing.T) {
	policy := contentSecurityPolicy(Config{SiteURL: "https://a.example", APIURL: "https://api.example"})
	if !strings.Contains(policy, "connect-src 'self' https://api.example wss://api.example;") {
		t.Errorf("%s", policy)
	}
	if policy = contentSecurityPolicy(Config{SiteURL: "https://a.example", APIURL: "https://a.example"}); !strings.Contains(policy, "connect-src 'self';") {
		t.Errorf("%s", policy)
	}
}
