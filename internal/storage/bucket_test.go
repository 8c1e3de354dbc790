package storage

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/storage/storagetest"
)

// Proves F-bucket-list.
func TestBuckets(t *testing.T) {
	images := []string{"image/jpeg", "image/png", "image/gif", "image/webp"} // what the server decodes without libvips
	all := append(append([]string{}, images...), "video/mp4", "video/quicktime", "video/webm", "video/x-matroska")
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		bucket := func(id string, limit int, types []string, updated string) map[string]any {
			return map[string]any{"id": id, "name": id, "owner": "", "public": true, "type": "STANDARD", "file_size_limit": limit, "allowed_mime_types": types,
				"created_at": "2026-03-12T10:00:00.000Z", "updated_at": updated}
		}
		const createdAt = "2026-03-12T10:00:00.000Z"
		covers, products, reviews := bucket("cover-images", maxUpload, all, createdAt), bucket("product-images", maxUpload, all, createdAt), bucket("review-images", maxUpload, images, createdAt)
		storagetest.WantJSON(t, s.Call("anon", "GET", "/bucket", nil), []any{covers, products, reviews})
		storagetest.WantJSON(t, s.Call("anon", "GET", "/bucket/review-images", nil), reviews)
		for query, want := range map[string][]any{
			"?limit=1": {covers}, "?limit=2&offset=1": {products, reviews}, "?sortColumn=name&sortOrder=desc": {reviews, products, covers}, "?search=Product": {products}, "?search=%25": {}, "?search=x": {},
			"?sortColumn=created_at&sortOrder=asc&limit=100&offset=0&search=": {covers, products, reviews}, "?offset=3": {},
			"?search=" + strings.Repeat("_", files.MaxName): {}, "?search=" + strings.Repeat("_", files.MaxName+1): {}, "?search=" + strings.Repeat("x", 50_001): {},
		} {
			t.Run(query[:min(len(query), 80)], func(t *testing.T) { storagetest.WantJSON(t, s.Call("anon", "GET", "/bucket"+query, nil), want) })
		}
		for _, query := range []string{"?limit=0", "?limit=x", "?offset=-1", "?sortColumn=owner", "?sortOrder=up", "?search=%00", "?limit=99999999999999999999"} {
			storagetest.Refused(t, s.Call("anon", "GET", "/bucket"+query, nil), "400", "InvalidParameter")
		}

		// The bucket offers exactly the types that the engine can decode. This engine decodes AVIF, but not HEIC.
		original := s.media
		s.media = readsAVIF{original}
		storagetest.WantJSON(t, s.Call("anon", "GET", "/bucket/review-images", nil), bucket("review-images", maxUpload, append(append([]string{}, images...), "image/tiff", "image/avif"), createdAt))
		s.media = original

		s.Clock = s.Clock.Add(time.Hour)
		if err := s.EnsureBuckets(t.Context()); err != nil {
			t.Fatal(err)
		}
		storagetest.WantJSON(t, s.Call("anon", "GET", "/bucket", nil), []any{covers, products, reviews})
		s.cfg.MaxUpload = 2 << 30
		if err := s.EnsureBuckets(t.Context()); err != nil {
			t.Fatal(err)
		}
		const updatedAt = "2026-03-12T11:00:00.000Z"
		storagetest.WantJSON(t, s.Call("anon", "GET", "/bucket", nil), []any{bucket("cover-images", 2<<30, all, updatedAt), bucket("product-images", 2<<30, all, updatedAt), bucket("review-images", 50<<20, images, updatedAt)})
	})
}

// Proves F-bucket-list.
//
// TestPrivateBucketIsHidden checks that a caller who may not read a bucket gets 404 for it, and that the list leaves no gap for it.
func TestPrivateBucketIsHidden(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		for _, body := range []string{`{"name":"a-vault","public":false}`, `{"name":"press","public":true}`} {
			if rec := s.Call("service", "POST", "/bucket", strings.NewReader(body)); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
		}
		for _, who := range []string{"anon", "user", "admin", "service"} {
			every, first := []string{"a-vault", "cover-images", "press", "product-images", "review-images"}, "a-vault"
			if who != "service" {
				every, first = every[1:], "cover-images"
				e := storagetest.Refused(t, s.Call(who, "GET", "/bucket/a-vault", nil), "404", "Bucket not found")
				if e.Code != "NoSuchBucket" {
					t.Errorf("%s: %+v", who, e)
				}
			} else if rec := s.Call(who, "GET", "/bucket/a-vault", nil); rec.Code != 200 {
				t.Errorf("%s: %d %s", who, rec.Code, rec.Body)
			}
			for query, want := range map[string][]string{"": every, "?limit=1": {first}, "?limit=2&offset=1": every[1:3]} {
				var got []struct{ ID string }
				rec := s.Call(who, "GET", "/bucket"+query, nil)
				if err := json.Unmarshal(rec.Body.Bytes(), &got); err != nil {
					t.Fatal(err)
				}
				var ids []string
				for _, b := range got {
					ids = append(ids, b.ID)
				}
				if !slices.Equal(ids, want) {
					t.Errorf("%s %s: %v", who, query, ids)
				}
			}
			if rec := s.Call(who, "GET", "/bucket/press", nil); rec.Code != 200 {
				t.Errorf("%s: %d %s", who, rec.Code, rec.Body)
			}
		}
	})
}

// Proves F-download-stored.
//
// TestDownloadsWithATokenAreNotCacheable checks that a request with the token of an account or the service key gets no-store, in every bucket.
func TestDownloadsWithATokenAreNotCacheable(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.Call("service", "POST", "/bucket", strings.NewReader(`{"name":"vault","public":false}`))
		for _, bucket := range []string{"vault", "cover-images"} {
			if rec := s.Call("service", "POST", "/object/"+bucket+"/a.webp", strings.NewReader(string(storagetest.WebPLossy()))); rec.Code != 200 {
				t.Fatal(rec.Body)
			}
		}
		for _, c := range []struct{ who, at, want string }{
			{"service", "/object/vault/a.webp", "no-store"}, {"service", "/object/authenticated/vault/a.webp", "no-store"},
			{"service", "/object/cover-images/a.webp?original", "no-store"}, {"service", "/object/authenticated/cover-images/a.webp", "no-store"},
			{"user", "/object/cover-images/a.webp", "no-store"},
			{"anon", "/object/authenticated/cover-images/a.webp", "max-age=3600"}, {"service", "/object/public/cover-images/a.webp", "max-age=3600"},
		} {
			if rec := s.Call(c.who, "GET", c.at, nil); rec.Code != 200 || rec.Header().Get("Cache-Control") != c.want {
				t.Errorf("%s as %s: %d, Cache-Control %q", c.at, c.who, rec.Code, rec.Header().Get("Cache-Control"))
			}
		}
	})
}

// Proves F-bucket-size.
func TestBucketHasItsOwnSizeLimit(t *testing.T) {
	storagetest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		if _, err := d.Exec(t.Context(), "update storage_buckets set file_size_limit = 100, allowed_mime_types = null where id = 'review-images'"); err != nil {
			t.Fatal(err)
		}
		storagetest.Refused(t, s.Call("admin", "POST", "/object/review-images/a.mp4", strings.NewReader(string(storagetest.ISO("isom")))), "413", "Payload too large")
		s.UploadFile("review-images/a.webp", storagetest.WebPLossy())
		if _, err := d.Exec(t.Context(), "update storage_buckets set file_size_limit = null where id = 'review-images'"); err != nil {
			t.Fatal(err)
		}
		s.UploadFile("review-images/a.mp4", storagetest.ISO("isom"))
		s.Holds(2)
	})
}

// readsAVIF is a Media whose engine decodes every type except HEIC.
type readsAVIF struct{ Media }

func (readsAVIF) Reads(t *files.Type) bool { return t != files.HEIC }
