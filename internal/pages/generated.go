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

// generatedLife is how long a generated file (sitemap, feed, robots.txt, web app manifest) is served before it is made again.
// Changes are visible after at most that time, and many requests cause few queries.
const generatedLife = time.Second

// largeFile is the size in bytes of a large file. The cache holds the bytes of only one large file, the last that was made.
const largeFile = 1 << 20

// generatedFiles caches the last file of each name. A name is a kind of file, with a language or a part of the sitemap;
// there are few names.
type generatedFiles struct {
	mu    sync.Mutex
	files map[string]*generatedFile
	large *generatedFile           // the large file whose bytes are cached
	locks map[string]chan struct{} // locks by kind: files of a kind are made one at a time
}

// generatedFile is a file in the cache. If its bytes were removed, etag and changed serve to recognize an equal file.
type generatedFile struct {
	body    []byte // nil if another large file has replaced it in the cache
	etag    string
	made    time.Time // when the file was last made
	changed time.Time // when this node first made these bytes, for Last-Modified
	version int64     // the content version, read before the file was made; 0 if unknown
}

// load returns a file that was made less than generatedLife ago, or makes it with build. name is the kind, optionally
// followed by a space and the language or part. version is the content version, which the caller has read.
func (f *generatedFiles) load(ctx context.Context, name string, version int64, now func() time.Time, build func(ctx context.Context) ([]byte, error)) (generatedFile, error) {
	if g, ok := f.get(name, now()); ok {
		return g, nil
	}
	lock := f.lock(name)
	select {
	case lock <- struct{}{}:
	case <-ctx.Done():
		return generatedFile{}, ctx.Err()
	}
	defer func() { <-lock }()
	at := now()
	if g, ok := f.get(name, at); ok { // another request has made it meanwhile
		return g, nil
	}
	body, err := build(ctx)
	if err != nil {
		return generatedFile{}, err
	}
	return f.put(name, body, version, at), nil
}

// get returns a file that was made less than generatedLife ago.
func (f *generatedFiles) get(name string, at time.Time) (generatedFile, bool) {
	return f.find(name, func(g *generatedFile) bool { return at.Sub(g.made) < generatedLife })
}

// unedited returns a file that was made after the last edit. It is used during an outage of the database.
func (f *generatedFiles) unedited(name string, at content.At) (generatedFile, bool) {
	return f.find(name, func(g *generatedFile) bool { return g.version != 0 && g.version >= at.Edited })
}

// find returns the last file of a name if its bytes are cached and fresh returns true for it.
func (f *generatedFiles) find(name string, fresh func(*generatedFile) bool) (generatedFile, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if g := f.files[name]; g != nil && g.body != nil && fresh(g) {
		return *g, true
	}
	return generatedFile{}, false
}

func (f *generatedFiles) lock(name string) chan struct{} {
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
		if f.large != nil && f.large != g {
			f.large.body = nil
		}
		f.large = g
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
		at = content.At{} // build fails too if it needs the database; that of robots.txt does not
	}
	g, err := s.files.load(r.Context(), name, at.Version, s.now, build)
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
	g, ok := s.files.unedited(name, at)
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
