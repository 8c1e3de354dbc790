package app

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atelie/internal/cdn"
	"atelie/internal/config"
	"atelie/internal/db"
)

// Proves H-cdn-private.
//
// TestSharedCacheControl sends requests through the middleware to a handler that sets the header Cache-Control and a status.
func TestSharedCacheControl(t *testing.T) {
	const (
		file       = "/storage/v1/object/public/product-images/a.jpg"
		rendition  = "/storage/v1/render/image/public/product-images/a.jpg?width=640&format=webp&v=0123456789abcdef"
		negotiated = "/storage/v1/render/image/public/product-images/a.jpg?width=640&v=0123456789abcdef"
	)
	credential := func(name string) http.Header { return http.Header{name: {"x"}} }
	for _, c := range []struct {
		path   string
		header http.Header
		set    string // Cache-Control that the handler sets
		status int
		want   string // Cache-Control of the response
	}{
		{"/", nil, "no-cache", 200, pageLifetime},
		{"/gallery?lang=pt&art=1", nil, "no-cache", 404, pageLifetime},
		{"/", nil, "no-cache", 304, pageLifetime},
		{"/?lang=pt&reviews=2", nil, "no-cache", 200, pageLifetime},
		{"/", nil, "no-cache", 503, "private, no-cache"},
		{"/", nil, "", 500, "private, no-cache"},
		{"/", nil, "no-store", 200, "no-store"},
		{"/?utm_source=x", nil, "no-cache", 200, "private, no-cache"},
		{"/?%zz", nil, "no-cache", 200, "private, no-cache"},
		{"/", credential("Cookie"), "no-cache", 200, "private, no-cache"},
		{"/admin", nil, "no-cache", 200, "private, no-cache"},
		{"/admin/products", nil, "no-cache", 200, "private, no-cache"},
		{"/administration", nil, "no-cache", 404, pageLifetime},
		{"/assets/a.js", nil, "public, max-age=31536000, immutable", 200, "public, max-age=31536000, immutable"},
		{"/assets/a.js", credential("Cookie"), "public, max-age=31536000, immutable", 200, "private, max-age=31536000, immutable"},
		{file, nil, "max-age=3600", 200, "public, max-age=3600, s-maxage=1, stale-if-error=300"},
		{file, nil, "max-age=3600", 206, "public, max-age=3600, s-maxage=1, stale-if-error=300"},
		{file, nil, "max-age=60, s-maxage=9", 200, "max-age=60, s-maxage=9"},
		{file, nil, "private, max-age=60", 200, "private, max-age=60"},
		{file, credential("Authorization"), "public, max-age=60, s-maxage=9", 200, "private, max-age=60"},
		{file, credential("Apikey"), "max-age=60", 200, "private, max-age=60"},
		{file + "?token=x", nil, "max-age=60", 200, "private, max-age=60"},
		{rendition, nil, "public, max-age=31536000, immutable", 200, "public, max-age=31536000, immutable" + immutableLifetime},
		{rendition, nil, "no-cache", 200, "no-cache"}, // a substitute: a smaller rendition, sent because the requested one does not exist yet
		{negotiated, nil, "public, max-age=300", 200, "private, max-age=300"},
		{negotiated, http.Header{"Accept": {"image/avif,image/webp,*/*"}}, "public, max-age=31536000, immutable", 304, "public, max-age=31536000, immutable" + immutableLifetime},
		{negotiated, http.Header{"Accept": {"image/webp"}}, "public, max-age=300", 200, "private, max-age=300"}, // not WebP
		{negotiated, http.Header{"Accept": {"image/avif,image/jpeg,*/*"}}, "public, max-age=300", 200, "private, max-age=300"},
		{negotiated, http.Header{"Accept": {"image/webp"}, "Cookie": {"x"}}, "public, max-age=300", 304, "private, max-age=300"},
		{rendition + "&format=avif&key=x", nil, "public, max-age=300", 200, "private, max-age=300"},
		{strings.Replace(rendition, "/public/", "/sign/", 1), nil, "public, max-age=300", 200, "private, max-age=300"},
		{"/rest/v1/products", nil, "", 200, "private, no-cache"},
		{"/auth/v1/.well-known/jwks.json", nil, "public, max-age=600", 200, "private, max-age=600"},
		{"/health/ready", nil, "no-store", 200, "no-store"},
	} {
		r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
		path, query, _ := strings.Cut(c.path, "?")
		r.URL.Path, r.URL.RawQuery = path, query
		if c.header != nil {
			r.Header = c.header
		}
		w := httptest.NewRecorder()
		withSharedCache(false)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if c.set != "" {
				w.Header().Set("Cache-Control", c.set)
			}
			w.WriteHeader(http.StatusEarlyHints)
			w.WriteHeader(c.status)
		})).ServeHTTP(w, r)
		if got := w.Header().Get("Cache-Control"); got != c.want {
			t.Errorf("%s %v: %d with %q became %q, want %q", c.path, c.header, c.status, c.set, got, c.want)
		}
	}
	w := httptest.NewRecorder()
	withSharedCache(false)(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
	})).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", http.NoBody))
	if got := w.Header().Get("Cache-Control"); got != "private, no-cache" {
		t.Errorf("POST, nothing written: %q", got)
	}
}

// Proves H-cdn-variants.
//
// TestNegotiatedRenditionsAreSharedAsWebP checks that the handler gets a request that does not accept AVIF.
func TestNegotiatedRenditionsAreSharedAsWebP(t *testing.T) {
	for path, want := range map[string]string{
		renderPath + "product-images/a.jpg?width=640":             "image/webp",
		renderPath + "product-images/a.jpg?width=640&token=x":     "image/avif,image/webp",
		renderPath + "product-images/a.jpg?width=640&format=avif": "image/avif,image/webp",
	} {
		r := httptest.NewRequest(http.MethodGet, path, http.NoBody)
		r.Header.Set("Accept", "image/avif,image/webp")
		w := httptest.NewRecorder()
		withSharedCache(false)(http.HandlerFunc(func(w http.ResponseWriter, seen *http.Request) {
			if got := seen.Header.Get("Accept"); got != want {
				t.Errorf("%s: Accept is %q", path, got)
			}
			w.Header().Set("Cache-Control", "public, max-age=300")
			w.Header().Set("Content-Type", "image/webp")
		})).ServeHTTP(w, r)
		if got := w.Header().Get("Cache-Control"); strings.Contains(got, "s-maxage") == strings.Contains(path, "token") {
			t.Errorf("%s: %q", path, got)
		}
		if got := r.Header.Get("Accept"); got != "image/avif,image/webp" {
			t.Errorf("%s: the caller's request changed: %q", path, got)
		}
	}
}

// Proves H-cdn-purge-headers.
//
// TestPurgedPagesStayLongerInTheCDN checks that only headers that browsers ignore allow the longer time.
func TestPurgedPagesStayLongerInTheCDN(t *testing.T) {
	a := newApp(t, db.SQLite)
	a.cfg.CDN.On = true
	names := []string{"CDN-Cache-Control", "Surrogate-Control", "Cache-Tag", "Surrogate-Key", "CDN-Tag"}
	for _, address := range []string{"", "https://cdn.example/purge"} {
		a.cfg.CDN.PurgeURL = address
		for path, isPage := range map[string]bool{"/robots.txt": true, "/sitemap.xml": true, "/auth/v1/settings": false, "/storage/v1/object/public/product-images/none.jpg": false, "/?token=a": false} {
			w := httptest.NewRecorder()
			r := httptest.NewRequest(http.MethodGet, "/", http.NoBody)
			r.URL.Path, r.URL.RawQuery, _ = strings.Cut(path, "?")
			a.Handler().ServeHTTP(w, r)
			if got := w.Header().Get("Cache-Control"); isPage && got != pageLifetime {
				t.Errorf("%s: %q", path, got)
			}
			for i, name := range names {
				want := ""
				if address != "" && isPage {
					want = []string{purgedLifetime, purgedLifetime, cdn.Tag, cdn.Tag, cdn.Tag}[i]
				}
				if got := w.Header().Get(name); got != want {
					t.Errorf("%s, purge %q: %s is %q", path, address, name, got)
				}
			}
		}
	}
}

// Proves H-cdn-off.
func TestSharedCacheNeedsItsSetting(t *testing.T) {
	a := newApp(t, db.SQLite)
	for _, on := range []bool{false, true} {
		a.cfg.CDN.On = config.Switch(on)
		w := httptest.NewRecorder()
		a.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/robots.txt", http.NoBody))
		if got := w.Header().Get("Cache-Control"); w.Code != http.StatusOK || strings.Contains(got, "s-maxage") != on {
			t.Errorf("on %v: %d, %q", on, w.Code, got)
		}
	}
}
