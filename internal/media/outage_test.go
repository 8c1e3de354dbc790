package media

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/storagetest"
)

// Proves F-outage.
//
// During an outage, public files that were served before it are still served, marked as stale. All other requests get 503: for files that were
// removed or hidden before the outage, for files that were not requested before it, and for files that need a token.
func TestPublicFilesDuringAnOutageOfTheDatabase(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			databaseURL, beginOutage, endOutage := dbtest.Outage(t, dialect)
			d, err := db.Open(t.Context(), databaseURL, db.NoHooks)
			if err == nil {
				err = d.Migrate(t.Context())
			}
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() {
				if err := d.Close(); err != nil {
					t.Error(err)
				}
			})
			s := (&site{Site: storagetest.New(t, d)}).wire()
			s.startEngine()
			if rec := s.Call("service", "POST", "/bucket", strings.NewReader(`{"id":"closed","name":"closed","public":true}`)); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
			for _, name := range []string{"product-images/a.jpg", "product-images/removed.jpg"} {
				s.UploadFile(name, storagetest.Photo(700, 350))
			}
			if rec := s.Call("service", "POST", "/object/closed/a.jpg", bytes.NewReader(storagetest.Photo(700, 350))); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
			s.runJobs()
			o, _ := s.media("product-images", "a.jpg")
			shown := []string{
				"/object/public/product-images/a.jpg", "/render/image/public/product-images/a.jpg?width=320", "/render/image/public/product-images/a.jpg?width=320&v=" + urlVersion(o),
			}
			unavailable := []string{
				"/object/public/product-images/removed.jpg", "/render/image/public/product-images/removed.jpg?width=320",
				"/object/public/closed/a.jpg", "/render/image/public/closed/a.jpg?width=320",
			}
			get := func(address string) *httptest.ResponseRecorder {
				return s.Call("nobody", "GET", address, nil, "Accept", "image/webp,*/*")
			}
			before := map[string]string{}
			expectFresh := func(addresses []string) {
				t.Helper()
				for _, address := range addresses {
					rec := get(address)
					if rec.Code != 200 || rec.Header().Get("Cache-Status") != "" {
						t.Fatalf("%s: %d %s", address, rec.Code, rec.Body)
					}
					before[address] = rec.Body.String()
				}
			}
			expectFresh(unavailable)
			if rec := s.Call("admin", "DELETE", "/object/product-images/removed.jpg", nil); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
			if rec := s.Call("service", "PUT", "/bucket/closed", strings.NewReader(`{"public":false}`)); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
			expectFresh(shown)
			expectFresh(shown) // from the cache
			beginOutage()
			for !d.InOutage() { // the first request notices the outage
				get("/object/public/product-images/other.jpg")
			}
			for _, address := range shown {
				rec := get(address)
				if rec.Code != 200 || rec.Body.String() != before[address] || !strings.HasPrefix(rec.Header().Get("Cache-Status"), "atelie; hit; ttl=-") {
					t.Errorf("%s: %d, Cache-Status %q", address, rec.Code, rec.Header().Get("Cache-Status"))
				}
			}
			for name, cache := range map[string]struct {
				lookups      *content.Lookups
				hits, misses int64
			}{
				"files": {s.stored.BlobCacheLookups(), 1 + 3 + 3, 4 + 2}, // two URLs have the same rendition
				"rows":  {s.RowLookups(), 2 + 2, 2 + 2},
			} {
				if hits, misses := cache.lookups.Counts(); hits != cache.hits || misses != cache.misses {
					t.Errorf("cache of %s: %d hits, %d misses", name, hits, misses)
				}
			}
			if rec := s.Call("nobody", "GET", shown[0], nil, "Range", "bytes=3-9"); rec.Code != http.StatusPartialContent || rec.Body.String() != before[shown[0]][3:10] {
				t.Errorf("a range: %d", rec.Code)
			}
			for _, address := range append(unavailable, "/render/image/public/product-images/a.jpg?width=640", "/object/public/product-images/a.jpg?versionId=1") {
				if rec := get(address); rec.Code != http.StatusServiceUnavailable || rec.Header().Get("Cache-Status") != "" {
					t.Errorf("%s: %d, Cache-Status %q", address, rec.Code, rec.Header().Get("Cache-Status"))
				}
			}
			if rec := s.Call("anon", "GET", "/object/authenticated/product-images/a.jpg", nil); rec.Code != http.StatusServiceUnavailable {
				t.Errorf("with a token: %d", rec.Code)
			}
			endOutage()
			for deadline := time.Now().Add(time.Minute); d.InOutage(); time.Sleep(20 * time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the end of the outage is not seen")
				}
			}
			expectFresh(shown)
		})
	}
}
