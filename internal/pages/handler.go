// Package pages serves the site to browsers: its pages, which it renders on the server and caches, the files of the site's build,
// and the generated files (sitemap, feed, robots.txt, web app manifest).
package pages

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"maps"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/pages/render"
)

// Config contains the settings and functions that the pages get from the rest of the program.
type Config struct {
	SiteURL, APIURL string // public URLs of the site and of its backend
	Log             *slog.Logger

	// AnonKey returns the current anon key (the public API key), which pages contain. A new key must raise the content version, so that no
	// cached page contains the old key.
	AnonKey func(context.Context) (string, error)

	SecondFactor bool // whether owners must sign in with a second factor
	BackupDays   int  // the maximum number of days for which backups contain deleted data; 0 without backups

	Version *content.Version // the content version: a number that each change of visible content raises

	// DescribePictures returns descriptions of pictures by their URLs, as in the column media of the rows that /rest/v1 returns.
	DescribePictures func(ctx context.Context, urls []string) (map[string]json.RawMessage, error)
	Content          ContentReader // reads works, reviews and covers
}

// Service handles all URLs that do not belong to the backend (/auth/v1, /rest/v1 …).
type Service struct {
	db     *db.DB
	cfg    Config
	now    func() time.Time
	assets map[string]*file // the files of the build, by path
	cache  *pageCache

	// Parts of the built site, all zero if the program was compiled without the site.
	manifest pageManifest
	template pageTemplate
	styles   string           // style element with the site's style sheet
	renderer *render.Renderer // nil if the build has no script for the server

	sitePages atomic.Pointer[sitePages] // the pages with the owner's choices for the gallery; nil before the first request

	pageHeaders  http.Header   // response headers of every page; all responses share the slices of values, so nothing may change them
	reports      reportLimiter // limits the reports of browsers that are logged
	generated    generatedFiles
	sitemapWorks int64 // maximum number of works in one file of the sitemap; the constant of this name except in tests
}

// ErrNotBuilt is the error for requests for pages if the program was compiled without the site.
var ErrNotBuilt = apperr.New(http.StatusServiceUnavailable, "site_not_built", "This program was built without its site. Run make build.")

// New reads the built site from dist and returns the service. If the site was not built, New succeeds and requests for pages
// get ErrNotBuilt, so that the backend can be developed without the site.
func New(d *db.DB, dist fs.FS, cfg Config, now func() time.Time) (*Service, error) {
	s := &Service{db: d, cfg: cfg, now: now, cache: newPageCache(cfg.Version), pageHeaders: newPageHeaders(cfg), sitemapWorks: sitemapWorks}
	var err error
	if s.assets, err = readFiles(dist); err != nil {
		return nil, err
	}
	html, err := fs.ReadFile(dist, "index.html")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, err
	}
	if s.template, err = parseTemplate(html); err != nil {
		return nil, err
	}
	if s.manifest, err = readPageManifest(dist); err != nil {
		return nil, err
	}
	if s.styles, err = styleElement(s.assets, s.manifest.Sheet); err != nil {
		return nil, err
	}
	s.renderer, err = newRenderer(dist)
	return s, err
}

// contentSecurityPolicy returns the policy of pages. It allows scripts only from this site. It allows inline styles, because
// the carousel, the dialogs and the toasts set style attributes at run time.
func contentSecurityPolicy(cfg Config) string {
	api, live := "", "" // 'self' includes the WebSockets of this origin; another origin must be listed with ws: or wss:
	if cfg.APIURL != cfg.SiteURL {
		api, live = " "+cfg.APIURL, " ws"+strings.TrimPrefix(cfg.APIURL, "http")
	}
	reportTo := ""
	if usesHTTPS(cfg) { // browsers use report-to only on HTTPS sites; there Chromium ignores report-uri
		reportTo = "; report-to csp"
	}
	return "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; manifest-src 'self'; " +
		"img-src 'self' data: blob:" + api + "; media-src 'self' blob:" + api + "; connect-src 'self'" + api + live + "; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; report-uri " + ReportPath + reportTo
}

// Page sends a file of the built site, or a page: 200 for the paths of the site's router, 404 for unknown paths, 404 or 410 for
// works and series that do not exist.
func (s *Service) Page(w http.ResponseWriter, r *http.Request) error {
	if err := allowRead(w, r); err != nil {
		return err
	}
	if served, err := s.serveAsset(w, r); served || err != nil {
		return err
	}
	if s.template == nil {
		return ErrNotBuilt
	}
	site, err := s.pagesOf(r.Context())
	if err != nil {
		return err
	}
	requested := site.parseView(r.URL)
	if at, age, err := s.cache.version.Serving(r.Context()); err == nil && age > 0 {
		if b, ok := s.findOutagePage(at, requested, age); ok {
			httpx.MarkStale(w, r, age)
			s.cache.lookups.Record(true)
			return s.writePage(w, r, requested, b)
		}
	}
	// One version for the whole request: a page that is made after a later change, from a view that was located before, is not cached.
	at, err := s.cache.version.Current(r.Context())
	if err != nil {
		return err
	}
	v, redirect, err := s.locateSeries(r.Context(), at, requested)
	status := http.StatusMovedPermanently
	if err == nil && redirect == "" {
		v, redirect, err = s.locateWork(r.Context(), at, v)
		status = http.StatusFound
	}
	if err != nil {
		return err
	}
	if redirect != "" {
		w.Header().Set("Cache-Control", "no-cache") // browsers ask again each time: the owner can give an old URL to something else
		http.Redirect(w, r, redirect, status)
		return nil
	}
	if v, err = s.locateReviews(r.Context(), at, v); err != nil {
		return err
	}
	waited := false
	page, err := s.loadPage(r.Context(), at, v, false, func() {
		waited = true
		s.sendEarlyHints(w, r, v)
	})
	if err != nil {
		return err
	}
	s.cache.lookups.Record(!waited)
	return s.writePage(w, r, v, page)
}

func (s *Service) writePage(w http.ResponseWriter, r *http.Request, v view, page *body) error {
	maps.Copy(w.Header(), s.pageHeaders)
	return page.write(w, r, v.status)
}

func usesHTTPS(cfg Config) bool { return strings.HasPrefix(cfg.SiteURL, "https://") }

func newPageHeaders(cfg Config) http.Header {
	h := http.Header{}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache") // the browser revalidates each time and mostly gets 304
	h.Set("Content-Security-Policy", contentSecurityPolicy(cfg))
	if usesHTTPS(cfg) {
		h.Set("Reporting-Endpoints", `csp="`+ReportPath+`"`)
	}
	harden(h)
	return h
}

// harden sets the security headers that do not depend on the page.
func harden(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	if h.Get("Referrer-Policy") == "" { // pages with a secret URL have set a stricter one
		h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	}
	h.Set("X-Frame-Options", "DENY") // for browsers that do not know frame-ancestors
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// WriteError writes an error in plain text. If the database cannot be reached or takes too long, browsers get a page that needs no
// database.
func WriteError(w http.ResponseWriter, r *http.Request, e *apperr.Error) {
	unavailable := e.Code == httpx.ErrNoDatabase.Code || e.Code == apperr.Timeout.Code
	if unavailable && strings.Contains(r.Header.Get("Accept"), "text/html") {
		writeUnavailable(w, r, e.Status)
		return
	}
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.Error(w, e.Message+"\nRequest "+httpx.RequestID(r.Context()), e.Status)
}
