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
)

// generatedLife is how long a file made from the content is served before it is made anew: a change shows within a second,
// and one caller at a time keeps the database busy with it.
const generatedLife = time.Second

// largeFile is from how many bytes on a file is large: of those the bytes of one alone are kept.
const largeFile = 1 << 20

// files keeps what was made last, by name. There are few names: languages, and parts of the sitemap that exist.
type files struct {
	mu    sync.Mutex
	kept  map[string]*generated
	large *generated
	turns map[string]chan struct{} // of one kind, one is made at a time
}

type generated struct {
	body    []byte
	etag    string
	checked time.Time // when it was made last
	changed time.Time // since when this node has it with these bytes
}

// fresh gives a file as it was made less than a second ago, or makes it. A kind is what stands before the blank of a name.
func (f *files) fresh(ctx context.Context, name string, now func() time.Time, build func(ctx context.Context) ([]byte, error)) (generated, error) {
	if g, ok := f.find(name, now()); ok {
		return g, nil
	}
	turn := f.turn(name)
	select {
	case turn <- struct{}{}:
	case <-ctx.Done():
		return generated{}, ctx.Err()
	}
	defer func() { <-turn }()
	at := now()
	if g, ok := f.find(name, at); ok { // made while we waited
		return g, nil
	}
	body, err := build(ctx)
	if err != nil {
		return generated{}, err
	}
	return f.keep(name, body, at), nil
}

func (f *files) find(name string, at time.Time) (generated, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.kept[name]
	if g == nil || g.body == nil || at.Sub(g.checked) >= generatedLife {
		return generated{}, false
	}
	return *g, true
}

func (f *files) turn(name string) chan struct{} {
	kind, _, _ := strings.Cut(name, " ")
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.turns == nil {
		f.turns, f.kept = map[string]chan struct{}{}, map[string]*generated{}
	}
	if f.turns[kind] == nil {
		f.turns[kind] = make(chan struct{}, 1)
	}
	return f.turns[kind]
}

func (f *files) keep(name string, body []byte, at time.Time) generated {
	sum := sha256.Sum256(body)
	etag := `W/"` + hex.EncodeToString(sum[:12]) + `"`
	f.mu.Lock()
	defer f.mu.Unlock()
	g := f.kept[name]
	if g == nil {
		g = &generated{}
		f.kept[name] = g
	}
	if g.etag != etag {
		g.etag, g.changed = etag, at
	}
	g.body, g.checked = body, at
	if len(body) >= largeFile {
		if f.large != nil && f.large != g {
			f.large.body = nil
		}
		f.large = g
	}
	return *g
}

// generated answers GET and HEAD with a file that is made from the content, with validators (RFC 9110 §8.8). The entity tag
// is a weak one: compression follows behind.
func (s *Service) generated(w http.ResponseWriter, r *http.Request, name, contentType string, build func(ctx context.Context) ([]byte, error)) error {
	if err := onlyRead(w, r); err != nil {
		return err
	}
	g, err := s.files.fresh(r.Context(), name, s.now, build)
	if err != nil {
		return err
	}
	h := w.Header()
	harden(h)
	h.Set("Content-Type", contentType)
	h.Set("Content-Security-Policy", "default-src 'none'")
	h.Set("Cache-Control", "no-cache")
	h.Set("ETag", g.etag)
	http.ServeContent(w, r, "", g.changed, bytes.NewReader(g.body))
	return nil
}

// onlyRead refuses methods that would change something.
func onlyRead(w http.ResponseWriter, r *http.Request) error {
	if r.Method == http.MethodGet || r.Method == http.MethodHead {
		return nil
	}
	w.Header().Set("Allow", "GET, HEAD")
	return apperr.New(http.StatusMethodNotAllowed, "method_not_allowed", "Method not allowed")
}
