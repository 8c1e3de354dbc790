package pages

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
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
	"index.html":       {Data: []byte(`<!doctype html>` + langMark + `><head>` + titleMark + bootMark + `</head><body>` + rootMark + `</body></html>`)},
	"assets/app-1a.js": {Data: []byte("export {}")},
	".vite/manifest.json": {Data: []byte(`{
		"index.html": {"file": "assets/app-1a.js", "imports": ["_base.js"]},
		"_base.js": {"file": "assets/base-2b.js"},
		"_wall.js": {"file": "assets/wall-3c.js", "imports": ["_base.js"]},
		"src/start.ts": {"file": "assets/start-9c.js"},
		"src/locales/en.json": {"file": "assets/en-4d.js"},
		"src/locales/pt.json": {"file": "assets/pt-5e.js"},
		"src/locales/privacy.json": {"file": "assets/privacy-6f.js"},
		"src/app/routes/public/gallery.tsx": {"file": "assets/gallery-7a.js", "imports": ["index.html", "_wall.js", "_base.js"]},
		"src/app/routes/public/privacy.tsx": {"file": "assets/privacy-8b.js", "imports": ["index.html"]}
	}`)},
	"favicon.svg":   {Data: []byte("<svg/>")},
	".gitkeep":      {},
	"fonts/a.woff2": {Data: []byte("wOF2")},
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
		"/admin/settings": 200, "/admin/account": 200,
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
		attack := `</script><img src=x onerror=alert(1)> & "Ana" <!--` + "\u2028"
		hostile := Site{Name: attack, Email: "a@b.pt", Texts: SiteTexts{EN: Texts{AboutTitle: attack}, PT: Texts{TrustedBy: attack}}}
		if err := SaveSite(t.Context(), d, hostile, time.Now()); err != nil {
			t.Fatal(err)
		}
		body := get(newService(t, d), "GET", "/?lang=pt").Body.String()
		if strings.Contains(body, "<img") || strings.Count(body, "</script>") != 2 || !strings.Contains(body, `<html lang="pt"`) {
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

func TestThePortraitComesWithWhatIsKnownOfIt(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, err := New(d, built, Config{Describe: func(_ context.Context, addresses []string) (map[string]json.RawMessage, error) {
			return map[string]json.RawMessage{addresses[0]: json.RawMessage(`{"v":"</script>"}`)}, nil
		}}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		h := httpx.Handle(WriteError, s.Page)
		if body := get(h, "GET", "/").Body.String(); strings.Contains(body, `"media"`) {
			t.Errorf("without a portrait: %s", body)
		}
		if err := SaveSite(t.Context(), d, Site{Portrait: "/p.jpg"}, time.Now()); err != nil {
			t.Fatal(err)
		}
		body := get(h, "GET", "/").Body.String()
		if !strings.Contains(body, `"media":{"/p.jpg":{"v":"\u003c/script\u003e"}}`) {
			t.Error(body)
		}
	})
}

func TestSiteSettingsAreSeededAndReplaced(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		got, err := LoadSite(t.Context(), d)
		if err != nil || got.Name != "Ateliê" || got.PrivacySince != "2026-11-21" || got.Email+got.Instagram+got.Facebook+got.WhatsApp+got.Portrait != "" {
			t.Fatalf("%+v, %v", got, err)
		}
		for language, texts := range map[string]Texts{"en": got.Texts.EN, "pt": got.Texts.PT} {
			v := reflect.ValueOf(texts)
			for i := range v.NumField() {
				if v.Field(i).String() == "" {
					t.Errorf("%s: no seed text for %s", language, v.Type().Field(i).Tag.Get("json"))
				}
			}
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

// A row as the demo or an earlier version wrote it names few fields; a text that the owner cleared stays cleared.
func TestSettingsAreLaidOverTheSeed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		seeded, err := LoadSite(t.Context(), d)
		if err != nil {
			t.Fatal(err)
		}
		row := `{"name":"Alvor","texts":{"pt":{"about.title":"Pinto à mão","contact.responseTime":""}}}`
		if _, err := d.Exec(t.Context(), "insert into site_settings (key, value, updated_at) values ($1, $2, $3)", siteKey, row, time.Now()); err != nil {
			t.Fatal(err)
		}
		want := seeded
		want.Name, want.Texts.PT.AboutTitle, want.Texts.PT.ContactResponseTime = "Alvor", "Pinto à mão", ""
		got, err := LoadSite(t.Context(), d)
		if err != nil || got != want {
			t.Fatalf("%+v, %v", got, err)
		}
		// Saving and loading again changes nothing, cleared texts included.
		if err := SaveSite(t.Context(), d, got, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadSite(t.Context(), d); err != nil || got != want {
			t.Errorf("%+v, %v", got, err)
		}
		if body := get(newService(t, d), "GET", "/").Body.String(); !strings.Contains(body, `"about.title":"Pinto à mão"`) || !strings.Contains(body, `"privacySince":"2026-11-21"`) {
			t.Errorf("got %s", body)
		}
	})
}

func TestSettingsThatCannotBeReadAreAnError(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if _, err := d.Exec(t.Context(), "insert into site_settings (key, value, updated_at) values ($1, $2, $3)", siteKey, `{"texts":[]}`, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got, err := LoadSite(t.Context(), d); err == nil || !strings.Contains(err.Error(), "site settings") {
			t.Errorf("%+v, %v", got, err)
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

func TestWhatTheEntryWaitsForIsPreloaded(t *testing.T) {
	h := newService(t, dbtest.Open(t, db.SQLite))
	link := regexp.MustCompile(`<link rel="modulepreload" crossorigin href="/assets/([^"]+)\.js">`)
	for target, want := range map[string]string{
		"/":                              "en-4d",
		"/?lang=pt":                      "pt-5e",
		"/gallery":                       "en-4d gallery-7a wall-3c",
		"/gallery/mural?lang=pt":         "pt-5e gallery-7a wall-3c",
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
		dist := fstest.MapFS{"index.html": built["index.html"], ".vite/manifest.json": {Data: []byte(text)}}
		if _, err := New(dbtest.Open(t, db.SQLite), dist, Config{}, time.Now); err == nil || !strings.Contains(err.Error(), "manifest") {
			t.Errorf("%q: %v", text, err)
		}
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

// TestTheBackendsSocketsAreAllowed: 'self' means sockets of the same origin alone.
func TestTheBackendsSocketsAreAllowed(t *testing.T) {
	policy := contentSecurityPolicy(Config{SiteURL: "https://a.example", APIURL: "https://api.example"})
	if !strings.Contains(policy, "connect-src 'self' https://api.example wss://api.example;") {
		t.Errorf("%s", policy)
	}
	if policy = contentSecurityPolicy(Config{SiteURL: "https://a.example", APIURL: "https://a.example"}); !strings.Contains(policy, "connect-src 'self';") {
		t.Errorf("%s", policy)
	}
}
