package media

import (
	"bytes"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

// This file caches small renditions in memory. A rendition is a copy of a picture in another size, shape or format.

// Limits of the cache in bytes.
const (
	maxCached  = 2 << 20  // limit of one cached rendition
	cacheBytes = 64 << 20 // limit of all cached renditions together
)

// revalidateAfter is how long a cached response is used before its object is looked up in the database again. So a picture that
// is removed or made private on any node disappears within this time. The cached bytes cannot be stale, because the URL contains
// the version of the content.
const revalidateAfter = 2 * time.Second

// cachedResponse is a response to requests for a rendition: its bytes, the values of its headers, and the object that the
// rendition shows.
type cachedResponse struct {
	key                      string // cacheKey of the requests
	etag, mime, cacheControl string // values of the headers ETag, Content-Type and Cache-Control
	transformations          string // value of the header X-Transformations; "" for none
	bytes                    []byte

	object         objectName
	blobID         string // id of the object's blob
	mu             sync.Mutex
	checked        time.Time // when the object was looked up most recently
	contentVersion int64     // content version (the number that each change of visible content raises) at that time; 0 if unknown
}

// size returns the approximate use of memory in bytes; 500 is an estimate for the other fields.
func (c *cachedResponse) size() int { return len(c.bytes) + len(c.key) + 500 }

// cacheKey returns a key that contains everything in a request on which the response depends: the URL, and whether the client
// accepts AVIF and WebP.
func cacheKey(r *http.Request) string {
	formats := ""
	avif, webp := acceptedFormats(r.Header.Get("Accept"))
	if avif {
		formats = "a"
	}
	if webp {
		formats += "w"
	}
	return formats + r.URL.Path + "?" + r.URL.RawQuery
}

// serveFromCache writes the cached response to a request and returns true. If no cached response can be used, it writes nothing
// and returns false. Only URLs with a version (v=) have cached responses.
func (s *Service) serveFromCache(w http.ResponseWriter, r *http.Request) bool {
	if !strings.Contains(r.URL.RawQuery, "v=") {
		return false
	}
	c, ok := s.cache.Get(content.Versions{}, cacheKey(r))
	ok = ok && s.revalidate(w, r, c)
	s.lookups.Record(ok)
	if !ok {
		return false
	}
	c.write(w, r, bytes.NewReader(c.bytes))
	return true
}

// revalidate reports whether a cached response can be sent. If the object was looked up longer than revalidateAfter ago,
// revalidate looks it up again, for one request at a time. During an outage of the database the response can be sent unless
// content was edited since the object was looked up, and it is marked as stale.
func (s *Service) revalidate(w http.ResponseWriter, r *http.Request, c *cachedResponse) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := s.now()
	if now.Sub(c.checked) < revalidateAfter {
		return true
	}
	var at content.Versions
	if s.cfg.Content != nil {
		current, age, err := s.cfg.Content.Serving(r.Context())
		if err != nil {
			return false
		}
		if age > 0 {
			if c.contentVersion == 0 || c.contentVersion < current.Edited {
				return false
			}
			httpx.MarkStale(w, r, age)
			return true
		}
		at = current
	}
	public, err := isPublic(r.Context(), s.db, c.object, c.blobID)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return false // the request is handled without the cache, which reports the error
	}
	if !public {
		s.cache.Drop(c.key)
		return false
	}
	c.checked, c.contentVersion = now, at.Current
	return true
}

// After a rendition could not be made, this process responds to requests for it with the same error for the time
// failureLifetime, because another attempt would take as long. It remembers at most maxFailures errors.
const (
	failureLifetime = 10 * time.Minute
	maxFailures     = 1000
)

// failure is the error of a rendition that could not be made; it is remembered until the time until.
type failure struct {
	err   error
	until time.Time
}
