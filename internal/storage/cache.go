package storage

import (
	"bytes"
	"container/list"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"atelie/internal/db"
)

// Bounds of the renditions that stay in memory, in bytes.
const (
	maxCached  = 2 << 20
	cacheBytes = 64 << 20
)

// cacheTrust is how long a rendition in memory is shown before its object is looked up again: a picture that was removed
// or hidden, on any node, is gone after that. Its content needs no look: it goes by what the address says it is.
const cacheTrust = 2 * time.Second

// cached is a rendition in memory under the whole of a request that it answers.
type cached struct {
	key, etag, mime, control string
	bytes                    []byte

	object  address
	version string // the object's blob
	mu      sync.Mutex
	checked time.Time
}

// cache keeps the most recently used ones. The zero value is ready.
type cache struct {
	mu    sync.Mutex
	byKey map[string]*list.Element
	order list.List // of *cached, the most recently used first
	bytes int
}

func (c *cache) get(key string) *cached {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return nil
	}
	c.order.MoveToFront(e)
	return e.Value.(*cached)
}

func (c *cache) put(key string, v *cached) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.byKey == nil {
		c.byKey = map[string]*list.Element{}
	}
	if e := c.byKey[key]; e != nil {
		c.remove(e)
	}
	v.key = key
	c.byKey[key] = c.order.PushFront(v)
	for c.bytes += v.weight(); c.bytes > cacheBytes; {
		c.remove(c.order.Back())
	}
}

func (c *cache) drop(key string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e := c.byKey[key]; e != nil {
		c.remove(e)
	}
}

func (c *cache) remove(e *list.Element) {
	v := c.order.Remove(e).(*cached)
	delete(c.byKey, v.key)
	c.bytes -= v.weight()
}

func (v *cached) weight() int { return len(v.bytes) + len(v.key) + 500 }

// cacheKey names all that an answer depends on.
func cacheKey(r *http.Request) string {
	class := "j"
	switch avif, webp := accepted(r.Header.Get("Accept")); {
	case avif && webp:
		class = "a"
	case webp:
		class = "w"
	}
	return class + r.URL.Path + "?" + r.URL.RawQuery
}

// fromCache answers out of memory what was answered a moment ago.
func (s *Service) fromCache(w http.ResponseWriter, r *http.Request) bool {
	if !strings.Contains(r.URL.RawQuery, "v=") {
		return false
	}
	c := s.cache.get(cacheKey(r))
	if c == nil || !s.stillThere(r, c) {
		return false
	}
	c.write(w, r, bytes.NewReader(c.bytes))
	return true
}

// stillThere looks a rendition's object up when the last look was a while ago; one caller at a time.
func (s *Service) stillThere(r *http.Request, c *cached) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := s.now()
	if now.Sub(c.checked) < cacheTrust {
		return true
	}
	there, err := isPublic(r.Context(), s.db, c.object, c.version)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return false // the long way tells what is wrong
	}
	if !there {
		s.cache.drop(c.key)
		return false
	}
	c.checked = now
	return true
}

// A rendition that could not be made is not tried again for a while by this process: the next try would cost as much.
const (
	refusalTrust = 10 * time.Minute
	maxRefusals  = 1000
)

// refusals remembers them. The zero value is ready.
type refusals struct {
	mu    sync.Mutex
	byKey map[string]refusedRendition
}

type refusedRendition struct {
	err   error
	until time.Time
}

func (r *refusals) get(key string, now time.Time) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if known, ok := r.byKey[key]; ok && now.Before(known.until) {
		return known.err
	}
	return nil
}

func (r *refusals) put(key string, err error, now time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.byKey == nil || len(r.byKey) >= maxRefusals {
		r.byKey = map[string]refusedRendition{}
	}
	r.byKey[key] = refusedRendition{err, now.Add(refusalTrust)}
}
