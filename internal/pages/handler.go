// Package pages serves the site: the built files, and for every page address the shell with its boot data.
package pages

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/pages/render"
)

// Config says how the world reaches the site and its backend, and with which public key. Describe tells what is known of
// pictures by their addresses, as the computed column media of the tables does; nil knows nothing. Content reads the works.
type Config struct {
	SiteURL, APIURL, AnonKey string
	Log                      *slog.Logger // nil says nothing

	// Version is the content's, which pages are kept by; nil for one that is known to the pages alone.
	Version *content.Version

	Describe func(ctx context.Context, addresses []string) (map[string]json.RawMessage, error)
	Content  Content
}

// Service answers every address that no other surface owns.
type Service struct {
	db     *db.DB
	cfg    Config
	now    func() time.Time
	shell  []byte // index.html as built
	built  manifest
	assets map[string]*file // by path
	kept   *keeper

	pageHeaders []header
	reports     reportLog
	renderer    *render.Renderer // nil when the site was built without its script for the server
	files       files
	mappedWorks int64 // in a file of the sitemap
}

// ErrNotBuilt is answered when the program was compiled without the site.
var ErrNotBuilt = apperr.New(http.StatusServiceUnavailable, "site_not_built", "This program was built without its site. Run make build.")

// New reads the built site; pages are kept for as long as the version of the content stands. A site that was not built is an error at the first request, not here, so
// that the backend can be worked on alone.
func New(d *db.DB, dist fs.FS, cfg Config, now func() time.Time) (*Service, error) {
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Version == nil {
		cfg.Version = content.NewVersion(d, cfg.Log)
	}
	s := &Service{db: d, cfg: cfg, now: now, kept: newKeeper(cfg.Version), pageHeaders: pageHeaders(cfg), mappedWorks: mappedWorks}
	var err error
	if s.assets, err = readFiles(dist); err != nil {
		return nil, err
	}
	shell, err := fs.ReadFile(dist, "index.html")
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return s, nil
	case err != nil:
		return nil, err
	}
	for _, mark := range []string{langMark, titleMark, bootMark, headEnd, rootMark} {
		if bytes.Count(shell, []byte(mark)) != 1 {
			return nil, fmt.Errorf("index.html must hold %q exactly once", mark)
		}
	}
	if s.shell, err = s.withStyles(shell); err != nil {
		return nil, err
	}
	if err := s.useBundle(dist); err != nil {
		return nil, err
	}
	s.built, err = readManifest(dist)
	return s, err
}

// contentSecurityPolicy allows scripts from this site alone. Styles stay open because the carousel, the dialogs and the
// toasts write style attributes at run time.
func contentSecurityPolicy(cfg Config) string {
	api, live := "", "" // 'self' means this origin's sockets too, another origin's need a word of their own
	if cfg.APIURL != cfg.SiteURL {
		api, live = " "+cfg.APIURL, " ws"+strings.TrimPrefix(cfg.APIURL, "http")
	}
	reportTo := ""
	if secure(cfg) { // browsers know endpoints of secure sites alone, and Chromium forgets report-uri where there is a report-to
		reportTo = "; report-to csp"
	}
	return "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; font-src 'self'; manifest-src 'self'; " +
		"img-src 'self' data: blob:" + api + "; media-src 'self' blob:" + api + "; connect-src 'self'" + api + live + "; " +
		"base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'; report-uri " + ReportPath + reportTo
}

// Page answers a page address: 200 for the routes of spec §2, 404 with the same page for all others.
func (s *Service) Page(w http.ResponseWriter, r *http.Request) error {
	if r.Method != http.MethodGet && r.Method != http.MethodHead {
		w.Header().Set("Allow", "GET, HEAD")
		return apperr.New(http.StatusMethodNotAllowed, "method_not_allowed", "Method not allowed")
	}
	if served, err := s.asset(w, r); served || err != nil {
		return err
	}
	if s.shell == nil {
		return ErrNotBuilt
	}
	v := viewOf(r.URL)
	page, err := s.page(r.Context(), v, func() { s.hint(w, r, v) })
	if err != nil {
		return err
	}
	return s.write(w, r, v, page)
}

func (s *Service) write(w http.ResponseWriter, r *http.Request, v view, page *body) error {
	h := w.Header()
	for i := range s.pageHeaders {
		h[s.pageHeaders[i].name] = s.pageHeaders[i].values
	}
	return page.write(w, r, v.status)
}

// header is a line that all pages have. The values are made once, and never changed.
type header struct {
	name   string // in canonical form
	values []string
}

func secure(cfg Config) bool { return strings.HasPrefix(cfg.SiteURL, "https://") }

func pageHeaders(cfg Config) []header {
	h := http.Header{}
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-cache") // asked for again each time, and mostly answered with 304
	h.Set("Content-Security-Policy", contentSecurityPolicy(cfg))
	if secure(cfg) {
		h.Set("Reporting-Endpoints", `csp="`+ReportPath+`"`)
	}
	harden(h)
	var out []header
	for name, values := range h {
		out = append(out, header{name, slices.Clip(values)})
	}
	return out
}

// harden sets what every page says besides its own policy.
func harden(h http.Header) {
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "strict-origin-when-cross-origin")
	h.Set("X-Frame-Options", "DENY") // frame-ancestors, for what is older than it
	h.Set("Permissions-Policy", "camera=(), microphone=(), geolocation=()")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
}

// WriteError answers in plain words: whoever sees it has no page to show it in.
func WriteError(w http.ResponseWriter, r *http.Request, e *apperr.Error) {
	w.Header().Set("X-Content-Type-Options", "nosniff")
	http.Error(w, e.Message+"\nRequest "+httpx.RequestID(r.Context()), e.Status)
}
