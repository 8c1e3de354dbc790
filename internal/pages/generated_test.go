package pages

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
)

// generatedFiles returns the handlers of generated files by URL.
func (s *Service) generatedFiles() map[string]httpx.Handler {
	return map[string]httpx.Handler{
		"/robots.txt": s.Robots, "/sitemap.xml": s.Sitemap, "/feed.xml": s.Feed, "/feed.xml?lang=pt": s.Feed, "/site.webmanifest": s.WebManifest, "/site.webmanifest?lang=pt": s.WebManifest,
	}
}

// Proves P-found-validators.
func TestGeneratedFilesHaveValidators(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		content := newFakeContent()
		s := newServiceWith(t, d, content)
		for target, handler := range s.generatedFiles() {
			first := request(t, handler, http.MethodGet, target)
			h := first.Header()
			if first.Code != 200 || !strings.HasPrefix(h.Get("ETag"), `W/"`) || h.Get("Last-Modified") == "" || h.Get("X-Content-Type-Options") != "nosniff" ||
				h.Get("Content-Security-Policy") != "default-src 'none'" || h.Get("Cache-Control") != "no-cache" || first.Body.Len() == 0 {
				t.Errorf("%s: %d %v", target, first.Code, h)
			}
			for _, header := range [][2]string{{"If-None-Match", h.Get("ETag")}, {"If-Modified-Since", h.Get("Last-Modified")}} {
				if again := request(t, handler, http.MethodGet, target, header[0], header[1]); again.Code != 304 || again.Body.Len() != 0 || again.Header().Get("ETag") != h.Get("ETag") {
					t.Errorf("%s with %s: %d", target, header[0], again.Code)
				}
			}
			if head := request(t, handler, http.MethodHead, target); head.Code != 200 || head.Body.Len() != 0 || head.Header().Get("Content-Length") != h.Get("Content-Length") || head.Header().Get("ETag") != h.Get("ETag") {
				t.Errorf("HEAD %s: %d %v", target, head.Code, head.Header())
			}
			for _, method := range []string{"POST", "PUT", "DELETE", "OPTIONS"} {
				if rec := request(t, handler, method, target); rec.Code != 405 || rec.Header().Get("Allow") != "GET, HEAD" {
					t.Errorf("%s %s: %d %v", method, target, rec.Code, rec.Header())
				}
			}
		}
		// A changed file has another entity tag.
		before := request(t, s.Feed, http.MethodGet, "/feed.xml").Header()
		content.works[0].Title = "Another title"
		after := request(t, s.Feed, http.MethodGet, "/feed.xml", "If-None-Match", before.Get("ETag"))
		if after.Code != 200 || !strings.Contains(after.Body.String(), "Another title") || after.Header().Get("Last-Modified") <= before.Get("Last-Modified") {
			t.Errorf("%d, %q and %q", after.Code, before, after.Header())
		}
	})
}

// Proves P-found-bounded.
//
// A thousand requests in a second cause one query for the works.
func TestGeneratedFilesAreMadeOnceASecond(t *testing.T) {
	content, now := newFakeContent(), day
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), built, Config{SiteURL: "https://a.example", Content: content.content()}, func() time.Time { return now })
	if err != nil {
		t.Fatal(err)
	}
	fetch(t, s.Sitemap, "/sitemap.xml")
	once := content.queries
	for range 50 {
		fetch(t, s.Sitemap, "/sitemap.xml?x=1")
	}
	if content.queries != once || once == 0 {
		t.Errorf("%d questions, then %d", once, content.queries)
	}
	content.works[0].Type = "digital"
	if now = now.Add(generatedLife); !strings.Contains(fetch(t, s.Sitemap, "/sitemap.xml"), "/gallery/digital?art="+workID(1)) {
		t.Error("the change does not show after a second")
	}
}

func TestWorksThatCannotBeReadAreAnError(t *testing.T) {
	content := newFakeContent()
	content.covers = []string{"["}
	s := newServiceWith(t, dbtest.Open(t, db.SQLite), content)
	for target, handler := range map[string]httpx.Handler{"/": s.Page, "/sitemap.xml": s.Sitemap, "/site.webmanifest": s.WebManifest} {
		if rec := request(t, handler, http.MethodGet, target); rec.Code != 500 || strings.Contains(rec.Body.String(), "cover_images") {
			t.Errorf("%s: %d %s", target, rec.Code, rec.Body)
		}
	}
	content.covers = nil
	if rec := request(t, s.Page, http.MethodGet, "/"); rec.Code != 200 { // errors are not cached
		t.Error(rec.Code, rec.Body)
	}
}

// Proves P-found-bounded.
//
// A sitemap with many parts of megabytes each must not fill the memory.
func TestOnlyTheLastLargeFileIsCached(t *testing.T) {
	var f generatedFiles
	now := func() time.Time { return day }
	for _, name := range []string{"feed en", "sitemap 1", "sitemap 2", "sitemap 3"} {
		size := 100
		if strings.HasPrefix(name, "sitemap") {
			size = largeFile
		}
		g, err := f.load(t.Context(), name, 1, now, func(context.Context) ([]byte, error) { return make([]byte, size), nil })
		if err != nil || len(g.body) != size {
			t.Errorf("%s: %d bytes, %v", name, len(g.body), err)
		}
	}
	for name, cached := range map[string]bool{"feed en": true, "sitemap 1": false, "sitemap 2": false, "sitemap 3": true} {
		if g := f.files[name]; (g.body != nil) != cached || g.etag == "" {
			t.Errorf("%s: %d bytes cached", name, len(g.body))
		}
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	f.lockFor("sitemap") <- struct{}{} // another caller is making it
	if _, err := f.load(gone, "sitemap 1", 1, now, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled caller still waits: %v", err)
	}
}
