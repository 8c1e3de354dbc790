package content

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// Cache holds values that are made from the content, such as pages. When the values exceed a limit in bytes, the cache drops the least
// recently used ones. Each caller passes the Versions that it has read (at): the content version now, and at the last edit (a change by a
// person). If a caller passes later Versions than all callers before it, the cache
//
//   - drops the values that were made before the last edit, and
//   - marks all other values as stale: made before the current version, with no edit since.
//
// Callers whose values do not depend on the content always pass Versions{}.
type Cache[K comparable, V any] struct {
	maxBytes int         // limit of the field bytes
	sizeOf   func(V) int // size of a value and its key in bytes

	mu        sync.Mutex
	versions  Versions                // the latest versions that a caller passed
	entries   map[K]*list.Element     // the cached values by key; each element's Value is an entry[K, V]
	byRecency list.List               // the elements of entries, the most recently used first
	bytes     int                     // sizes of all entries added up
	loading   map[loadKey[K]]*load[V] // calls of Load that are making a value
}

// MaxShare limits the size of a value, so that one value cannot evict all others: a value that is larger than 1/MaxShare of the cache's
// limit is not cached.
const MaxShare = 8

// entry is a cached value.
type entry[K comparable, V any] struct {
	key        K
	value      V
	bytes      int
	version    int64     // content version for which the value was made
	staleSince time.Time // when a caller first passed a later version; zero while the value is not stale
}

// loadKey identifies a load. Concurrent calls of Load share one load if both the key and the version are the same.
type loadKey[K comparable] struct {
	key     K
	version int64
}

// load is a call of Load that is making a value. It sets value or err, and then closes done. Other calls for the same loadKey wait for done.
type load[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// errPanicked is the error of a call of Load that waited for another call, if the produce function of that other call panicked.
var errPanicked = errors.New("content: the function that makes the value panicked")

// NewCache returns a cache for at most maxBytes of values. sizeOf returns the size of a value and its key in bytes.
func NewCache[K comparable, V any](maxBytes int, sizeOf func(V) int) *Cache[K, V] {
	return &Cache[K, V]{maxBytes: maxBytes, sizeOf: sizeOf, entries: map[K]*list.Element{}, loading: map[loadKey[K]]*load[V]{}}
}

// Get returns the cached value of key. ok is false if there is none, or if it is stale at these versions.
func (c *Cache[K, V]) Get(at Versions, key K) (v V, ok bool) { return c.GetStale(at, key, 0) }

// GetStale is like Get, but also returns a value that has been stale for less than maxAge.
func (c *Cache[K, V]) GetStale(at Versions, key K, maxAge time.Duration) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.get(at, key, maxAge)
}

func (c *Cache[K, V]) get(at Versions, key K, maxAge time.Duration) (v V, ok bool) {
	c.invalidateOlder(at)
	element := c.entries[key]
	if element == nil || at.Current != c.versions.Current { // another caller has passed later versions than at
		return v, false
	}
	e := element.Value.(*entry[K, V])
	if e.version != at.Current && time.Since(e.staleSince) >= maxAge {
		return v, false
	}
	c.byRecency.MoveToFront(element)
	return e.value, true
}

// invalidateOlder stores later versions in the cache. It drops the values made before the last edit, and marks all others as stale.
func (c *Cache[K, V]) invalidateOlder(at Versions) {
	if at.Current <= c.versions.Current {
		return
	}
	c.versions = at
	for next := c.byRecency.Front(); next != nil; {
		element := next
		next = element.Next()
		if e := element.Value.(*entry[K, V]); e.version < at.Edited {
			c.drop(element)
		} else if e.staleSince.IsZero() {
			e.staleSince = time.Now()
		}
	}
}

// Load returns the cached value, or the value that produce makes; concurrent calls for the same key and version call produce
// once. at must have been read before produce reads any content; otherwise the value may be older than its version. produce
// also reports whether its value may be cached. The end of ctx ends only the wait for another caller's produce: a produce
// that has begun is not cancelled, because other callers may wait for its value.
func (c *Cache[K, V]) Load(ctx context.Context, at Versions, key K, produce func(context.Context) (value V, cacheable bool, err error)) (V, error) {
	c.mu.Lock()
	if v, ok := c.get(at, key, 0); ok {
		c.mu.Unlock()
		return v, nil
	}
	id := loadKey[K]{key, at.Current}
	if l := c.loading[id]; l != nil {
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
	c.loading[id] = l
	c.mu.Unlock()

	cacheable := false
	defer func() {
		c.mu.Lock()
		delete(c.loading, id)
		if cacheable && l.err == nil {
			c.put(at.Current, key, l.value)
		}
		c.mu.Unlock()
		close(l.done)
	}()
	l.value, cacheable, l.err = produce(context.WithoutCancel(ctx))
	return l.value, l.err
}

// Put stores a value that was made from the versions at, unless a caller has passed later ones.
func (c *Cache[K, V]) Put(at Versions, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.invalidateOlder(at)
	c.put(at.Current, key, value)
}

// Replace stores a value in place of a cached one. It does nothing if the key is not cached or a caller has passed later versions.
func (c *Cache[K, V]) Replace(at Versions, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries[key] != nil {
		c.put(at.Current, key, value)
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
	e := c.byRecency.Remove(element).(*entry[K, V])
	delete(c.entries, e.key)
	c.bytes -= e.bytes
}

func (c *Cache[K, V]) put(version int64, key K, value V) {
	size := c.sizeOf(value)
	if version != c.versions.Current || size > c.maxBytes/MaxShare {
		return
	}
	if old := c.entries[key]; old != nil {
		c.drop(old)
	}
	c.entries[key] = c.byRecency.PushFront(&entry[K, V]{key: key, value: value, bytes: size, version: version})
	c.bytes += size
	for c.bytes > c.maxBytes {
		c.drop(c.byRecency.Back())
	}
}

// Lookups counts requests by whether a cached value was used. The Cache itself does not count, because one request may
// call Get several times, and pages that are made in advance call it without a request.
type Lookups struct{ hits, misses atomic.Int64 }

// Record counts one request: hit is whether a cached value was used.
func (l *Lookups) Record(hit bool) {
	if hit {
		l.hits.Add(1)
	} else {
		l.misses.Add(1)
	}
}

// Counts returns the numbers of requests since the start of the program.
func (l *Lookups) Counts() (hits, misses int64) { return l.hits.Load(), l.misses.Load() }
