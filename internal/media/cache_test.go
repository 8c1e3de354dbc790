package media

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/media/rendition"
	"atelie/internal/storage/storagetest"
)

// Proves F-download-memory.
//
// TestCachedRendition checks that a cached rendition is served without a query and without its file: the test renames the table and the files.
// It requests both URLs of the rendition, without and with a version, also ranges. After an upload of another picture, the cache must not have
// the old one any more.
func TestCachedRendition(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(700, 350))
		s.runJobs()
		o, _ := s.media("product-images", "a.jpg")
		const plain = "/render/image/public/product-images/a.jpg?width=320"
		urls := []string{plain, plain + "&v=" + urlVersion(o)}
		bodies := map[string]string{}
		for _, url := range urls {
			rec := s.Call("nobody", "GET", url, nil, "Accept", browser)
			if rec.Code != 200 {
				t.Fatal(rec.Code, rec.Body)
			}
			bodies[url] = rec.Body.String()
		}
		for _, name := range s.Files() {
			if err := os.Rename(filepath.Join(s.Root, name), filepath.Join(s.Root, name)+".away"); err != nil {
				t.Fatal(err)
			}
		}
		rename := func(from, to string) {
			t.Helper()
			if _, err := d.Exec(t.Context(), "alter table "+from+" rename to "+to); err != nil {
				t.Fatal(err)
			}
		}
		rename("media_renditions", "elsewhere")
		for _, url := range urls {
			for range 2 {
				if rec := s.Call("nobody", "GET", url, nil, "Accept", browser); rec.Code != 200 || rec.Body.String() != bodies[url] {
					t.Errorf("%s: %d, %d bytes of %d", url, rec.Code, rec.Body.Len(), len(bodies[url]))
				}
			}
			part := s.Call("nobody", "GET", url, nil, "Accept", browser, "Range", "bytes=5-9")
			if part.Code != 206 || part.Body.String() != bodies[url][5:10] {
				t.Errorf("%s: a range: %d", url, part.Code)
			}
			if rec := s.Call("nobody", "GET", url, nil, "Accept", browser, "If-None-Match", part.Header().Get("ETag")); rec.Code != 304 || rec.Body.Len() > 0 {
				t.Errorf("%s: unchanged: %d", url, rec.Code)
			}
			if rec := s.Call("nobody", "GET", url, nil, "Accept", ""); rec.Code == 200 {
				t.Errorf("%s: the response to a browser is sent to a client that accepts no WebP", url)
			}
		}
		rename("elsewhere", "media_renditions")
		s.UploadFile("product-images/a.jpg", storagetest.Photo(350, 700), "x-upsert", "true")
		for _, url := range urls {
			if rec := s.Call("nobody", "GET", url, nil, "Accept", browser); rec.Code != 200 || rec.Body.String() == bodies[url] {
				t.Errorf("%s after the picture was replaced: %d, the old bytes: %v", url, rec.Code, rec.Body.String() == bodies[url])
			}
		}
		s.Call("admin", "DELETE", "/object/product-images/a.jpg", nil)
		for _, url := range urls {
			goneRendition(t, s.Call("nobody", "GET", url, nil, "Accept", browser))
		}
	})
}

// Proves F-download-memory.
//
// TestRenditionsOfPrivateBucketsAreNotCached checks that renditions that need a key or a signature are read for each request.
func TestRenditionsOfPrivateBucketsAreNotCached(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.makeVault()
		if rec := s.Call("service", "POST", "/object/vault/a.jpg", bytes.NewReader(storagetest.Photo(400, 300))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		signed := s.SignedURL("service", "vault/a.jpg", `{"expiresIn":60,"transform":{"width":64}}`)
		for range 2 {
			if rec := s.Call("service", "GET", "/render/image/authenticated/vault/a.jpg?width=64", nil); rec.Code != 200 {
				t.Fatal(rec.Code, rec.Body)
			}
			if rec := s.Call("nobody", "GET", signed, nil); rec.Code != 200 {
				t.Fatal(rec.Code, rec.Body)
			}
			storagetest.Refused(t, s.Call("nobody", "GET", "/render/image/public/vault/a.jpg?width=64", nil), "404", "Bucket not found")
			storagetest.Refused(t, s.Call("anon", "GET", "/render/image/authenticated/vault/a.jpg?width=64", nil), "404", "not_found")
		}
		if hits, misses := s.stored.BlobCacheLookups().Counts(); hits+misses != 0 {
			t.Errorf("%d hits and %d misses in memory", hits, misses)
		}
		// Renditions of a bucket that becomes public are cached. When it becomes private again, they are not served any more.
		public := func(value string) {
			t.Helper()
			if rec := s.Call("service", "PUT", "/bucket/vault", strings.NewReader(`{"public":`+value+`}`)); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
		}
		public("true")
		for range 2 {
			if rec := s.Call("nobody", "GET", "/render/image/public/vault/a.jpg?width=64", nil); rec.Code != 200 {
				t.Fatal(rec.Code, rec.Body)
			}
		}
		if hits, _ := s.stored.BlobCacheLookups().Counts(); hits != 1 {
			t.Errorf("%d hits in memory", hits)
		}
		public("false")
		storagetest.Refused(t, s.Call("nobody", "GET", "/render/image/public/vault/a.jpg?width=64", nil), "404", "Bucket not found")
	})
}

// avifEngine is an engine whose AVIF renditions are stored by the test.
type avifEngine struct{ *fakeEngine }

func (avifEngine) AVIF() bool { return true }

// Proves F-download-memory.
//
// TestNewAVIFRenditionIsServedSoon matters because a new AVIF rendition does not raise the content version.
func TestNewAVIFRenditionIsServedSoon(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(700, 350))
		s.runJobs()
		s.cfg.Engine = avifEngine{e}
		o, _ := s.media("product-images", "a.jpg")
		typeOf := func() string {
			t.Helper()
			rec := s.Call("nobody", "GET", "/render/image/public/product-images/a.jpg?width=320", nil, "Accept", browser)
			if rec.Code != 200 {
				t.Fatal(rec.Code, rec.Body)
			}
			return rec.Header().Get("Content-Type")
		}
		if got := typeOf(); got != "image/webp" {
			t.Fatal(got)
		}
		all, err := listRenditions(t.Context(), d, o.ID)
		if err != nil {
			t.Fatal(err)
		}
		made := all[slices.IndexFunc(all, func(r renditionRow) bool { return r.Width == 320 && r.Format == rendition.WebP })]
		order := widthOrder(320, rendition.AVIF)
		made.Name, made.Format, made.BlobID = nameOf(order), rendition.AVIF, newID()
		stored, err := s.blobs.Put(t.Context(), made.BlobID, strings.NewReader("an AVIF"))
		if err != nil {
			t.Fatal(err)
		}
		made.Size, made.ETag = stored.Size, stored.ETag
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			_, err := insertRendition(t.Context(), tx, o.ID, made)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if got := typeOf(); got != "image/webp" {
			t.Errorf("within %v: %s", fallbackLifetime, got)
		}
		s.Clock = s.Clock.Add(fallbackLifetime)
		if got := typeOf(); got != "image/avif" {
			t.Errorf("after %v: %s", fallbackLifetime, got)
		}
	})
}

// Proves F-render-bound.
//
// TestUseOfACachedRenditionIsRecorded checks that it is recorded once an hour, so that renditions that nobody requests are deleted first.
func TestUseOfACachedRenditionIsRecorded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(700, 350))
		s.runJobs()
		used := func() (at time.Time) {
			t.Helper()
			if rec := s.Call("nobody", "GET", "/render/image/public/product-images/a.jpg?width=320&format=jpeg", nil); rec.Code != 200 {
				t.Fatal(rec.Code, rec.Body)
			}
			if err := d.QueryRow(t.Context(), "select used_at from media_renditions where name = $1", nameOf(widthOrder(320, rendition.JPEG))).Scan(&at); err != nil {
				t.Fatal(err)
			}
			return at
		}
		first := used()
		for _, step := range []struct {
			after time.Duration
			want  time.Duration // after the first use
		}{{time.Minute, 0}, {useInterval, time.Minute + useInterval}, {time.Minute, time.Minute + useInterval}} {
			s.Clock = s.Clock.Add(step.after)
			if got := used().Sub(first); got != step.want {
				t.Errorf("recorded %v after the first use, want %v", got, step.want)
			}
		}
		last := used()
		s.cfg.Full = func() bool { return true }
		s.Clock = s.Clock.Add(useInterval)
		if got := used(); !got.Equal(last) {
			t.Errorf("recorded %v on a full disk", got)
		}
	})
}
