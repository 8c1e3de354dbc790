package tables

import (
	"bytes"
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"atelie/internal/content"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// This file contains the response cache. It stores responses to anonymous reads of public tables (tables that anonymous callers may read)
// in memory, and sends them again to equal requests.
//
// The computed column media describes a row's pictures and their renditions (copies in other sizes and formats). Responses with this column
// and responses without it are in two separate caches, because they become invalid at different times (ResponseCache).

// Limits in bytes. A response that exceeds one of them is not cached.
const (
	maxCacheBytes    = 4 << 20                          // all responses together in one of the two caches
	maxResponseBytes = maxCacheBytes / content.MaxShare // one response
	maxKeyBytes      = 2000                             // the key of one response
)

// restPrefix begins the path of every request on tables.
const restPrefix = "/rest/v1/"

// ResponseCache serves anonymous reads of public tables from memory. An edit of the content invalidates all responses. A finished rendition
// raises the content version without an edit. It invalidates only the responses with the column media.
type ResponseCache struct {
	version          *content.Version // the number that each change of visible content raises
	publicKey        PublicKey
	plain, withMedia *content.Cache[requestKey, *cachedResponse] // responses without and with the column media
	pool             *anonymousPool                              // limits how many large responses are sent, and so held in memory, at a time
	lookups          content.Lookups                             // counts of hits and misses for the metrics
}

// requestKey is the cache key: all parts of a request that affect the response to an anonymous caller.
type requestKey struct {
	method, table, query                                 string
	rangeHeader, prefer, accept, profile, acceptEncoding string
}

// cachedResponse is a response as it is sent. Its body may be compressed.
type cachedResponse struct {
	status int
	header http.Header
	body   []byte
	size   int // bytes in memory of the response and its requestKey
}

// PublicKey returns the current API key of anonymous callers. The cache needs it because a request with another key, such as a
// revoked one, must not get a cached response.
type PublicKey func(ctx context.Context) (string, error)

// NewResponseCache returns a cache for the reads of s.
func (s *Service) NewResponseCache(version *content.Version, publicKey PublicKey) *ResponseCache {
	size := func(r *cachedResponse) int { return r.size }
	return &ResponseCache{
		version: version, publicKey: publicKey, pool: s.anonymousPool,
		plain: content.NewCache[requestKey](maxCacheBytes, size), withMedia: content.NewCache[requestKey](maxCacheBytes, size),
	}
}

// Lookups returns the numbers of cache hits and misses among the anonymous reads of public tables. A request that waits for the response
// to an equal request is a hit.
func (k *ResponseCache) Lookups() *content.Lookups { return &k.lookups }

// FromCache returns a handler that serves requests from the cache. The handler passes all other requests to next, and caches the responses
// of next to anonymous callers. next must check the tokens of requests.
func (k *ResponseCache) FromCache(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, ok := k.keyOf(r)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		version, age, err := k.version.Serving(r.Context())
		if err != nil { // next fails too, and writes this surface's error
			next.ServeHTTP(w, r)
			return
		}
		cache, at := k.plain, version.EditsOnly()
		if mayReadMedia(r) {
			cache, at = k.withMedia, version.AllChanges()
		}
		if age > 0 {
			cached, ok := cache.Get(at, key)
			k.lookups.Record(ok)
			if !ok {
				next.ServeHTTP(w, r)
				return
			}
			httpx.MarkStale(w, r, age)
			cached.write(w)
			return
		}
		own := false
		cached, err := cache.Load(r.Context(), at, key, func(ctx context.Context) (*cachedResponse, bool, error) {
			own = true
			c := capture{header: http.Header{}, status: http.StatusOK}
			next.ServeHTTP(&c, r.WithContext(ctx))
			made := &cachedResponse{c.status, c.header, c.body.Bytes(), 0}
			if r.Method != http.MethodHead {
				made.header["Content-Length"] = []string{strconv.Itoa(len(made.body))}
			}
			made.size = made.memory() + key.memory()
			return made, made.status == http.StatusOK || made.status == http.StatusPartialContent, nil
		})
		if err != nil || (cached.status == http.StatusTooManyRequests && !own) { // the concurrent request for the same response failed or was limited, or this client has gone
			next.ServeHTTP(w, r)
			return
		}
		k.lookups.Record(!own)
		if cached.size <= maxResponseBytes {
			cached.write(w)
			return
		}
		httpx.Handle(WriteError, func(http.ResponseWriter, *http.Request) error {
			return k.pool.send(len(cached.body), func() error { cached.write(w); return nil })
		}).ServeHTTP(w, r)
	})
}

func (a *cachedResponse) write(w http.ResponseWriter) {
	maps.Copy(w.Header(), a.header)
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // an error means that the client has gone
}

// keyOf returns the cache key of a request. ok is false unless the request reads a public table and is certainly anonymous: it
// has the public key and no other credential.
func (k *ResponseCache) keyOf(r *http.Request) (key requestKey, ok bool) {
	if (r.Method != http.MethodGet && r.Method != http.MethodHead) || r.ContentLength != 0 {
		return key, false
	}
	table, found := strings.CutPrefix(r.URL.EscapedPath(), restPrefix)
	if t := schema[table]; !found || t == nil || !t.Public || !policy.Table(identity.Caller{Role: identity.Anon}, table, policy.Select).Allowed {
		return key, false
	}
	apikey, bearer := r.Header["Apikey"], r.Header["Authorization"]
	if len(apikey) > 1 || len(bearer) > 1 || len(apikey)+len(bearer) == 0 || strings.Contains(r.URL.RawQuery, "apikey") {
		return key, false
	}
	public, err := k.publicKey(r.Context())
	if err != nil || (len(apikey) == 1 && apikey[0] != public) || (len(bearer) == 1 && bearer[0] != "Bearer "+public) {
		return key, false
	}
	key = requestKey{r.Method, table, r.URL.RawQuery, joined(r, "Range"), joined(r, "Prefer"), joined(r, "Accept"), joined(r, "Accept-Profile"), joined(r, "Accept-Encoding")}
	return key, key.memory() <= maxKeyBytes
}

// mayReadMedia reports whether the query might select the computed column media: whether it contains that word, even as a part
// of another word.
func mayReadMedia(r *http.Request) bool {
	query, err := url.QueryUnescape(r.URL.RawQuery)
	return err != nil || strings.Contains(query, "media")
}

// joined returns all values of a header, separated by a line feed, which no header value can contain.
func joined(r *http.Request, name string) string {
	return strings.Join(r.Header[name], "\n")
}

func (k requestKey) memory() int {
	return len(k.query) + len(k.rangeHeader) + len(k.prefer) + len(k.accept) + len(k.profile) + len(k.acceptEncoding)
}

func (a *cachedResponse) memory() int {
	size := 1000 + cap(a.body) // 1000 for maps and slices
	for name, values := range a.header {
		size += len(name) + len(strings.Join(values, ""))
	}
	return size
}

// capture is a ResponseWriter that records the response for the cache.
type capture struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (c *capture) Header() http.Header { return c.header }

// WriteHeader keeps the first final status.
func (c *capture) WriteHeader(status int) {
	if !c.wrote && status >= http.StatusOK {
		c.status, c.wrote, c.header = status, true, c.header.Clone()
	}
}

// Write implements http.ResponseWriter.
func (c *capture) Write(p []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	return c.body.Write(p)
}
