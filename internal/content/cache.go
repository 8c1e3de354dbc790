package content

import (
	"container/list"
	"context"
	"errors"
	"sync"
	"time"
)

// Cache keeps values that were made of one version of the content, the least recently used going first, and those that
// differ from it by nothing that somebody has changed: they are worn. The version is its caller's to ask for.
type Cache[K comparable, V any] struct {
	limit int // bytes
	size  func(V) int

	mu     sync.Mutex
	now    At
	kept   map[K]*list.Element // of entry[K, V]
	order  list.List           // the most recently used first
	bytes  int
	making map[versioned[K]]*making[V]
}

type entry[K comparable, V any] struct {
	key     K
	value   V
	bytes   int
	version int64
	worn    time.Time // when a later version was first seen
}

type versioned[K comparable] struct {
	key     K
	version int64
}

// making is a value on its way; done is closed when value or err is there.
type making[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// errUnmade is what those who waited hear when the one who made the value panicked.
var errUnmade = errors.New("what others waited for was not made")

// NewCache keeps values of at most limit bytes together, as size measures them with their keys.
func NewCache[K comparable, V any](limit int, size func(V) int) *Cache[K, V] {
	return &Cache[K, V]{limit: limit, size: size, kept: map[K]*list.Element{}, making: map[versioned[K]]*making[V]{}}
}

// Find gives what was made of just this version.
func (c *Cache[K, V]) Find(at At, key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(at, key, 0)
}

// FindWorn gives also what was made before something was found out about files, for so long after that was seen first.
func (c *Cache[K, V]) FindWorn(at At, key K, within time.Duration) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(at, key, within)
}

func (c *Cache[K, V]) find(at At, key K, within time.Duration) (v V, ok bool) {
	c.advance(at)
	kept := c.kept[key]
	if kept == nil || at.Version != c.now.Version {
		return v, false
	}
	e := kept.Value.(*entry[K, V])
	if e.version != at.Version && time.Since(e.worn) >= within {
		return v, false
	}
	c.order.MoveToFront(kept)
	return e.value, true
}

// advance forgets all that was made before the last change that somebody has made, and notes since when the rest is worn.
func (c *Cache[K, V]) advance(at At) {
	if at.Version <= c.now.Version {
		return
	}
	c.now = at
	for next := c.order.Front(); next != nil; {
		kept := next
		next = kept.Next()
		if e := kept.Value.(*entry[K, V]); e.version < at.Edited {
			c.drop(kept)
		} else if e.worn.IsZero() {
			e.worn = time.Now()
		}
	}
}

// Get gives what is kept, or has it produced: once, while others wait. The version must have been asked for before produce
// reads anything. produce says whether its value may be kept at all. It runs to its end even if the caller has gone, for
// others may wait; ctx ends the waiting alone.
func (c *Cache[K, V]) Get(ctx context.Context, at At, key K, produce func(context.Context) (V, bool, error)) (V, error) {
	c.mu.Lock()
	if v, ok := c.find(at, key, 0); ok {
		c.mu.Unlock()
		return v, nil
	}
	order := versioned[K]{key, at.Version}
	if m := c.making[order]; m != nil {
		c.mu.Unlock()
		select {
		case <-m.done:
			return m.value, m.err
		case <-ctx.Done():
			var none V
			return none, ctx.Err()
		}
	}
	m := &making[V]{done: make(chan struct{}), err: errUnmade}
	c.making[order] = m
	c.mu.Unlock()

	keep := false
	defer func() {
		c.mu.Lock()
		delete(c.making, order)
		if keep && m.err == nil {
			c.keep(at.Version, key, m.value)
		}
		c.mu.Unlock()
		close(m.done)
	}()
	m.value, keep, m.err = produce(context.WithoutCancel(ctx))
	return m.value, m.err
}

// Replace puts a better value in the place of one that is kept, unless the version has passed or the place is empty.
func (c *Cache[K, V]) Replace(at At, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[key] != nil {
		c.keep(at.Version, key, value)
	}
}

func (c *Cache[K, V]) drop(at *list.Element) {
	e := c.order.Remove(at).(*entry[K, V])
	delete(c.kept, e.key)
	c.bytes -= e.bytes
}

func (c *Cache[K, V]) keep(version int64, key K, value V) {
	size := c.size(value)
	if version != c.now.Version || size > c.limit/8 { // one value must not push out all the others
		return
	}
	if worn := c.kept[key]; worn != nil {
		c.drop(worn)
	}
	c.kept[key] = c.order.PushFront(&entry[K, V]{key: key, value: value, bytes: size, version: version})
	c.bytes += size
	for c.bytes > c.limit {
		c.drop(c.order.Back())
	}
}
