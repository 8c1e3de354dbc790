package pages

import (
	"context"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strings"
	"sync/atomic"
	"time"

	"atelie/internal/content"
)

const (
	// pageBytes is the memory for pages in all their forms.
	pageBytes = 12 << 20
	// settle is how long the content must stand before pages are made that nobody has asked for yet: an owner who is
	// saving one thing after another must not keep a processor busy.
	settle = 150 * time.Millisecond
	// described is how long nothing must be found out about files. While pictures are worked on that happens each few
	// seconds, for minutes; a page that somebody looks at is made anew for its sake alone.
	described = 6 * time.Second
	// calm is how long before they are packed as small as they get, which takes longer than all else together.
	calm = 5 * time.Second
	// worn is how long a page is shown after something was found out about files: the next is made meanwhile. While twenty
	// pictures come in that happens several times a second, and visitors would wait for each.
	worn = time.Second
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
	calm    time.Duration // how long the content must stand before pages are packed as small as they get
	// heavy says that something was drawn or packed since memory was given back to the system, which holds everybody up
	// for milliseconds.
	heavy atomic.Bool
}

func newKeeper(version *content.Version) *keeper {
	return &keeper{version: version, pages: content.NewCache[pageKey](pageBytes, func(b *body) int { return b.size() + 500 }), works: make(chan struct{}, 1), calm: calm}
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
	if b, ok := s.kept.pages.FindWorn(version, key, worn); ok {
		go func() { _, _ = s.make(context.WithoutCancel(ctx), version, key) }() // who finds it too old hears of a failure
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
	return s.make(ctx, version, key)
}

// make has a page made, once for all who ask for it together.
func (s *Service) make(ctx context.Context, at content.At, key pageKey) (*body, error) {
	return s.kept.pages.Get(ctx, at, key, func(ctx context.Context) (*body, bool, error) {
		if key.art != "" {
			s.kept.works <- struct{}{}
			defer func() { <-s.kept.works }()
		}
		ctx, cancel := context.WithTimeout(ctx, pagePatience) // its caller's own was taken off
		defer cancel()
		material, err := s.gather(ctx, key.view)
		if err != nil {
			return nil, false, err
		}
		sum := material.sum()
		if before, ok := s.kept.pages.FindWorn(at, key, math.MaxInt64); ok && before.madeOf == sum {
			return before, true, nil // what was found out is not about its files
		}
		s.kept.heavy.Store(true)
		page, whole := s.assemble(ctx, key.view, material)
		b, err := compress(page)
		if err != nil {
			return nil, false, err
		}
		b.madeOf = sum
		return b, whole, nil
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
	for ctx.Err() == nil {
		at, err := s.kept.version.Current(ctx)
		if err != nil && ctx.Err() == nil {
			log.Warn("pages are not made in advance before the next change", "cause", err.Error())
		}
		s.each(ctx, log, s.prepare)
		if !s.changes(ctx, s.kept.calm) {
			s.each(ctx, log, s.tighten)
			s.changes(ctx, 0)
		}
		for s.changes(ctx, s.untilSettled(ctx, at)) {
		}
	}
}

// untilSettled tells how long to wait before pages are made that were made at a moment.
func (s *Service) untilSettled(ctx context.Context, made content.At) time.Duration {
	if now, err := s.kept.version.Current(ctx); err == nil && now.Edited == made.Edited {
		return described
	}
	return settle
}

// changes waits until the content changes, at most as long as is said if anything is; false when it did not, or ctx ended.
func (s *Service) changes(ctx context.Context, within time.Duration) bool {
	if within > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, within)
		defer cancel()
	}
	select {
	case <-ctx.Done():
		return false
	case <-s.kept.version.Changed():
		return true
	}
}

// each takes a step with all public pages until ctx ends or the content changes.
func (s *Service) each(ctx context.Context, log *slog.Logger, step func(context.Context, view) error) {
	for _, path := range publicPages {
		for _, language := range []string{"en", "pt"} {
			if ctx.Err() != nil || len(s.kept.version.Changed()) > 0 {
				return
			}
			if err := step(ctx, view{path: path, language: language, status: http.StatusOK}); err != nil && ctx.Err() == nil {
				log.Warn("a page was not made in advance", "path", path, "cause", err.Error())
				return
			}
		}
	}
	if s.kept.heavy.CompareAndSwap(true, false) {
		debug.FreeOSMemory() // drawing and packing take tens of megabytes, which nobody may need again for days
	}
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
	s.kept.heavy.Store(true)
	tight, err := b.tightened()
	if err != nil {
		return err
	}
	s.kept.pages.Replace(version, key, tight)
	return nil
}

// publicPages are the pages that visitors find.
var publicPages = []string{"/", "/gallery/" + allWorks, "/gallery/mural", "/gallery/watercolour", "/gallery/digital", "/politica-privacidade"}
