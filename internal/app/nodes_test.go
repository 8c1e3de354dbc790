//go:build !race

// The race detector would make these tests take minutes, and would find nothing, because the nodes share only the database and make pictures
// in separate processes. TestRenditionOnRequestIsMadeOnce in internal/media tests concurrent requests within one node, with the race detector.
package app

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"io"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/config"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
	"atelie/internal/media/rendition"
	"atelie/internal/storage"
	"atelie/internal/storage/blob/blobtest"
)

// startNodes starts the program three times with one database and one file store. All three run jobs.
func startNodes(t *testing.T, cfg config.Config) (apps []*App, urls []string) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	var serving sync.WaitGroup
	t.Cleanup(func() {
		stop()
		serving.Wait()
		for _, a := range apps {
			if err := a.Close(); err != nil {
				t.Error(err)
			}
		}
	})
	for range 3 {
		a, err := New(t.Context(), cfg, slog.New(slog.DiscardHandler), time.Now)
		if err != nil {
			t.Fatal(err)
		}
		apps = append(apps, a)
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		urls = append(urls, "http://"+l.Addr().String())
		serving.Go(func() {
			if err := a.Serve(ctx, l, nil); err != nil {
				t.Error(err)
			}
		})
	}
	return apps, urls
}

func gradient(w, h int, seed uint8) []byte {
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			img.SetRGBA(x, y, color.RGBA{uint8(x * 255 / w), uint8(y * 255 / h), seed, 255})
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, nil); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// Proves F-render-once.
//
// Three nodes get requests for all renditions while the jobs run. Every rendition must be made once, and every node must send the same
// bytes.
func TestEveryRenditionIsMadeOnceAcrossNodes(t *testing.T) {
	for _, store := range []string{"disk", "s3"} {
		t.Run(store, func(t *testing.T) {
			cfg := configuration(t)
			cfg.Database.URL = dbtest.URL(t, db.Postgres)
			if store == "s3" {
				b := blobtest.Bucket(t)
				at, err := url.Parse(b.Endpoint)
				if err != nil {
					t.Fatal(err)
				}
				at.Scheme, at.User, at.Path, at.RawQuery = "s3", url.UserPassword(b.KeyID, b.Secret), "/"+b.Bucket, url.Values{"region": {b.Region}, "tls": {"off"}, "path-style": {"on"}, "create": {"on"}}.Encode()
				cfg.Storage.URL = at.String()
			}
			apps, urls := startNodes(t, cfg)
			// A trigger in the database counts, because a rendition that is made again replaces the first row.
			for _, statement := range []string{
				"create table times_made (name text)",
				"create function note_made() returns trigger language plpgsql as $$ begin insert into times_made values (new.object_id || new.name); return null; end $$",
				"create trigger note_made after insert on media_renditions for each row execute function note_made()",
			} {
				if _, err := apps[0].DB.Exec(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			service := identity.Caller{Role: identity.Service}
			var requested sync.WaitGroup
			const pictures = 3
			widths := []int{320, 640, 700}
			var mu sync.Mutex
			bodies := map[string]string{}
			for i := range pictures {
				name := fmt.Sprintf("%d.jpg", i)
				if _, err := apps[i%3].Storage.Put(t.Context(), service, "product-images", name, bytes.NewReader(gradient(700, 350, uint8(i))), -1, storage.PutOptions{}); err != nil {
					t.Fatal(err)
				}
				for n := range 9 {
					requested.Go(func() {
						at := fmt.Sprintf("/storage/v1/render/image/public/product-images/%s?width=%d", name, widths[n%3])
						status, body := get(t, urls[n/3]+at)
						for status == http.StatusServiceUnavailable && strings.Contains(body, `"SlowDown"`) && t.Context().Err() == nil {
							status, body = get(t, urls[n/3]+at) // a request waits only some seconds for a rendition; a busy machine needs several requests
						}
						if status != http.StatusOK {
							t.Errorf("%s: %d %s", at, status, body)
						}
						mu.Lock()
						defer mu.Unlock()
						if before, ok := bodies[at]; ok && before != body {
							t.Errorf("%s: two nodes show different bytes", at)
						}
						bodies[at] = body
					})
				}
			}
			requested.Wait()
			var last struct{ waiting, made int }
			for ended := false; !ended; { // a busy machine may take a minute for one rendition, and longer for all
				waitUntil(t, "the jobs go on, or the queue is empty", func() bool {
					now := last
					if err := apps[0].DB.QueryRow(t.Context(), "select (select count(*) from jobs where failed_at is null), (select count(*) from times_made)").Scan(&now.waiting, &now.made); err != nil {
						t.Fatal(err)
					}
					goesOn := now != last
					last, ended = now, now.waiting == 0
					return goesOn || ended
				})
			}
			each := 1 + 1 // the picture's own width, and the share picture
			for _, rung := range slices.Concat(rendition.MainWidths[:], rendition.ExtraWidths[:]) {
				if rung < 700 {
					each++
				}
			}
			for table, want := range map[string]int{"media_renditions": pictures * each, "times_made": pictures * each, "storage_trash": 0, "media": pictures} {
				var n int
				if err := apps[0].DB.QueryRow(t.Context(), "select count(*) from "+table).Scan(&n); err != nil || n != want {
					t.Errorf("%s: %d rows of %d, %v", table, n, want, err)
				}
			}
			var problems []string
			n, err := apps[1].Media.VerifyMedia(t.Context(), func(_, _ int, name, problem string) error {
				problems = append(problems, name+" "+problem)
				return nil
			})
			if err != nil || n != 0 {
				t.Errorf("%v: %q", err, problems)
			}
			if len(bodies) != pictures*len(widths) || slices.Contains(slices.Collect(maps.Values(bodies)), "") {
				t.Errorf("%d responses", len(bodies))
			}
		})
	}
}

func get(t *testing.T, address string) (int, string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	r.Header.Set("Accept", "image/avif,image/webp,*/*") // as browsers send it for pictures
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	var b strings.Builder
	if _, err := io.Copy(&b, resp.Body); err != nil {
		t.Error(err)
	}
	if err := resp.Body.Close(); err != nil {
		t.Error(err)
	}
	return resp.StatusCode, b.String()
}

func waitUntil(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within the time limit: %s", what)
		}
		<-time.After(5 * time.Millisecond)
	}
}

// Proves KEPT-scheduled.
//
// TestEveryNodeShowsAScheduledWorkAtItsTime runs three nodes with cached pages. Two seconds after the time, no node may serve a page
// without the work, or with the cover that ends then.
func TestEveryNodeShowsAScheduledWorkAtItsTime(t *testing.T) {
	cfg := configuration(t)
	cfg.Database.URL = dbtest.URL(t, db.Postgres)
	apps, urls := startNodes(t, cfg)
	get := func(url string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("apikey", key(t, apps[0], identity.Anon))
		res, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		var b bytes.Buffer
		if _, err := b.ReadFrom(res.Body); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	at := time.Now().Add(4 * time.Second)
	if err := apps[0].Tables.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, "products", []map[string]any{
		{"title": "Onda", "artwork_type": "mural", "is_featured": true, "published_at": db.FormatTime(at)}, {"title": "Cais", "artwork_type": "mural"},
	}); err != nil {
		t.Fatal(err)
	}
	if err := apps[0].Tables.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, "cover_images", []map[string]any{
		{"image_url": "/storage/v1/object/public/cover-images/a.jpg", "title": "Inverno", "display_order": 1, "visible_until": db.FormatTime(at)},
	}); err != nil {
		t.Fatal(err)
	}
	var seen [3]time.Time
	for waiting := true; waiting && time.Since(at) < time.Minute; {
		waiting = false
		for i, url := range urls {
			page, rows := strings.Contains(get(url+"/gallery/mural"), "Onda"), strings.Contains(get(url+"/rest/v1/products?select=title"), "Onda")
			cover := strings.Contains(get(url+"/"), "Inverno")
			if after := time.Now(); after.Before(at.Add(-time.Second)) && (page || rows || !cover) {
				t.Fatalf("node %d shows the work, or hides the cover, %s before the time", i, at.Sub(after))
			}
			if page && rows && !cover && seen[i].IsZero() {
				seen[i] = time.Now()
			}
			waiting = waiting || !page || !rows || cover
		}
	}
	for i, when := range seen {
		if when.IsZero() {
			t.Errorf("node %d never showed the work, or never hid the cover", i)
		}
		t.Logf("node %d showed the work %s after its time", i, when.Sub(at))
	}
}
