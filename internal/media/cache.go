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

// cacheTrust is how long a rendition is served from memory before its object is read from the database again. A picture that
// is removed or made private on any node disappears within this time. The bytes themselves cannot be stale, because the URL
// contains the version of the content.
const cacheTrust = 2 * time.Second

// cachedAnswer is an answer to requests for a rendition, as the cache holds it.
type cachedAnswer struct {
	key                 string // cacheKey of the requests
	etag, mime, control string // values of the headers ETag, Content-Type and Cache-Control
	applied             string // value of the header X-Transformations; "" for none
	bytes               []byte

	object         objectName
	version        string // id of the object's blob
	mu             sync.Mutex
	checked        time.Time // when the object was last looked up
	contentVersion int64     // content version at that time; 0 if unknown
}

// size returns the approximate use of memory in bytes; 500 is an estimate for the other fields.
func (v *cachedAnswer) size() int { return len(v.bytes) + len(v.key) + 500 }

// cacheKey returns a key that contains everything in a request on which the answer depends.
func cacheKey(r *http.Request) string {
	class := ""
	avif, webp := accepted(r.Header.Get("Accept"))
	if avif {
		class = "a"
	}
	if webp {
		class += "w"
	}
	return class + r.URL.Path + "?" + r.URL.RawQuery
}

// fromCache answers a request from memory. It returns false, and writes nothing, if there is no cached answer or it can no
// longer be used.
func (s *Service) fromCache(w http.ResponseWriter, r *http.Request) bool {
	if !strings.Contains(r.URL.RawQuery, "v=") {
		return false
	}
	c, ok := s.cache.Get(content.At{}, cacheKey(r))
	if !ok || !s.revalidate(w, r, c) {
		return false
	}
	c.write(w, r, bytes.NewReader(c.bytes))
	return true
}

// revalidate reports whether a rendition may be served from memory. If the last check is older than cacheTrust, it looks up the
// object, one caller at a time. During an outage the last check remains valid unless content was edited since, and the response
// is marked as stale.
func (s *Service) revalidate(w http.ResponseWriter, r *http.Request, c *cachedAnswer) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	now := s.now()
	if now.Sub(c.checked) < cacheTrust {
		return true
	}
	var at content.At
	if s.cfg.Content != nil {
		known, age, err := s.cfg.Content.Serving(r.Context())
		if err != nil {
			return false
		}
		if age > 0 {
			if c.contentVersion == 0 || c.contentVersion < known.Edited {
				return false
			}
			httpx.MarkStale(w, r, age)
			return true
		}
		at = known
	}
	there, err := isPublic(r.Context(), s.db, c.object, c.version)
	if err != nil && !errors.Is(err, db.ErrNoRows) {
		return false // the ordinary path reports the error
	}
	if !there {
		s.cache.Drop(c.key)
		return false
	}
	c.checked, c.contentVersion = now, at.Version
	return true
}

// After a rendition could not be made, this process answers requests for it with the same error for failureTrust, because
// another attempt would take as long. It remembers at most maxFailures errors.
const (
	failureTrust = 10 * time.Minute
	maxFailures  = 1000
)

// failure is the remembered error of a rendition.
type failure struct {
	err   error
	until time.Time
}
