package content

import (
	"container/list"
	"context"
	"errors"
	"sync"
)

// Cache keeps values that were made of one version of the content, the least recently used going first. It knows no age:
// the version is its caller's to ask for.
type Cache[K comparable, V any] struct {
	limit int // bytes
	size  func(V) int

	mu      sync.Mutex
	version int64
	kept    map[K]*list.Element // of entry[K, V]
	order   list.List           // the most recently used first
	bytes   int
	making  map[versioned[K]]*making[V]
}

type entry[K comparable, V any] struct {
	key   K
	value V
	bytes int
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

// Find gives what is kept under the key of the version.
func (c *Cache[K, V]) Find(version int64, key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.find(version, key)
}

func (c *Cache[K, V]) find(version int64, key K) (v V, ok bool) {
	c.advance(version)
	at := c.kept[key]
	if at == nil || version != c.version {
		return v, false
	}
	c.order.MoveToFront(at)
	return at.Value.(*entry[K, V]).value, true
}

// advance forgets all that was made of an older version.
func (c *Cache[K, V]) advance(version int64) {
	if version <= c.version {
		return
	}
	c.version, c.bytes = version, 0
	clear(c.kept)
	c.order.Init()
}

// Get gives what is kept, or has it produced: once, while others wait. The version must have been asked for before produce
// reads anything. produce says whether its value may be kept at all. It runs to its end even if the caller has gone, for
// others may wait; ctx ends the waiting alone.
func (c *Cache[K, V]) Get(ctx context.Context, version int64, key K, produce func(context.Context) (V, bool, error)) (V, error) {
	c.mu.Lock()
	if v, ok := c.find(version, key); ok {
		c.mu.Unlock()
		return v, nil
	}
	at := versioned[K]{key, version}
	if m := c.making[at]; m != nil {
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
	c.making[at] = m
	c.mu.Unlock()

	keep := false
	defer func() {
		c.mu.Lock()
		delete(c.making, at)
		if keep && m.err == nil {
			c.keep(version, key, m.value)
		}
		c.mu.Unlock()
		close(m.done)
	}()
	m.value, keep, m.err = produce(context.WithoutCancel(ctx))
	return m.value, m.err
}

// Replace puts a better value in the place of one that is kept, unless the version has passed or the place is empty.
func (c *Cache[K, V]) Replace(version int64, key K, value V) {
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.kept[key]
	if at == nil || version != c.version {
		return
	}
	c.drop(at)
	c.keep(version, key, value)
}

func (c *Cache[K, V]) drop(at *list.Element) {
	e := c.order.Remove(at).(*entry[K, V])
	delete(c.kept, e.key)
	c.bytes -= e.bytes
}

func (c *Cache[K, V]) keep(version int64, key K, value V) {
	size := c.size(value)
	if version != c.version || size > c.limit/8 { // one value must not push out all the others
		return
	}
	c.kept[key] = c.order.PushFront(&entry[K, V]{key, value, size})
	c.bytes += size
	for c.bytes > c.limit {
		c.drop(c.order.Back())
	}
}
