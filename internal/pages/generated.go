package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"strings"
	"sync"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/content"
	"atelie/internal/httpx"
)

// This file caches and sends the generated files: sitemap, feed, robots.txt and web app manifest. A new file needs a handler that
// calls serveGenerated, and a route in internal/app/routes.go.

// generatedLife is how long a generated file is served before it is made again. Changes are visible after at most this time, and many
// requests cause few queries.
const generatedLife = time.Second

// largeFile is the size in bytes from which a file counts as large. Of the large files, the cache contains only the bytes of the one that
// was made most recently.
const largeFile = 1 << 20

// generatedFiles caches the generated files by name. The name begins with the kind of the file. If there are several files of a kind, the
// language or the number of the part follows. Names are "robots", "feed en", "sitemap 1".
type generatedFiles struct {
	mu          sync.Mutex
	files       map[string]*generatedFile // by name; there are few names, so none is removed
	cachedLarge *generatedFile            // the large file whose bytes are cached; nil for none
	locks       map[string]chan struct{}  // locks by kind of file, because files of a kind are made one at a time
}

// generatedFile is a file in the cache. When its bytes are removed from the cache, etag and changed stay. A file that is made again with the
// same bytes keeps these two values.
type generatedFile struct {
	body    []byte // nil if another large file has replaced it in the cache
	etag    string
	made    time.Time // when the file was made most recently
	changed time.Time // when this server process first made these bytes, for Last-Modified
	// version is the content version (a number that each change of visible content raises), read before the file was made; 0 if unknown.
	version int64
}

// load returns a file that was made less than generatedLife ago. If there is none, load makes the file with build. version is the content
// version that the caller has read.
func (f *generatedFiles) load(ctx context.Context, name string, version int64, now func() time.Time, build func(ctx context.Context) ([]byte, error)) (generatedFile, error) {
	if g, ok := f.get(name, now()); ok {
		return g, nil
	}
	lock := f.lockFor(name)
	select {
	case lock <- struct{}{}:
	case <-ctx.Done():
		return generatedFile{}, ctx.Err()
	}
	defer func() { <-lock }()
	at := now()
	if g, ok := f.get(name, at); ok { // another request made the file during the wait for the lock
		return g, nil
	}
	body, err := build(ctx)
	if err != nil {
		return generatedFile{}, err
	}
	return f.put(name, body, version, at), nil
}

// get returns a cached file that was made less than generatedLife ago.
func (f *generatedFiles) get(name string, at time.Time) (generatedFile, bool) {
	return f.find(name, func(g *generatedFile) bool { return at.Sub(g.made) < generatedLife })
}

// find returns the file with this name if its bytes are cached and usable returns true for it.
func (f *generatedFiles) find(name string, usable func(*generatedFile) bool) (generatedFile, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g := f.files[name]; g != nil && g.body != nil && usable(g) {
		return *g, true
	}
	return generatedFile{}, false
}

func (f *generatedFiles) lockFor(name string) chan struct{} {
	kind, _, _ := strings.Cut(name, " ")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.locks == nil {
		f.locks, f.files = map[string]chan struct{}{}, map[string]*generatedFile{}
	}
	if f.locks[kind] == nil {
		f.locks[kind] = make(chan struct{}, 1)
	}
	return f.locks[kind]
}

func (f *generatedFiles) put(name string, body []byte, version int64, at time.Time) generatedFile {
	sum := sha256.Sum256(body)
	etag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.files[name]
	if g == nil {
		g = &generatedFile{}
		f.files[name] = g
	}
	if g.etag != etag {
		g.etag, g.changed = etag, at
	}
	g.body, g.made, g.version = body, at, version
	if len(body) >= largeFile {
		if f.cachedLarge != nil && f.cachedLarge != g {
			f.cachedLarge.body = nil
		}
		f.cachedLarge = g
	}
	return *g
}

// serveGenerated handles GET and HEAD with a file that build makes, with an entity tag and Last-Modified (RFC 9110 §8.8). The
// tag is weak because middleware compresses the response. During an outage of the database the last file is served.
func (s *Service) serveGenerated(w http.ResponseWriter, r *http.Request, name, contentType string, build func(ctx context.Context) ([]byte, error)) error {
	if err := allowRead(w, r); err != nil {
		return err
	}
	if s.outageFile(w, r, name, contentType) {
		return nil
	}
	at, err := s.cache.version.Current(r.Context())
	if err != nil {
		at = content.Versions{} // build fails too if it needs the database; that of robots.txt does not
	}
	g, err := s.generated.load(r.Context(), name, at.Current, s.now, build)
	if err != nil {
		return err
	}
	writeFile(w, r, contentType, g)
	return nil
}

// outageFile sends the last file during an outage of the database, if there was no edit since it was made. It reports whether it
// has sent a response.
func (s *Service) outageFile(w http.ResponseWriter, r *http.Request, name, contentType string) bool {
	at, age, err := s.cache.version.Serving(r.Context())
	if err != nil || age == 0 {
		return false
	}
	g, ok := s.generated.find(name, func(g *generatedFile) bool { return g.version != 0 && g.version >= at.Edited })
	if ok {
		httpx.MarkStale(w, r, age)
		writeFile(w, r, contentType, g)
	}
	return ok
}

func writeFile(w http.ResponseWriter, r *http.Request, contentType string, g generatedFile) {
	h := w.Header()
	harden(h)
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", g.etag)
	http.ServeContent(w, r, "", g.changed, bytes.NewReader(g.body))
}

// allowRead returns an error for all methods but GET and HEAD.
func allowRead(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	w.Header().Set("Allow", "GET, HEAD")
	return apperr.New(http.StatusMethodNotAllowed, "method_not_allowed", "Method not allowed")
}
