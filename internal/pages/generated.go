package pages

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"sync"
	"time"

	"atelie/internal/apperr"
)

// generatedLife is how long a file made from the content is served before it is made anew: a change shows within a second,
// and one caller at a time keeps the database busy with it.
const generatedLife = time.Second

// files keeps what was made last, by name. There are few names: languages, and parts of the sitemap that exist.
type files struct {
	mu   sync.Mutex
	kept map[string]*generated
}

type generated struct {
	mu      sync.Mutex
	body    []byte
	etag    string
	checked time.Time // when it was made last
	changed time.Time // since when this node has it with these bytes
}

func (f *files) named(name string) *generated {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.kept == nil {
		f.kept = map[string]*generated{}
	}
	g := f.kept[name]
	if g == nil {
		g = &generated{}
		f.kept[name] = g
	}
	return g
}

// generated answers GET and HEAD with a file that is made from the content, with validators (RFC 9110 §8.8). The entity tag
// is a weak one: compression follows behind.
func (s *Service) generated(w http.ResponseWriter, r *http.Request, name, contentType string, make func(ctx context.Context) ([]byte, error)) error {
	if err := onlyRead(w, r); err != nil {
		return err
	}
	g := s.files.named(name)
	body, etag, changed, err := g.fresh(r.Context(), s.now, make)
	if err != nil {
		return err
	}
	h := w.Header()
	harden(h)
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", etag)
	http.ServeContent(w, r, "", changed, bytes.NewReader(body))
	return nil
}

func (g *generated) fresh(ctx context.Context, now func() time.Time, make func(ctx context.Context) ([]byte, error)) ([]byte, string, time.Time, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.etag == "" || now().Sub(g.checked) >= generatedLife {
		at := now()
		body, err := make(ctx)
		if err != nil {
			return nil, "", time.Time{}, err
		}
		sum := sha256.Sum256(body)
		if etag := `W/"` + hex.EncodeToString(sum[:12]) + `"`; etag != g.etag {
			g.body, g.etag, g.changed = body, etag, at
		}
		g.checked = at
	}
	return g.body, g.etag, g.changed, nil
}

// onlyRead refuses methods that would change something.
func onlyRead(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	w.Header().Set("Allow", "GET, HEAD")
	return apperr.New(http.StatusMethodNotAllowed, "method_not_allowed", "Method not allowed")
}
