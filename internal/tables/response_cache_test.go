package tables

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"testing"

	"github.com/klauspost/compress/gzhttp"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// cachingSite is a site to which requests can be sent with and without the response cache.
type cachingSite struct {
	*site
	cache            *ResponseCache
	public           string // the public key
	uncached, cached http.Handler
	passed           int // requests that the cache passed on
}

func newCachingSite(t *testing.T, d *db.DB) *cachingSite {
	s := newSite(t, d)
	key, err := s.tokens.Key(identity.Anon)
	if err != nil {
		t.Fatal(err)
	}
	k := &cachingSite{site: s, public: key, cache: s.service.NewResponseCache(content.NewVersion(d, slog.New(slog.DiscardHandler)), func(context.Context) (string, error) { return key, nil }), uncached: gzhttp.GzipHandler(s.handler)}
	k.cached = k.cache.FromCache(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		k.passed++
		k.uncached.ServeHTTP(w, r)
	}))
	return k
}

// compare sends a request with and without the cache and requires the same response. It reports whether the cache responded.
func (k *cachingSite) compare(r *http.Request) (hit bool) {
	k.t.Helper()
	want, got := httptest.NewRecorder(), httptest.NewRecorder()
	before := k.passed
	k.cached.ServeHTTP(got, r.Clone(k.t.Context()))
	hit = k.passed == before
	k.uncached.ServeHTTP(want, r.Clone(k.t.Context()))
	if want.Header().Get("Content-Length") == "" { // cached responses also have a Content-Length
		if length := got.Header().Get("Content-Length"); length != "" && length != strconv.Itoa(got.Body.Len()) {
			k.t.Errorf("%s %s: Content-Length %s of %d bytes", r.Method, r.URL, length, got.Body.Len())
		}
		got.Header().Del("Content-Length")
	}
	if got.Code != want.Code || got.Body.String() != want.Body.String() || !maps.EqualFunc(got.Header(), want.Header(), slices.Equal) {
		k.t.Fatalf("%s %s %v\ncached %d %v %s\nfresh  %d %v %s", r.Method, r.URL, r.Header, got.Code, got.Header(), got.Body, want.Code, want.Header(), want.Body)
	}
	return hit
}

// Proves KEPT-rest-1.
//
// TestCachedResponsesEqualTheDatabases sends random requests, as any caller, between random writes.
func TestCachedResponsesEqualTheDatabases(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		k := newCachingSite(t, d)
		random := rand.New(rand.NewPCG(8, 18))
		one := func(of ...string) string { return of[random.IntN(len(of))] }
		for n := range 6 {
			k.exec("insert into products (id, title, description, artwork_type, created_at) values ($1, $2, $3, 'mural', $4)", id(n+1), "Work "+strconv.Itoa(n), fmt.Sprintf("%0700d", n), today)
			k.exec("insert into reviews (id, client_name, message, is_active, created_at) values ($1, 'Ana', 'Lovely', $2, $3)", id(n+1), n%2 == 0, today)
			k.exec("insert into cover_images (id, image_url, is_active, display_order, created_at) values ($1, '/a.jpg', $2, 1, $3)", id(n+1), n%2 == 0, today)
		}
		type asking struct {
			who string
			r   *http.Request
		}
		draw := func() asking {
			path := "/rest/v1/" + one("products", "reviews", "cover_images", "cover_images", "products", "contact_submissions", "nothing", "products/") +
				one("", "?select=*", "?select=id,created_at&order=id.desc", "?id=not.is.null", "?is_active=eq.true", "?limit=2", "?limit=2&offset=1", "?offset=100", "?nothing=eq.1", "?apikey=x", "?select=*,media")
			r := httptest.NewRequest(one("GET", "GET", "GET", "HEAD"), path, nil)
			for _, values := range [][]string{
				{"Range", "", "", "", "0-1", "5-2", "1-"}, {"Prefer", "", "", "", "count=exact", "count=exact", "handling=strict, nonsense"},
				{"Accept-Encoding", "", "gzip", "zstd, gzip"}, {"Accept", "", "", "", "text/csv", "application/vnd.pgrst.object+json", "image/png"},
				{"Accept-Profile", "", "", "", "", "public", "secret"},
			} {
				if v := one(values[1:]...); v != "" && (values[0] == "Accept-Encoding" || random.IntN(2) == 0) {
					r.Header.Set(values[0], v)
				}
			}
			who := one(anonymous, anonymous, anonymous, anonymous, anonymous, anonymous, anonymous, anonymous, signedIn, admin, service, "nobody", "no scheme", "two keys")
			public := k.public
			switch who {
			case anonymous:
				r.Header.Set("apikey", public)
				if random.IntN(2) == 0 {
					r.Header.Set("Authorization", "Bearer "+public)
				}
			case "nobody":
			case "no scheme":
				r.Header.Set("Authorization", public)
			case "two keys":
				r.Header.Set("apikey", public)
				r.Header.Add("apikey", k.token(service))
			default:
				r.Header.Set("apikey", public)
				r.Header.Set("Authorization", "Bearer "+k.token(who))
			}
			return asking{who, r}
		}
		pool := make([]asking, 8)
		hits := 0
		for step := range 800 {
			if step%40 == 0 {
				for i := range pool {
					pool[i] = draw()
				}
			}
			if random.IntN(15) == 0 {
				n := id(1 + random.IntN(6))
				switch random.IntN(5) {
				case 0:
					k.exec("update cover_images set is_active = not is_active where id = $1", n)
				case 1:
					k.exec("update reviews set is_active = not is_active, message = $2 where id = $1", n, "Message "+strconv.Itoa(step))
				case 2:
					k.exec("update products set title = $2 where id = $1", n, "Title "+strconv.Itoa(step))
				case 3:
					k.exec("delete from products where id = $1", n)
				case 4:
					k.exec("update cover_images set has_ended = not has_ended, visible_until = $2 where id = $1", n, today)
				}
			}
			requested := pool[random.IntN(len(pool))]
			if k.compare(requested.r) {
				hits++
				if requested.who != anonymous {
					t.Fatalf("%s was served from the cache: %s", requested.who, requested.r.URL)
				}
			}
		}
		if hits < 50 {
			t.Errorf("%d responses came from the cache: the test requests too many different things", hits)
		}
	})
}

// Proves KEPT-rest-2.
//
// TestResponsesWithoutMediaStayCachedWhenFilesAreDescribed checks that jobs for pictures do not cause queries of the tables.
func TestResponsesWithoutMediaStayCachedWhenFilesAreDescribed(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		k := newCachingSite(t, d)
		k.exec("insert into products (id, title, artwork_type, created_at) values ($1, 'Serra', 'mural', $2)", id(1), today)
		k.exec("insert into storage_buckets (id, name, created_at, updated_at) values ('b', 'b', $1, $1)", today)
		k.exec("insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, created_at, updated_at) values ($1, 'b', 'a.jpg', $1, 1, 'image/jpeg', 'e', '', $2, $2)", id(2), today)
		ask := func(query string) bool {
			r := httptest.NewRequest("GET", "/rest/v1/products"+query, nil)
			r.Header.Set("apikey", k.public)
			return k.compare(r)
		}
		queries := map[string]bool{"?select=*": false, "?title=eq.Serra": false, "?select=*,media": true, "?select=id,%6dedia": true, "?select=*%2Cm%65dia": true}
		for query := range queries {
			if ask(query) || !ask(query) {
				t.Errorf("%s: not cached", query)
			}
		}
		k.exec("insert into media (object_id, blob_id, kind, state, width, height, created_at, updated_at) values ($1, $1, 'image', 'waiting', 1, 1, $2, $2)", id(2), today)
		for query, tells := range queries {
			if ask(query) == tells {
				t.Errorf("%s after a recorded fact: cached %v", query, !tells)
			}
		}
		k.exec("update products set title = 'Costa'")
		for query := range queries {
			if ask(query) {
				t.Errorf("%s after an edit: from memory", query)
			}
		}
	})
}
