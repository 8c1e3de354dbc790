package pages

import (
	"context"
	"maps"
	"math"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	"atelie/internal/content"
	"atelie/internal/memory"
)

// This file caches finished pages in memory. It makes them in advance at the start and after each change of the content.

const (
	// cacheBytes is the limit of the page cache in bytes. A page counts with its uncompressed content and with all encodings in which that
	// content is sent, even those that no request has asked for yet (their size is estimated).
	cacheBytes = 12 << 20
	// entryOverhead is an estimate of the memory that a cached page needs besides its content, in bytes.
	entryOverhead = 500
	// editDebounce is how long the content must stay unchanged after an edit before pages are made in advance. Because of this wait, a save
	// that consists of several writes makes the pages only once.
	editDebounce = 150 * time.Millisecond
	// backgroundDebounce is used instead of editDebounce after a change that is not an edit, such as a finished rendition (a picture
	// in another size). It is longer because such changes repeat for minutes while uploaded pictures are processed.
	backgroundDebounce = 6 * time.Second
	// defaultRecompressDelay is how long the content must stay unchanged before pages are recompressed (compressed again, with
	// brotli's best quality). This takes seconds of CPU time, so it begins when the owner has probably finished editing.
	defaultRecompressDelay = 5 * time.Minute
	// staleTime is the maximum time for which a stale page is served after a change that is not an edit, while the new page is made.
	// After an edit, visitors wait for the new page.
	staleTime = time.Second
	// pageTimeout limits the making of one page.
	pageTimeout = 20 * time.Second
)

// pageKey is the cache key of a page. The bytes of the page depend only on the key and on the content.
type pageKey struct {
	view        // what the URL selects: page, language and so on
	day  string // the current date, YYYY-MM-DD, which the boot data contains
}

// pageCache contains finished pages. Each change of visible content raises the content version. A page is current if it was made for the
// current version. It is stale if the version has been raised since, but by no edit. Pages are not invalidated explicitly: each lookup
// passes the current version and the version of the last edit to content.Cache, which drops the pages that were made before that edit.
type pageCache struct {
	version *content.Version
	changed <-chan struct{} // receives a value after the content version has changed
	pages   *content.Cache[pageKey, *body]
	// detailPageSlot is a lock that is held while a detail page is made: the page of a single work, of a series, or of the reviews that
	// ?reviews= selects. Only one is made at a time, so that a crawler that requests thousands of them leaves CPU time to other pages.
	detailPageSlot  chan struct{}
	recompressDelay time.Duration // defaultRecompressDelay except in tests
	// hasGarbage is true if pages were made or recompressed since the last call of memory.Release. Release slows the program down for
	// milliseconds, so it is called only if hasGarbage is true.
	hasGarbage atomic.Bool
	lookups    content.Lookups // counts the requests that got a cached page, and those that waited for a new page
}

func newPageCache(version *content.Version) *pageCache {
	pages := content.NewCache[pageKey](cacheBytes, func(b *body) int { return b.size() + entryOverhead })
	return &pageCache{version: version, changed: version.Subscribe(), pages: pages, detailPageSlot: make(chan struct{}, 1), recompressDelay: defaultRecompressDelay}
}

// Lookups returns the counts of requests for pages: those served from the cache, and those that waited for a new page.
func (s *Service) Lookups() *content.Lookups { return &s.cache.lookups }

func (s *Service) keyOf(v view) pageKey { return pageKey{v, s.now().Format(time.DateOnly)} }

// isCached reports whether the cache has the page of a view for the content version at.
func (s *Service) isCached(at content.Versions, v view) bool {
	_, ok := s.cache.pages.Get(at, s.keyOf(v))
	return ok
}

// findOutagePage returns a cached page during an outage of the database, or false if there is none. It looks for today's page first, and then
// for the page of the day on which the content version was last read. age is the time since this reading.
func (s *Service) findOutagePage(at content.Versions, v view, age time.Duration) (*body, bool) {
	for _, day := range []time.Time{s.now(), s.now().Add(-age)} {
		if b, ok := s.cache.pages.GetStale(at, pageKey{v, day.Format(time.DateOnly)}, math.MaxInt64); ok { // MaxInt64: of any age
			return b, true
		}
	}
	return nil, false
}

// loadPage returns the page of a view from the cache, or makes the page, once for all concurrent requests. If the cached page has been stale
// for less than staleTime, loadPage returns it and makes the new page in the background. Otherwise it calls beforeMaking and waits for the
// new page. inAdvance is true if no visitor waits for the page. at is the content version before the view was located: the page is not
// cached if the content has changed since.
func (s *Service) loadPage(ctx context.Context, at content.Versions, v view, inAdvance bool, beforeMaking func()) (*body, error) {
	key := s.keyOf(v)
	if b, ok := s.cache.pages.Get(at, key); ok {
		return b, nil
	}
	if b, ok := s.cache.pages.GetStale(at, key, staleTime); ok {
		go func() { _, _ = s.makePage(context.WithoutCancel(ctx), at, key, true) }() // after a failure, a request after staleTime makes the page and gets the error
		return b, nil
	}
	beforeMaking()
	return s.makePage(ctx, at, key, inAdvance)
}

// makePage makes a page, once for all concurrent callers.
func (s *Service) makePage(ctx context.Context, at content.Versions, key pageKey, inAdvance bool) (*body, error) {
	return s.cache.pages.Load(ctx, at, key, func(ctx context.Context) (*body, bool, error) {
		if key.workID != "" || key.reviewsPage > 0 || key.seriesSlug != "" {
			s.cache.detailPageSlot <- struct{}{}
			defer func() { <-s.cache.detailPageSlot }()
		}
		ctx, cancel := context.WithTimeout(ctx, pageTimeout) // Load's ctx has no deadline, because several callers may wait
		defer cancel()
		inputs, err := s.readInputs(ctx, key.view)
		if err != nil {
			return nil, false, err
		}
		hash := inputs.hash()
		if before, ok := s.cache.pages.GetStale(at, key, math.MaxInt64); ok && before.inputsHash == hash {
			return before, true, nil // the change of the content does not affect this page
		}
		s.cache.hasGarbage.Store(true)
		page, complete := s.assemble(ctx, key.view, inputs, inAdvance)
		b := newPageBody(page)
		b.inputsHash = hash
		return b, complete, nil
	})
}

// FromCache returns a handler that sends cached pages of the current content version. It passes all other requests to
// next, which must call Page for them.
func (s *Service) FromCache(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if at, ok := s.cache.version.Known(); ok && s.template != nil && (r.Method == http.MethodGet || r.Method == http.MethodHead) && s.assets[strings.TrimPrefix(r.URL.Path, "/")] == nil {
			site := s.sitePages.Load()
			if site == nil || site.edited != at.Edited {
				next.ServeHTTP(w, r)
				return
			}
			v := site.parseView(r.URL)
			if b, ok := s.cache.pages.Get(at, s.keyOf(v)); ok {
				if rep, err := b.chooseRepresentation(r.Header["Accept-Encoding"]); err == nil { // otherwise Page reports the error
					s.cache.lookups.Record(true)
					maps.Copy(w.Header(), s.pageHeaders)
					_ = b.send(w, r, v.status, rep) // an error means that the client has gone
					return
				}
			}
		}
		next.ServeHTTP(w, r)
	})
}

// Warm makes the public pages in advance, one at a time: at the start and after each change of the content. It returns when
// ctx ends.
func (s *Service) Warm(ctx context.Context) {
	if s.template == nil {
		return
	}
	for ctx.Err() == nil {
		at, err := s.cache.version.Current(ctx)
		if err != nil && ctx.Err() == nil {
			s.cfg.Log.Warn("the content version cannot be read, so pages may not be made in advance until the next change", "cause", err.Error())
		}
		s.eachPublicPage(ctx, s.prepare)
		if !s.waitForChange(ctx, s.cache.recompressDelay) {
			s.eachPublicPage(ctx, s.recompress)
			s.waitForChange(ctx, 0)
		}
		for s.waitForChange(ctx, s.debounce(ctx, at)) {
		}
	}
}

// debounce returns how long the content must stay unchanged before pages are made again. made is the version at which they
// were made last.
func (s *Service) debounce(ctx context.Context, made content.Versions) time.Duration {
	if now, err := s.cache.version.Current(ctx); err == nil && now.Edited == made.Edited {
		return backgroundDebounce
	}
	return editDebounce
}

// waitForChange waits until the content changes and returns true. It returns false when ctx ends, or when limit is over; a
// limit of 0 means none.
func (s *Service) waitForChange(ctx context.Context, limit time.Duration) bool {
	if limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	select {
	case <-ctx.Done():
		return false
	case <-s.cache.changed:
		return true
	}
}

// eachPublicPage calls step for all public pages until ctx ends or the content changes.
func (s *Service) eachPublicPage(ctx context.Context, step func(context.Context, view) error) {
	site, err := s.pagesOf(ctx)
	if err != nil {
		if ctx.Err() == nil {
			s.cfg.Log.Warn("no page was made in advance", "cause", err.Error())
		}
		return
	}
	for _, path := range site.serverRenderedPaths() {
		for _, language := range []string{"en", "pt"} {
			if ctx.Err() != nil || len(s.cache.changed) > 0 {
				return
			}
			if err := step(ctx, view{path: path, language: language, status: http.StatusOK}); err != nil && ctx.Err() == nil {
				s.cfg.Log.Warn("a page was not made in advance", "path", path, "cause", err.Error())
				return
			}
		}
	}
	if s.cache.hasGarbage.CompareAndSwap(true, false) {
		if s.renderer != nil {
			if err := s.renderer.Trim(); err != nil {
				s.cfg.Log.Warn("an engine that renders pages could not be closed", "cause", err.Error())
			}
		}
		memory.Release() // rendering and compressing use tens of megabytes, which may not be needed again for days
	}
}

func (s *Service) prepare(ctx context.Context, v view) error {
	at, err := s.cache.version.Current(ctx)
	if err != nil {
		return err
	}
	b, err := s.loadPage(ctx, at, v, true, func() {})
	if err != nil {
		return err
	}
	_, err = b.chooseRepresentation(encodings[:1]) // most browsers ask for this one
	return err
}

// recompress compresses a cached page again with the best quality: it takes a fifth of a second and saves a tenth of the
// bytes.
func (s *Service) recompress(ctx context.Context, v view) error {
	at, err := s.cache.version.Current(ctx)
	if err != nil {
		return err
	}
	key := s.keyOf(v)
	b, ok := s.cache.pages.Get(at, key)
	if !ok || b.recompressed {
		return nil
	}
	s.cache.hasGarbage.Store(true)
	smaller, err := b.recompress()
	if err != nil {
		return err
	}
	s.cache.pages.Replace(at, key, smaller)
	return nil
}
