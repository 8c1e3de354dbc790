package storage

import (
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestPicturesForOtherSites(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStudio(t, d)
		s.upload("product-images/um%20quadro.jpg", photo(1700, 34))
		s.upload("cover-images/film.mp4", isoFile("isom"))
		s.upload("cover-images/film.still.jpg", photo(120, 240))
		s.upload("product-images/broken.jpg", photo(50, 50))
		o, _ := s.media("product-images", "um quadro.jpg")
		broken, _ := s.media("product-images", "broken.jpg")
		if err := failMedia(t.Context(), d, broken.ID, broken.BlobID, "unreadable", s.now()); err != nil {
			t.Fatal(err)
		}
		const path = "/storage/v1/object/public/"
		work, film := "https://site.example"+path+"product-images/um%20quadro.jpg", path+"cover-images/film.mp4"
		got, err := s.Pictures(t.Context(), []string{work, film, path + "product-images/broken.jpg", path + "product-images/none.jpg", "https://elsewhere.example/a.jpg", "https://[", ""})
		if err != nil || len(got) != 2 {
			t.Fatalf("%v, %v", got, err)
		}
		at := "/storage/v1/render/image/public/product-images/um%20quadro.jpg?width="
		want := Picture{Share: at + "1200&height=630&resize=frame&format=jpeg&v=" + o.ETag[:16], Large: at + "1600&v=" + o.ETag[:16], Width: 1600, Height: 32}
		if got[work] != want {
			t.Errorf("%+v, want %+v", got[work], want)
		}
		if p := got[film]; !strings.Contains(p.Share, "/cover-images/film.still.jpg?") || p.Width != 120 || p.Height != 240 {
			t.Errorf("still: %+v", p)
		}
		// They are what they say, also before the queue came to them, and can be kept for ever.
		for address, is := range map[string]string{want.Share: "jpeg 1200x630", want.Large: "webp 1600x32", got[film].Share: "jpeg 1200x630", got[film].Large: "webp 120x240"} {
			rec, what := s.rendered("nobody", strings.TrimPrefix(address, "/storage/v1/render/image/"))
			if what != is || rec.Body.Len() >= 300_000 || rec.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
				t.Errorf("%s: %s of %d bytes, %v", address, what, rec.Body.Len(), rec.Header())
			}
		}
		s.cfg.Engine = nil
		if got, err := s.Pictures(t.Context(), []string{work}); err != nil || len(got) != 0 {
			t.Errorf("without an engine: %v, %v", got, err)
		}
	})
}
