package storage

import (
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
)

func TestBuckets(t *testing.T) {
	images := []string{"image/jpeg", "image/png", "image/gif", "image/webp"} // without an engine
	all := append(append([]string{}, images...), "video/mp4", "video/quicktime", "video/webm", "video/x-matroska")
	each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		bucket := func(id string, limit int, types []string, updated string) map[string]any {
			return map[string]any{"id": id, "name": id, "owner": "", "public": true, "type": "STANDARD", "file_size_limit": limit, "allowed_mime_types": types,
				"created_at": "2026-03-12T10:00:00.000Z", "updated_at": updated}
		}
		const first = "2026-03-12T10:00:00.000Z"
		covers, products, reviews := bucket("cover-images", maxUpload, all, first), bucket("product-images", maxUpload, all, first), bucket("review-images", maxUpload, images, first)
		same(t, s.call("anon", "GET", "/bucket", nil), []any{covers, products, reviews})
		same(t, s.call("anon", "GET", "/bucket/review-images", nil), reviews)
		for query, want := range map[string][]any{
			"?limit=1": {covers}, "?limit=2&offset=1": {products, reviews}, "?sortColumn=name&sortOrder=desc": {reviews, products, covers}, "?search=Product": {products}, "?search=%25": {}, "?search=x": {},
			"?sortColumn=created_at&sortOrder=asc&limit=100&offset=0&search=": {covers, products, reviews}, "?offset=3": {},
		} {
			t.Run(query, func(t *testing.T) { same(t, s.call("anon", "GET", "/bucket"+query, nil), want) })
		}
		for _, query := range []string{"?limit=0", "?limit=x", "?offset=-1", "?sortColumn=owner", "?sortOrder=up", "?search=%00", "?limit=99999999999999999999"} {
			refused(t, s.call("anon", "GET", "/bucket"+query, nil), "400", "InvalidParameter")
		}

		// What the engine reads, and no more: this one is no libvips.
		s.cfg.Engine = &studio{}
		same(t, s.call("anon", "GET", "/bucket/review-images", nil), bucket("review-images", maxUpload, append(append([]string{}, images...), "image/tiff", "image/avif"), first))
		s.cfg.Engine = nil

		s.clock = s.clock.Add(time.Hour)
		if err := s.EnsureBuckets(t.Context()); err != nil {
			t.Fatal(err)
		}
		same(t, s.call("anon", "GET", "/bucket", nil), []any{covers, products, reviews})
		s.cfg.MaxUpload = 2 << 30
		if err := s.EnsureBuckets(t.Context()); err != nil {
			t.Fatal(err)
		}
		const later = "2026-03-12T11:00:00.000Z"
		same(t, s.call("anon", "GET", "/bucket", nil), []any{bucket("cover-images", 2<<30, all, later), bucket("product-images", 2<<30, all, later), bucket("review-images", 50<<20, images, later)})
	})
}

func TestABucketsOwnLimitCounts(t *testing.T) {
	each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		if _, err := d.Exec(t.Context(), "update storage_buckets set file_size_limit = 100, allowed_mime_types = null where id = 'review-images'"); err != nil {
			t.Fatal(err)
		}
		refused(t, s.call("admin", "POST", "/object/review-images/a.mp4", strings.NewReader(string(isoFile("isom")))), "413", "Payload too large")
		s.upload("review-images/a.webp", webpLossy())
		if _, err := d.Exec(t.Context(), "update storage_buckets set file_size_limit = null where id = 'review-images'"); err != nil {
			t.Fatal(err)
		}
		s.upload("review-images/a.mp4", isoFile("isom"))
		s.holds(2)
	})
}
