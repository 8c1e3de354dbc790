package content

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// Cache caches values that are made from the content, up to a limit in bytes; the least recently used value is removed
// first. Callers pass the content version with each call. After an edit, all values are removed; after another change, they
// are stale. Callers whose values do not depend on the content always pass At{}.
type Cache[K comparable, V any] struct {
	limit int         // bytes
	size  func(V) int // bytes of a value with its key

	mu      sync.Mutex
	version At                        // the latest version that a caller passed
	entries map[K]*list.Element       // of entry[K, V]
	recent  list.List                 // the same elements, the most recently used first
	bytes   int                       // of all entries
	loads   map[versioned[K]]*load[V] // values that Load is making
}

// MaxShare limits the size of one value to 1/MaxShare of the cache's limit. Larger values are not cached.
const MaxShare = 8

type entry[K comparable, V any] struct {
	key     K
	value   V
	bytes   int
	version int64
	stale   time.Time // when a later version was first passed; zero while the value is current
}

// versioned is the key of a load: a value is made once for each version.
type versioned[K comparable] struct {
	key     K
	version int64
}

// load is a value that a call of Load is making; done is closed when value or err is set.
type load[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// errPanicked is returned by calls of Load that waited for another call whose function panicked.
var errPanicked = errors.New("content: the function that makes the value panicked")

// NewCache returns a cache for at most limit bytes of values; size returns the bytes of a value with its key.
func NewCache[K comparable, V any](limit int, size func(V) int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, size: size, entries: map[K]*list.Element{}, loads: map[versioned[K]]*load[V]{}}
}

// Get returns the value that was made from exactly this version; false if there is none.
func (c *Cache[K, V]) Get(at At, key K) (v V, ok bool) { return c.GetStale(at, key, 0) }

// GetStale is like Get, but also returns a value that became stale less than maxAge ago.
func (c *Cache[K, V]) GetStale(at At, key K, maxAge time.Duration) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.get(at, key, maxAge)
}

func (c *Cache[K, V]) get(at At, key K, maxAge time.Duration) (v V, ok bool) {
	c.advance(at)
	element := c.entries[key]
	if element == nil || at.Version != c.version.Version {
		return v, false
	}
	e := element.Value.(*entry[K, V])
	if e.version != at.Version && time.Since(e.stale) >= maxAge {
		return v, false
	}
	c.recent.MoveToFront(element)
	return e.value, true
}

// advance takes note of a later version: it drops the values made before the last edit, and marks the others as stale.
func (c *Cache[K, V]) advance(at At) {
	if at.Version <= c.version.Version {
		return
	}
	c.version = at
	for next := c.recent.Front(); next != nil; {
		element := next
		next = element.Next()
		if e := element.Value.(*entry[K, V]); e.version < at.Edited {
			c.drop(element)
		} else if e.stale.IsZero() {
			e.stale = time.Now()
		}
	}
}

// Load returns the cached value, or the value that produce makes; concurrent calls for the same key and version call produce
// once. at must have been read before produce reads any content; otherwise the value may be older than its version. produce
// also reports whether its value may be cached. The end of ctx ends only the wait for another caller's produce: a produce
// that has begun is not cancelled, because other callers may wait for its value.
func (c *Cache[K, V]) Load(ctx context.Context, at At, key K, produce func(context.Context) (value V, cacheable bool, err error)) (V, error) {
	c.mu.Lock()
	if v, ok := c.get(at, key, 0); ok {
		c.mu.Unlock()
		return v, nil
	}
	id := versioned[K]{key, at.Version}
	if l := c.loads[id]; l != nil {
		c.mu.Unlock()
		select {
		case <-l.done:
			return l.value, l.err
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
	l := &load[V]{done: make(chan struct{}), err: errPanicked}
	c.loads[id] = l
	c.mu.Unlock()

	cacheable := false
	defer func() {
		c.mu.Lock()
		delete(c.loads, id)
		if cacheable && l.err == nil {
			c.put(at.Version, key, l.value)
		}
		c.mu.Unlock()
		close(l.done)
	}()
	l.value, cacheable, l.err = produce(context.WithoutCancel(ctx))
	return l.value, l.err
}

// Put stores a value that was made from the version at, unless the cache knows a later version.
func (c *Cache[K, V]) Put(at At, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.advance(at)
	c.put(at.Version, key, value)
}

// Replace stores a value in place of a cached one. It does nothing if the key is not cached or the cache knows a later version.
func (c *Cache[K, V]) Replace(at At, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] != nil {
		c.put(at.Version, key, value)
	}
}

// Drop removes a value.
func (c *Cache[K, V]) Drop(key K) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if element := c.entries[key]; element != nil {
		c.drop(element)
	}
}

func (c *Cache[K, V]) drop(element *list.Element) {
	e := c.recent.Remove(element).(*entry[K, V])
	delete(c.entries, e.key)
	c.bytes -= e.bytes
}

func (c *Cache[K, V]) put(version int64, key K, value V) {
	size := c.size(value)
	if version != c.version.Version || size > c.limit/MaxShare { // one value must not evict all others
		return
	}
	if old := c.entries[key]; old != nil {
		c.drop(old)
	}
	c.entries[key] = c.recent.PushFront(&entry[K, V]{key: key, value: value, bytes: size, version: version})
	c.bytes += size
	for c.bytes > c.limit {
		c.drop(c.recent.Back())
	}
}
