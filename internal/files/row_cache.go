package files

import (
	"context"
	"errors"
	"io/fs"
	"net/http"
	"time"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

// This file caches the database rows behind public URLs of files, and responds from these rows during an outage of the database. Cached rows
// are used as long as the content version (the number that each change of visible content raises) stays the same.

// rowCacheBytes is the maximum memory that the entries of one RowCache may use, in bytes.
const rowCacheBytes = 2 << 20

// staleTime is how long cached rows are still used after a change that is not an edit by a person, such as the record of a new rendition (a
// resized copy of a picture). While uploads are processed, the program makes many of these changes, and without staleTime each of them
// would drop all rows.
const staleTime = time.Second

// RowCache caches the database rows that describe the files at public URLs, until a person edits content. With these rows, files are served
// without a query, and also during an outage of the database, because the bytes of files are not in the database. T is the type of the rows
// for one URL.
type RowCache[T any] struct {
	version *content.Version          // nil if nothing is cached
	rows    *content.Cache[string, T] // by a key that the callers make from the request
	lookups content.Lookups           // numbers of requests that found cached rows (hits) and that found none (misses)
}

// NewRowCache returns a cache. sizeOf returns how many bytes of memory an entry uses. If version is nil, nothing is cached.
func NewRowCache[T any](version *content.Version, sizeOf func(T) int) *RowCache[T] {
	return &RowCache[T]{version: version, rows: content.NewCache[string](rowCacheBytes, sizeOf)}
}

// Lookups returns the counts of hits and misses.
func (c *RowCache[T]) Lookups() *content.Lookups { return &c.lookups }

// FromCache returns a handler that calls respond with the cached rows of a request. keyOf returns the key of the rows, or false for a
// request that the cache cannot handle. next handles the request in three cases: keyOf returns false, no rows are cached, or respond
// returns an error. respond must not have written anything when it returns an error.
func (c *RowCache[T]) FromCache(next http.Handler, keyOf func(*http.Request) (string, bool), respond func(http.ResponseWriter, *http.Request, T) error) http.Handler {
	if c.version == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if key, ok := keyOf(r); ok {
			if rows, ok := c.find(r.Context(), key); ok && respond(w, r, rows) == nil {
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// find returns the cached rows of a key. During an outage of the database it returns none, so that the request reaches the method Serve,
// which marks its response as stale.
func (c *RowCache[T]) find(ctx context.Context, key string) (rows T, ok bool) {
	at, age, err := c.version.Serving(ctx)
	if err != nil || age > 0 {
		return rows, false
	}
	rows, ok = c.rows.GetStale(at, key, staleTime)
	c.lookups.Record(ok)
	return rows, ok
}

// Serve responds to a request. key identifies the rows of the request. Serve calls serveFresh, which must read the rows, respond from the
// rows, and pass them to its argument remember. During an outage of the database Serve calls serveStale with the cached rows, unless content
// was edited after they were read. If the cache has no usable rows during an outage, the error is db.ErrOutage.
func (c *RowCache[T]) Serve(w http.ResponseWriter, r *http.Request, key string, serveFresh func(remember func(T)) error, serveStale func(T) error) error {
	if c.version == nil {
		return serveFresh(func(T) {})
	}
	at, age, err := c.version.Serving(r.Context())
	if err != nil || age == 0 {
		hasVersion := err == nil
		err = serveFresh(func(rows T) {
			if hasVersion {
				c.rows.Put(at, key, rows)
			}
		})
		if !errors.Is(err, db.ErrOutage) {
			return err
		}
		var outage error
		if at, age, outage = c.version.Serving(r.Context()); outage != nil || age == 0 {
			return err
		}
	}
	rows, ok := c.rows.GetStale(at, key, content.OutageLife)
	c.lookups.Record(ok)
	if !ok {
		return db.ErrOutage
	}
	httpx.MarkStale(w, r, age)
	if err := serveStale(rows); err != nil {
		w.Header().Del("Cache-Status")
		if errors.Is(err, fs.ErrNotExist) { // a rendition was evicted after its row was cached
			return db.ErrOutage
		}
		return err
	}
	return nil
}
