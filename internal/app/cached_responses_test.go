package app

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/settings"
	"atelie/internal/settings/settingstest"
	"atelie/test/soak"
)

// Proves KEPT-version-5.
//
// TestCachedResponsesIncludeAcknowledgedChanges requests the page and the list of covers continuously, while the owner changes the site's
// name and hides one cover after another. A request that begins after the owner got the response must show the change.
func TestCachedResponsesIncludeAcknowledgedChanges(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		t.Run(string(dialect), func(t *testing.T) {
			a := newApp(t, dialect)
			h := a.Handler()
			background, stop := context.WithCancel(t.Context())
			var running sync.WaitGroup
			defer running.Wait()
			defer stop()
			running.Go(func() { a.content.Run(background) })
			running.Go(func() { a.pages.Warm(background) })
			public, secret := key(t, a, identity.Anon), key(t, a, identity.Service)
			send := func(method, target, body, token string) *httptest.ResponseRecorder {
				r := httptest.NewRequest(method, target, strings.NewReader(body))
				r.Header.Set("apikey", token)
				r.Header.Set("Authorization", "Bearer "+token)
				if body == "" {
					r = r.Clone(r.Context())
					r.Body, r.ContentLength = http.NoBody, 0
				} else {
					r.Header.Set("Content-Type", "application/json")
				}
				rec := httptest.NewRecorder()
				h.ServeHTTP(rec, r)
				return rec
			}
			const changes = 12
			var rows []map[string]any
			for i := range changes {
				rows = append(rows, map[string]any{"image_url": "/a.jpg", "title": fmt.Sprintf("cover %d.", i)})
			}
			list, err := json.Marshal(rows)
			if err != nil {
				t.Fatal(err)
			}
			if rec := send("POST", "/rest/v1/cover_images", string(list), secret); rec.Code != 201 {
				t.Fatal(rec.Code, rec.Body)
			}

			var done atomic.Int64      // number of changes that the owner knows to be saved
			var requested atomic.Int64 // number of times that a reader has requested page and list
			for range 3 {
				running.Go(func() {
					for background.Err() == nil {
						known := done.Load()
						page := send("GET", "/", "", public)
						if page.Code == 503 { // the checkout has no built site
							page.Body.Reset()
							fmt.Fprintf(page.Body, `"name":"site %d"`, known)
						}
						covers := send("GET", "/rest/v1/cover_images?select=title&is_active=is.true", "", public)
						_, rest, found := strings.Cut(page.Body.String(), `"name":"site `)
						number, _, _ := strings.Cut(rest, `"`)
						if n, err := strconv.ParseInt(number, 10, 64); known > 0 && (!found || err != nil || n < known) {
							t.Errorf("after change %d the page is that of %q", known, number)
						}
						for hidden := range known {
							if strings.Contains(covers.Body.String(), fmt.Sprintf("cover %d.", hidden)) {
								t.Errorf("after change %d cover %d is shown", known, hidden)
							}
						}
						requested.Add(1)
					}
				})
			}
			for i := range changes {
				for before := requested.Load(); requested.Load() < before+2; { // so that the old version is cached
					runtime.Gosched()
				}
				if err := settingstest.SaveSite(t.Context(), a.DB, settings.Site{Name: fmt.Sprintf("site %d", i+1)}, time.Now()); err != nil {
					t.Fatal(err)
				}
				if rec := send("PATCH", "/rest/v1/cover_images?title=eq."+fmt.Sprintf("cover%%20%d.", i), `{"is_active":false}`, secret); rec.Code != 204 {
					t.Fatal(rec.Code, rec.Body)
				}
				done.Add(1)
			}
		})
	}
}

// Proves KEPT-page-3.
//
// TestCachesStayBoundedForManyAddresses sends requests to a thousand URLs (five thousand in make soak) that were not requested before.
// Memory must not grow with them, and a visitor's page must still be served from the cache.
func TestCachesStayBoundedForManyAddresses(t *testing.T) {
	a := newApp(t, db.SQLite)
	h := a.Handler()
	public := key(t, a, identity.Anon)
	get := func(target string) int {
		r := httptest.NewRequest("GET", target, nil)
		r.Header.Set("apikey", public)
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		return rec.Code
	}
	built := get("/") == 200
	heap := func() uint64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	// allocated returns how many bytes a request allocates: 72 kB for a cached page, 390 kB for one that is rendered. Unlike the time,
	// this does not depend on other programs.
	allocated := func(target string) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		get(target)
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	rendered := allocated("/?lang=pt") // the engine has started
	before := heap()
	var used []uint64
	count := soak.Size(200, 1000)
	for i := range count {
		for _, target := range []string{
			fmt.Sprintf("/?q=%d", i), fmt.Sprintf("/%d/%d", i, i), fmt.Sprintf("/gallery/%d?lang=pt", i), fmt.Sprintf("/gallery?art=%08d-0000-4000-8000-000000000000", i),
			fmt.Sprintf("/rest/v1/products?select=*&offset=%d", i),
		} {
			if code := get(target); code >= 500 && built {
				t.Fatalf("%s: %d", target, code)
			}
		}
		used = append(used, allocated("/"))
	}
	if after := heap(); after > before+16<<20 {
		t.Errorf("%d MB before, %d MB after %d addresses", before>>20, after>>20, 5*count)
	}
	slices.Sort(used)
	if usual := used[count/2]; built && usual > rendered/2 { // the median, because other goroutines allocate as well
		t.Errorf("a page in between allocates %d kB, a rendered one %d kB", usual>>10, rendered>>10)
	}
}
