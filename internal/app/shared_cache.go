package app

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"atelie/internal/cdn"
	"atelie/internal/files"
	"atelie/internal/functions"
	"atelie/internal/httpx"
)

// This file sets the Cache-Control headers for shared caches (a CDN, nginx) if ATELIE_CDN is on. A shared cache may store only the responses
// to requests that sharedKindOf recognizes.

// sharedKind says whether a shared cache may store the responses to a request, and how.
type sharedKind int

const (
	notShared  sharedKind = iota // no shared cache may store the response
	sharedPage                   // a page; every edit can change it
	sharedFile                   // a file; the handler's Cache-Control says for how long browsers may keep it
	sharedWebP                   // a rendition (a resized picture) whose format depends on Accept: shared only if the response is WebP
)

// Lifetimes in shared caches.
const (
	// pageLifetime is for pages. A page can be a second old when the cache stores it, because a node learns of edits on other nodes only
	// after up to a second. The cache keeps the page for one more second, so an edit is visible after two seconds. The directive
	// stale-while-revalidate is left out, because with it the cache could serve a page that it stored an hour ago.
	pageLifetime = "public, max-age=0, s-maxage=1, stale-if-error=300"
	// fileLifetime is appended to the Cache-Control of files.
	fileLifetime = ", s-maxage=1, stale-if-error=300"
	// immutableLifetime is appended for files whose URL contains the hash of the content. Such a file never changes, but it can be removed.
	// Therefore the cache revalidates it after a minute.
	immutableLifetime = ", s-maxage=60, stale-while-revalidate=60, stale-if-error=300"
	// purgedLifetime is for pages in a CDN that deletes them after a change, when the program requests it (a purge). If a purge is lost, a
	// page can be two minutes old. This lifetime is sent in headers that only CDNs read. Browsers would obey stale-while-revalidate too,
	// and cannot be purged.
	purgedLifetime = "max-age=60, stale-while-revalidate=60, stale-if-error=300"
)

// renderPath is the beginning of the path of a public rendition.
const renderPath = "/storage/v1/render/image/public/"

// privatePaths are the beginnings of the paths of the backend, the admin area, private links (at which visitors follow their messages) and
// calendars. Of the responses at these paths, only public files and renditions are shared.
var privatePaths = []string{"/auth/", "/rest/", "/storage/", "/functions/", "/realtime/", "/health/", "/admin/", functions.EnquiryPath, functions.CalendarPath}

// sharedKindOf returns the sharedKind of the responses to a request. A response to a request with a credential is never shared.
func sharedKindOf(r *http.Request) sharedKind {
	isRead := r.Method == http.MethodGet || r.Method == http.MethodHead
	hasCredential := len(r.Header["Authorization"])+len(r.Header["Apikey"])+len(r.Header["Cookie"]) > 0
	if !isRead || hasCredential {
		return notShared
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return notShared
	}
	path := r.URL.Path
	switch {
	case strings.HasPrefix(path, files.PublicPath):
		return allowOnly(query, sharedFile, "v", "download")
	case strings.HasPrefix(path, renderPath):
		kind := sharedFile
		if !query.Has("format") {
			kind = sharedWebP
			if !strings.Contains(r.Header.Get("Accept"), files.WebP.MIME) {
				return notShared
			}
		}
		return allowOnly(query, kind, "v", "download", "format", "width", "height", "resize", "quality", "tile")
	case slices.ContainsFunc(privatePaths, func(prefix string) bool {
		return strings.HasPrefix(path+"/", prefix) // with a slash, so that /admin itself matches too
	}):
		return notShared
	}
	return allowOnly(query, sharedPage, "lang", "art", "part", "reviews", "series")
}

// allowOnly returns kind if the query has only parameters with these names. Otherwise it returns notShared, because an unknown parameter
// may be a token.
func allowOnly(query url.Values, kind sharedKind, names ...string) sharedKind {
	for name := range query {
		if !slices.Contains(names, name) {
			return notShared
		}
	}
	return kind
}

// withSharedCache returns the middleware that completes Cache-Control for shared caches. purged is true if cdn.Purger purges the CDN.
func withSharedCache(purged bool) httpx.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			shared := &sharedWriter{ResponseWriter: w, kind: sharedKindOf(r), purged: purged}
			if shared.kind == sharedWebP {
				// The handler gets a request that takes no better format than WebP. Some CDNs ignore Vary: Accept and would send a stored AVIF
				// to a browser that cannot read it, but WebP is read by every browser that the site's scripts run in.
				header := r.Header.Clone()
				header.Set("Accept", files.WebP.MIME)
				r = r.WithContext(r.Context())
				r.Header = header
			}
			next.ServeHTTP(shared, r)
			shared.complete(http.StatusOK) // the response of a handler that has written nothing
		})
	}
}

// sharedWriter is a ResponseWriter that completes the headers before they are sent.
type sharedWriter struct {
	http.ResponseWriter
	kind   sharedKind
	purged bool
	done   bool // the headers are complete
}

func (w *sharedWriter) complete(status int) {
	if w.done {
		return
	}
	w.done = true
	h := w.Header()
	kind := w.kind
	if kind == sharedWebP {
		kind = sharedFile
		if status != http.StatusNotModified && h.Get("Content-Type") != files.WebP.MIME { // there is no WebP yet
			kind = notShared
		}
	}
	value := sharedCacheControl(h.Get("Cache-Control"), kind, status)
	if value != "" {
		h["Cache-Control"] = []string{value}
	}
	if value == pageLifetime && w.purged {
		h.Set("CDN-Cache-Control", purgedLifetime)                               // RFC 9213: Cloudflare, Akamai
		h.Set("Surrogate-Control", purgedLifetime)                               // Fastly
		for _, name := range []string{"Cache-Tag", "Surrogate-Key", "CDN-Tag"} { // Cloudflare, Fastly, Bunny
			h.Set(name, cdn.Tag)
		}
	}
}

// WriteHeader completes the headers of a final status; 103 (Early Hints) may precede it.
func (w *sharedWriter) WriteHeader(status int) {
	if status >= http.StatusOK {
		w.complete(status)
	}
	w.ResponseWriter.WriteHeader(status)
}

func (w *sharedWriter) Write(b []byte) (int, error) {
	w.complete(http.StatusOK)
	return w.ResponseWriter.Write(b)
}

// ReadFrom lets net/http send a file by sendfile.
func (w *sharedWriter) ReadFrom(src io.Reader) (int64, error) {
	w.complete(http.StatusOK)
	return io.Copy(w.ResponseWriter, src)
}

// Unwrap returns the wrapped writer, for http.ResponseController.
func (w *sharedWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// sharedStatuses are the statuses that may be stored: those whose response depends on the URL and the content alone.
var sharedStatuses = []int{
	http.StatusOK, http.StatusPartialContent, http.StatusFound, http.StatusNotModified, http.StatusNotFound, http.StatusGone,
}

// sharedCacheControl returns Cache-Control for shared caches. set is the value that the handler has set. The result is "" if set can stay
// as it is.
func sharedCacheControl(set string, kind sharedKind, status int) string {
	directives := strings.Split(strings.ReplaceAll(strings.ToLower(set), " ", ""), ",")
	has := func(name string) bool {
		return slices.ContainsFunc(directives, func(d string) bool { return d == name || strings.HasPrefix(d, name+"=") })
	}
	if has("no-store") || has("private") {
		return ""
	}
	if kind == notShared || !slices.Contains(sharedStatuses, status) || set == "" {
		directives = slices.DeleteFunc(directives, func(d string) bool {
			return d == "" || d == "public" || strings.HasPrefix(d, "s-maxage=") || strings.HasPrefix(d, "stale-")
		})
		if len(directives) == 0 {
			directives = []string{"no-cache"}
		}
		return "private, " + strings.Join(directives, ", ")
	}
	switch {
	case has("no-cache") && kind == sharedPage:
		return pageLifetime
	case has("no-cache"), has("s-maxage"), kind == sharedPage: // a substitute of a picture; a value that the upload has set; a file of the site's build
		return ""
	case has("immutable"):
		return set + immutableLifetime
	case has("public"):
		return set + fileLifetime
	}
	return "public, " + set + fileLifetime
}

// wirePurger creates the service that purges the CDN after changes, if cdn-purge-url is set.
func (a *App) wirePurger(context.Context) (err error) {
	c := a.cfg.CDN
	if c.PurgeURL == "" {
		return nil
	}
	if a.purger, err = cdn.New(a.DB, cdn.Config{
		URL: c.PurgeURL, Header: c.PurgeHeader, Body: c.PurgeBody, Private: bool(a.cfg.Mail.WebhookPrivate), Content: a.content, Queue: a.Jobs, Log: a.log,
	}, a.now); err != nil {
		return fmt.Errorf("cdn-purge-url: %w", err)
	}
	return nil
}
