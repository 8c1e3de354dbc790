package pages

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
)

// newCountingService returns a service with its handler. made returns how often the service has read the clock: once for its key, and once for
// each page that it has made.
func newCountingService(t *testing.T, d *db.DB, now func() time.Time) (s *Service, h http.Handler, made func() int) {
	t.Helper()
	var n atomic.Int64
	works := &fakeContent{works: []work{{ID: testWork, Title: "A", Type: "mural"}}}
	s, err := newWithDefaults(d, built, Config{
		SiteURL: "https://a.example", APIURL: "https://a.example", AnonKey: testKey, Version: content.NewVersion(d, slog.New(slog.DiscardHandler)), Content: works.content(),
	}, func() time.Time { n.Add(1); return now() })
	if err != nil {
		t.Fatal(err)
	}
	return s, httpx.Handle(WriteError, s.Page), func() int { return int(n.Load()) }
}

// sendRequest requests a page. headers are pairs of a name and a value.
func sendRequest(h http.Handler, target string, headers ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequest("GET", target, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	rec := httptest.NewRecorder()
	h.ServeHTTP(rec, r)
	return rec
}

const testWork = "0b5e9dc4-2f4e-4c55-9d2d-0d8f8f5f0a11"

// cachedPages returns the number of cached pages.
func (s *Service) cachedPages(t *testing.T, targets ...string) (n int) {
	t.Helper()
	version, err := s.cache.version.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	seen := map[pageKey]bool{}
	for _, target := range targets {
		site, err := s.pagesOf(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		key := s.keyOf(site.parseView(httptest.NewRequest("GET", target, nil).URL))
		if _, ok := s.cache.pages.Get(version, key); ok && !seen[key] {
			seen[key] = true
			n++
		}
	}
	return n
}

// Proves P-found-gone, KEPT-page-2.
//
// TestURLsWithTheSameViewShareAPage requests URLs that differ only in parts that do not affect the page.
func TestURLsWithTheSameViewShareAPage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, h, _ := newCountingService(t, d, time.Now)
		var targets []string
		for i := range 50 {
			unknown := fmt.Sprintf("%08x-2f4e-4c55-9d2d-0d8f8f5f0a11", i)
			targets = append(targets, fmt.Sprintf("/?utm=%d", i), fmt.Sprintf("/gallery?art=%s", unknown), fmt.Sprintf("/gallery/kind-%d", i), fmt.Sprintf("/nope/%d", i), fmt.Sprintf("/admin/%d", i),
				fmt.Sprintf("/gallery/mural/?art=%d&lang=xx", i))
		}
		targets = append(targets, "/gallery?art="+testWork, "/gallery?art="+strings.ToUpper(testWork), "/gallery?art="+testWork+"&lang=pt")
		for _, target := range targets {
			if rec := sendRequest(h, target); rec.Code >= 500 {
				t.Fatalf("%s: %d", target, rec.Code)
			}
		}
		// Home, the gallery, that of murals without the requested work, the page for missing URLs, the admin page, and the work in two
		// languages. Unknown works are queried each time, and share one more page.
		if n := s.cachedPages(t, targets...); n != 7 {
			t.Errorf("%d pages are cached", n)
		}
	})
}

// Proves KEPT-page-1.
//
// TestPageIsMadeOncePerVersionDayAndLanguage tests requests and Warm.
func TestPageIsMadeOncePerVersionDayAndLanguage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		day := time.Date(2026, 11, 21, 23, 0, 0, 0, time.UTC)
		s, h, clock := newCountingService(t, d, func() time.Time { return day })
		made := func(target string) bool {
			before := clock()
			if rec := sendRequest(h, target); rec.Code != 200 {
				t.Fatalf("%s: %d", target, rec.Code)
			}
			return clock()-before == 2
		}
		if !made("/") || made("/") || made("/?utm=1") || !made("/?lang=pt") {
			t.Error("not once for each language")
		}
		if err := settingstest.SaveSite(t.Context(), d, settings.Site{Name: "Alvor"}, day); err != nil {
			t.Fatal(err)
		}
		if rec := sendRequest(h, "/"); !strings.Contains(rec.Body.String(), "<title>Alvor</title>") {
			t.Error("the old page after a change")
		}
		day = day.Add(2 * time.Hour)
		if rec := sendRequest(h, "/"); !strings.Contains(rec.Body.String(), "2026-11-22") {
			t.Error("yesterday's page")
		}

		s.cache.recompressDelay = time.Millisecond
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() { s.cache.version.Run(ctx); ended <- struct{}{} }()
		go func() { s.Warm(ctx); ended <- struct{}{} }()
		defer func() { stop(); <-ended; <-ended }()
		if err := settingstest.SaveSite(t.Context(), d, settings.Site{Name: "Sagres"}, day); err != nil {
			t.Fatal(err)
		}
		var all []string
		site, err := s.pagesOf(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, path := range site.serverRenderedPaths() {
			all = append(all, path, path+"?lang=pt")
		}
		for begun := time.Now(); s.cachedPages(t, all...) < len(all); time.Sleep(time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatalf("%d of %d pages were made in advance", s.cachedPages(t, all...), len(all))
			}
		}
		for begun := time.Now(); ; time.Sleep(time.Millisecond) { // until the page is made and recompressed
			version, err := s.cache.version.Current(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if b, ok := s.cache.pages.Get(version, s.keyOf(view{path: "/politica-privacidade", language: "pt", status: http.StatusOK})); ok && b.recompressed {
				break
			}
			if time.Since(begun) > time.Minute {
				t.Fatal("pages are not recompressed")
			}
		}
	})
}

// Proves KEPT-page-0.
//
// A stale page is served while the next one is made.
func TestStalePageIsServedWhileRenditionsAreRecorded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, h, _ := newCountingService(t, d, time.Now)
		sendRequest(h, "/")
		at, err := s.cache.version.Current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		s.cache.pages.Replace(at, s.keyOf(view{path: "/", language: "en", status: http.StatusOK}), newFileBody([]byte("from before"), nil))
		const object = "00000000-0000-4000-8000-000000000001"
		if _, err := d.Exec(t.Context(), "insert into storage_buckets (id, name, created_at, updated_at) values ('b', 'b', $1, $1)", time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), "insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, created_at, updated_at) values ($1, 'b', 'a.jpg', $1, 1, 'image/jpeg', 'e', '', $2, $2)", object, time.Now()); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), "insert into media (object_id, blob_id, kind, state, width, height, created_at, updated_at) values ($1, $1, 'image', 'waiting', 1, 1, $2, $2)", object, time.Now()); err != nil {
			t.Fatal(err)
		}
		if got := sendRequest(h, "/").Body.String(); got != "from before" {
			t.Errorf("a visitor has waited for %q", got)
		}
		for begun := time.Now(); s.cachedPages(t, "/") == 0; time.Sleep(time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatal("the next page was not made")
			}
		}
		if got := sendRequest(h, "/").Body.String(); got == "from before" {
			t.Error("the old page was served after a newer version")
		}
		cached := func() *body {
			at, err := s.cache.version.Current(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			b, _ := s.cache.pages.Get(at, s.keyOf(view{path: "/", language: "en", status: http.StatusOK}))
			return b
		}
		before := cached()
		s.cache.hasGarbage.Store(false)
		if _, err := d.Exec(t.Context(), "update media set width = 2"); err != nil {
			t.Fatal(err)
		}
		if cached() != nil {
			t.Error("the change was not seen")
		}
		sendRequest(h, "/")
		for begun := time.Now(); cached() == nil; time.Sleep(time.Millisecond) {
			if time.Since(begun) > time.Minute {
				t.Fatal("the page was not checked again")
			}
		}
		if cached() != before {
			t.Error("a page was made again although its content is the same")
		}
		if s.cache.hasGarbage.Load() {
			t.Error("memory would be given back, for which everybody waits, though nothing was rendered")
		}
	})
}

// Proves SENT-coding-1.
func TestEachEncodingHasItsOwnBytesAndETag(t *testing.T) {
	h := newService(t, dbtest.Open(t, db.SQLite))
	plain := sendRequest(h, "/").Body.Bytes()
	read := map[string]func(io.Reader) (io.Reader, error){
		"":   func(r io.Reader) (io.Reader, error) { return r, nil },
		"br": func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
		"zstd": func(r io.Reader) (io.Reader, error) {
			d, err := zstd.NewReader(r)
			return d, err
		},
		"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
	}
	tags := map[string]string{}
	for accepted, want := range map[string]string{
		"gzip, deflate, br, zstd": "br", "zstd, gzip": "zstd", "gzip": "gzip", "": "", "identity": "", "br;q=0, gzip;q=0.2": "gzip", "*": "br", "*;q=0": "", "br;q=0, *": "zstd", "BR": "br", "br;q=x": "",
	} {
		rec := sendRequest(h, "/", "Accept-Encoding", accepted)
		coding, tag := rec.Header().Get("Content-Encoding"), rec.Header().Get("ETag")
		if coding != want || rec.Header().Get("Vary") != "Accept-Encoding" || rec.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("%q: %q, %v", accepted, coding, rec.Header())
		}
		r, err := read[coding](rec.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%q: other bytes, %v", accepted, err)
		}
		if other, ok := tags[tag]; ok && other != coding || tag == "" {
			t.Errorf("%q and %q share the tag %s", other, coding, tag)
		}
		tags[tag] = coding
		for known, status := range map[string]int{tag: 304, "W/" + tag: 304, `"x", ` + tag: 304, "*": 304, `"x"`: 200, "": 200} {
			rec := sendRequest(h, "/", "Accept-Encoding", accepted, "If-None-Match", known)
			if rec.Code != status || (status == 304 && (rec.Body.Len() != 0 || rec.Header().Get("ETag") != tag || rec.Header().Get("Content-Encoding")+rec.Header().Get("Content-Length") != "")) {
				t.Errorf("%q knows %s: %d %v", accepted, known, rec.Code, rec.Header())
			}
		}
	}
	if rec := sendRequest(h, "/nope", "If-None-Match", "*"); rec.Code != 404 || rec.Body.Len() == 0 || rec.Header().Get("ETag") != "" {
		t.Errorf("an unknown address: %d %v", rec.Code, rec.Header())
	}
}

// Proves SENT-coding-2.
func TestBuiltFilesAreServedAsCompressedByTheBuild(t *testing.T) {
	dist := maps.Clone(built)
	delete(dist, "assets/app-1a.js")
	text := strings.Repeat("export {}\n", 50)
	var br bytes.Buffer
	writer := brotli.NewWriter(&br)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	dist["assets/app-1a.js.br"] = &fstest.MapFile{Data: br.Bytes()}
	dist["assets/damaged.js.br"] = &fstest.MapFile{Data: []byte("no form of anything")}
	s, err := newWithDefaults(dbtest.Open(t, db.SQLite), dist, Config{}, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	h := httpx.Handle(WriteError, s.Page)
	rec := sendRequest(h, "/assets/app-1a.js", "Accept-Encoding", "gzip, br")
	if rec.Body.String() != br.String() || rec.Header().Get("Content-Encoding") != "br" || rec.Header().Get("Vary") != "Accept-Encoding" || rec.Header().Get("Content-Type") != "text/javascript; charset=utf-8" {
		t.Errorf("%s %v", rec.Body, rec.Header())
	}
	if again := sendRequest(h, "/assets/app-1a.js", "Accept-Encoding", "br", "If-None-Match", rec.Header().Get("ETag")); again.Code != 304 {
		t.Errorf("known: %d", again.Code)
	}
	for coding, want := range map[string]string{"": text, "gzip": text} {
		rec := sendRequest(h, "/assets/app-1a.js", "Accept-Encoding", coding)
		got := io.Reader(rec.Body)
		if rec.Header().Get("Content-Encoding") != coding {
			t.Errorf("%q is answered in %v", coding, rec.Header())
		}
		if coding == "gzip" {
			unzipped, err := gzip.NewReader(got)
			if err != nil {
				t.Fatal(err)
			}
			got = unzipped
		}
		if body, err := io.ReadAll(got); err != nil || string(body) != want {
			t.Errorf("%q: %s, %v", coding, body, err)
		}
	}
	for target, status := range map[string]int{"/assets/app-1a.js.br": 404, "/assets/damaged.js": 500} {
		if rec := sendRequest(h, target); rec.Code != status {
			t.Errorf("%s: %d", target, rec.Code)
		}
	}
	part := sendRequest(h, "/fonts/a.woff2", "Range", "bytes=1-2", "Accept-Encoding", "br")
	if part.Code != 206 || part.Body.String() != "OF" || part.Header().Get("Content-Encoding") != "" || part.Header().Get("ETag") == "" || part.Header().Get("Content-Type") != "font/woff2" {
		t.Errorf("a part of a font: %d %q %v", part.Code, part.Body, part.Header())
	}
}
