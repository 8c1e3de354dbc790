package pages

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/i18n"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

// Proves FN-page-safe, FN-page-looks.
func TestADocumentNeedsNoScriptAndLooksLikeTheSite(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		attack := `</title><script>alert(1)</script>`
		if err := settingstest.SaveSite(t.Context(), d, settings.Site{Name: "Alvor " + attack}, time.Now()); err != nil {
			t.Fatal(err)
		}
		styled := fstest.MapFS{}
		for name, file := range built {
			styled[name] = file
		}
		m := testManifest
		m.Documents = "/assets/site-9c.css"
		styled[manifestFile] = &fstest.MapFile{Data: manifestJSON(m)}
		styled["assets/site-9c.css"] = &fstest.MapFile{Data: []byte("b{c:d}")}
		s, err := newWithDefaults(d, styled, Config{}, time.Now)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			language i18n.Language
			home     string
		}{{i18n.EN, `href="/" aria-label="Alvor `}, {i18n.PT, `href="/?lang=pt" aria-label="Alvor `}} {
			rec := httptest.NewRecorder()
			if err := s.WriteDocument(rec, httptest.NewRequest(http.MethodPost, "/x", nil), Document{Status: 400, Language: c.language, Title: "What " + attack, Main: "<h1>Wrong</h1>"}); err != nil {
				t.Fatal(err)
			}
			page := rec.Body.String()
			for _, text := range []string{`<html lang="` + string(c.language) + `">`, "<title>What &lt;/title&gt;&lt;script&gt;", c.home, `<link rel="stylesheet" href="/assets/site-9c.css">`, "<h1>Wrong</h1>", c.language.Text("page.back")} {
				if !strings.Contains(page, text) {
					t.Errorf("no %q in\n%s", text, page)
				}
			}
			if rec.Code != 400 || strings.Contains(page, "<script") || rec.Header().Get("Cache-Control") != "no-store" || rec.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Errorf("%d %v\n%s", rec.Code, rec.Header(), page)
			}
			policy := rec.Header().Get("Content-Security-Policy")
			if !strings.HasPrefix(policy, "default-src 'none';") || strings.Contains(policy, "script") || strings.Contains(policy, "unsafe") {
				t.Errorf("policy %q", policy)
			}
		}
		rec := httptest.NewRecorder()
		if err := s.WriteDocument(rec, httptest.NewRequest(http.MethodHead, "/x", nil), Document{Status: 200, Language: i18n.EN}); err != nil || rec.Body.Len() != 0 || rec.Header().Get("Content-Length") == "0" {
			t.Errorf("HEAD: %v, %d bytes, %v", err, rec.Body.Len(), rec.Header())
		}
	})
}

func TestADocumentWithoutABuiltSiteHasNoStyles(t *testing.T) {
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), fstest.MapFS{}, Config{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	rec := httptest.NewRecorder()
	if err := s.WriteDocument(rec, httptest.NewRequest(http.MethodGet, "/x", nil), Document{Status: 200, Language: i18n.PT, Title: "T", Main: "<p>M</p>"}); err != nil || !strings.Contains(rec.Body.String(), "<p>M</p>") || strings.Contains(rec.Body.String(), "stylesheet") {
		t.Errorf("%v\n%s", err, rec.Body)
	}
}
