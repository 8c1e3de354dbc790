package pages

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"atelie/internal/content"
)

const (
	// pageBytes is the memory for pages in all their forms.
	pageBytes = 24 << 20
	// settle is how long the content must stand before pages are made that nobody has asked for yet: an owner who is
	// saving one thing after another must not keep a processor busy.
	settle = 150 * time.Millisecond
	// pagePatience is how long the making of one page may take.
	pagePatience = 20 * time.Second
)

// pageKey is all that the bytes of a page depend on besides the content.
type pageKey struct {
	view
	day string
}

// keeper holds the finished pages of the current content.
type keeper struct {
	version *content.Version
	pages   *content.Cache[pageKey, *body]
	works   chan struct{} // held by who makes the page of one work: there are too many of them to make them side by side
}

func newKeeper(version *content.Version) *keeper {
	return &keeper{version, content.NewCache[pageKey](pageBytes, func(b *body) int { return b.size() + 500 }), make(chan struct{}, 1)}
}

func (s *Service) keyOf(v view) pageKey { return pageKey{v, s.now().Format(time.DateOnly)} }

// page gives the page of a view: from memory if it was made of the content as it is now, else made anew, once for all who
// ask for it together. Nothing older is ever given, also not while the new one is made. early is called when it takes a
// while.
func (s *Service) page(ctx context.Context, v view, early func()) (*body, error) {
	version, err := s.kept.version.Current(ctx)
	if err != nil {
		return nil, err
	}
	key := s.keyOf(v)
	if b, ok := s.kept.pages.Find(version, key); ok {
		return b, nil
	}
	if v.art != "" {
		hung, err := s.workAt(ctx, v)
		if err != nil {
			return nil, err
		}
		if hung == nil { // then it is any other unknown word in the query
			v.art = ""
			return s.page(ctx, v, early)
		}
	}
	early()
	return s.kept.pages.Get(ctx, version, key, func(ctx context.Context) (*body, bool, error) {
		if v.art != "" {
			s.kept.works <- struct{}{}
			defer func() { <-s.kept.works }()
		}
		ctx, cancel := context.WithTimeout(ctx, pagePatience) // its caller's own was taken off
		defer cancel()
		page, whole, err := s.assemble(ctx, v)
		if err != nil {
			return nil, false, err
		}
		b, err := compress(page)
		return b, whole, err
	})
}

// Kept answers with finished pages, and passes everything else on to next, which must be Page.
func (s *Service) Kept(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if version, ok := s.kept.version.Known(); ok && s.shell != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) && s.assets[strings.TrimPrefix(r.URL.Path, "/")] == nil {
			v := viewOf(r.URL)
			if b, ok := s.kept.pages.Find(version, s.keyOf(v)); ok {
				_ = s.write(w, r, v, b) // a caller that has gone needs no answer
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Warm makes the public pages at the start and after each change, one at a time, until ctx ends.
func (s *Service) Warm(ctx context.Context, log *slog.Logger) {
	if s.shell == nil {
		return
	}
	for {
		if err := s.warm(ctx); err != nil && ctx.Err() == nil {
			log.Warn("pages were not made in advance", "cause", err.Error())
		}
		select {
		case <-ctx.Done():
			return
		case <-s.kept.version.Changed():
		}
		for settled := false; !settled; {
			select {
			case <-ctx.Done():
				return
			case <-s.kept.version.Changed():
			case <-time.After(settle):
				settled = true
			}
		}
	}
}

// warm makes the public pages, and then, when nobody waits any more, packs them as small as they get.
func (s *Service) warm(ctx context.Context) error {
	for _, step := range []func(context.Context, view) error{s.prepare, s.tighten} {
		for _, path := range publicPages {
			for _, language := range []string{"en", "pt"} {
				if len(s.kept.version.Changed()) > 0 { // the next round makes them
					return nil
				}
				if err := ctx.Err(); err != nil {
					return err
				}
				if err := step(ctx, view{path: path, language: language, status: http.StatusOK}); err != nil {
					return errors.Join(errors.New(path), err)
				}
				debug.FreeOSMemory() // drawing and packing take tens of megabytes, which nobody may need again for days
			}
		}
	}
	return nil
}

func (s *Service) prepare(ctx context.Context, v view) error {
	_, err := s.page(ctx, v, func() {})
	return err
}

// tighten saves a tenth of a page for a fifth of a second of work.
func (s *Service) tighten(ctx context.Context, v view) error {
	version, err := s.kept.version.Current(ctx)
	if err != nil {
		return err
	}
	key := s.keyOf(v)
	b, ok := s.kept.pages.Find(version, key)
	if !ok || b.tight {
		return nil
	}
	tight, err := b.tightened()
	if err != nil {
		return err
	}
	s.kept.pages.Replace(version, key, tight)
	return nil
}

// publicPages are the pages that visitors find.
var publicPages = []string{"/", "/gallery/" + allWorks, "/gallery/mural", "/gallery/watercolour", "/gallery/digital", "/politica-privacidade"}
