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
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Limits of what is kept, in bytes: all answers together, and the parts of a request that tell answers apart. What is
// longer is answered all the same, each time anew.
const (
	keptBytes   = 4 << 20 // twice: with and without what is known of files
	maxKeptKey  = 2000
	restSurface = "/rest/v1/"
)

// Kept answers anonymous reads of public tables from memory for as long as the content stands: answers that tell of files
// until something else is known of one, the others until somebody edits.
type Kept struct {
	version            *content.Version
	key                string // of anonymous callers
	answers, described *content.Cache[keptRequest, *keptAnswer]
}

// keptRequest is all that an answer to an anonymous caller depends on besides the content.
type keptRequest struct {
	method, table, query                           string
	rangeOf, prefer, accept, profile, acceptCoding string
}

// keptAnswer is an answer byte by byte, in the encoding that was asked for.
type keptAnswer struct {
	status int
	header http.Header
	body   []byte
	size   int
}

// NewKept needs the key that anonymous callers send.
func NewKept(version *content.Version, anonKey string) *Kept {
	size := func(a *keptAnswer) int { return a.size }
	return &Kept{version, anonKey, content.NewCache[keptRequest](keptBytes, size), content.NewCache[keptRequest](keptBytes, size)}
}

// Around serves from memory what it may, and passes everything else on to next, which must check tokens itself.
func (k *Kept) Around(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, ok := k.keyOf(r)
		if !ok {
			next.ServeHTTP(w, r)
			return
		}
		version, err := k.version.Current(r.Context())
		if err != nil { // then next cannot read either, and says so in the contract's words
			next.ServeHTTP(w, r)
			return
		}
		answers, at := k.answers, version.SinceEdit()
		if tellsOfFiles(r) {
			answers, at = k.described, version.Exactly()
		}
		a, err := answers.Get(r.Context(), at, key, func(ctx context.Context) (*keptAnswer, bool, error) {
			c := capture{header: http.Header{}, status: http.StatusOK}
			next.ServeHTTP(&c, r.WithContext(ctx))
			a := &keptAnswer{c.status, c.header, c.body.Bytes(), 0}
			if r.Method != http.MethodHead {
				a.header["Content-Length"] = []string{strconv.Itoa(len(a.body))}
			}
			a.size = a.weigh() + key.weigh()
			return a, a.status == http.StatusOK || a.status == http.StatusPartialContent, nil
		})
		if err != nil { // the caller has gone, or whom it waited for has failed
			next.ServeHTTP(w, r)
			return
		}
		maps.Copy(w.Header(), a.header)
		w.WriteHeader(a.status)
		_, _ = w.Write(a.body) // a caller that has gone needs no answer
	})
}

// keyOf tells requests that are certainly anonymous: they carry the public key, and nothing else that says who asks.
func (k *Kept) keyOf(r *http.Request) (key keptRequest, ok bool) {
	if (r.Method != http.MethodGet && r.Method != http.MethodHead) || r.ContentLength != 0 {
		return key, false
	}
	table, found := strings.CutPrefix(r.URL.EscapedPath(), restSurface)
	if t := schema[table]; !found || t == nil || !t.Public || !policy.Table(identity.Caller{Role: identity.Anon}, table, policy.Select).Allowed {
		return key, false
	}
	apikey, bearer := r.Header["Apikey"], r.Header["Authorization"]
	if len(apikey) > 1 || len(bearer) > 1 || len(apikey)+len(bearer) == 0 || strings.Contains(r.URL.RawQuery, "apikey") ||
		(len(apikey) == 1 && apikey[0] != k.key) || (len(bearer) == 1 && bearer[0] != "Bearer "+k.key) {
		return key, false
	}
	key = keptRequest{r.Method, table, r.URL.RawQuery, joined(r, "Range"), joined(r, "Prefer"), joined(r, "Accept"), joined(r, "Accept-Profile"), joined(r, "Accept-Encoding")}
	return key, key.weigh() <= maxKeptKey
}

// tellsOfFiles: the computed column media is asked for by its name alone, also as a part of another word to be safe.
func tellsOfFiles(r *http.Request) bool {
	query, err := url.QueryUnescape(r.URL.RawQuery)
	return err != nil || strings.Contains(query, "media")
}

// joined gives all values of a header, told apart by a byte that none of them can hold.
func joined(r *http.Request, name string) string {
	values := r.Header[name]
	if len(values) == 1 {
		return values[0]
	}
	return strings.Join(values, "\n")
}

func (k keptRequest) weigh() int {
	return len(k.query) + len(k.rangeOf) + len(k.prefer) + len(k.accept) + len(k.profile) + len(k.acceptCoding)
}

func (a *keptAnswer) weigh() int {
	size := 1000 + cap(a.body) // 1000 for what the maps and the lists need
	for name, values := range a.header {
		size += len(name) + len(strings.Join(values, ""))
	}
	return size
}

// capture takes an answer down.
type capture struct {
	header http.Header
	status int
	wrote  bool
	body   bytes.Buffer
}

// Header is that of the answer.
func (c *capture) Header() http.Header { return c.header }

// WriteHeader keeps the first final status.
func (c *capture) WriteHeader(status int) {
	if !c.wrote && status >= http.StatusOK {
		c.status, c.wrote, c.header = status, true, c.header.Clone()
	}
}

// Write takes bytes of the body down.
func (c *capture) Write(p []byte) (int, error) {
	c.WriteHeader(http.StatusOK)
	return c.body.Write(p)
}
