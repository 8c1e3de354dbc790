package media

import (
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/storagetest"
)

// Proves P-found-picture, F-render-accept.
func TestSharePictures(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s, engine := newEngineSite(t, d)
	s.UploadFile("product-images/um%20quadro.jpg", storagetest.Photo(1700, 34))
	s.UploadFile("cover-images/film.mp4", storagetest.ISO("isom"))
	s.UploadFile("cover-images/film.still.jpg", storagetest.Photo(120, 240))
	s.UploadFile("product-images/broken.jpg", storagetest.Photo(50, 50))
	o, _ := s.media("product-images", "um quadro.jpg")
	broken, _ := s.media("product-images", "broken.jpg")
	if err := failMedia(t.Context(), d, broken.ID, broken.BlobID, "unreadable", s.now()); err != nil {
		t.Fatal(err)
	}
	const path = "/storage/v1/object/public/"
	work, video := "https://site.example"+path+"product-images/um%20quadro.jpg", path+"cover-images/film.mp4"
	got, err := s.Pictures(t.Context(), []string{work, video, path + "product-images/broken.jpg", path + "product-images/none.jpg", "https://elsewhere.example/a.jpg", "https://[", ""})
	if err != nil || len(got) != 2 {
		t.Fatalf("got %v, error %v", got, err)
	}
	rendition := "/storage/v1/render/image/public/product-images/um%20quadro.jpg?width="
	want := Picture{Share: rendition + "1200&height=630&resize=frame&format=jpeg&v=" + o.ETag[:16], Small: rendition + "128&v=" + o.ETag[:16], Large: rendition + "1600&v=" + o.ETag[:16], Width: 1600, Height: 32}
	if got[work] != want {
		t.Errorf("%+v, want %+v", got[work], want)
	}
	if p := got[video]; !strings.Contains(p.Share, "/cover-images/film.still.jpg?") || p.Width != 120 || p.Height != 240 {
		t.Errorf("still: %+v", p)
	}
	// Before the jobs of the pictures have run, the share picture is made on request, alone, and the small public file is the substitute of
	// the large rendition. Only a response with the requested rendition may be cached for ever.
	for _, requested := range []struct{ address, want, cacheControl string }{
		{want.Large, "jpeg 1700x34", "no-cache"},
		{want.Share, "jpeg 1200x630", "public, max-age=31536000, immutable"},
		{want.Large, "jpeg 1700x34", "no-cache"},
	} {
		rec, what := s.rendered("nobody", strings.TrimPrefix(requested.address, "/storage/v1/render/image/"))
		if what != requested.want || rec.Body.Len() >= 300_000 || rec.Header().Get("Cache-Control") != requested.cacheControl {
			t.Errorf("%s: %s of %d bytes, %v", requested.address, what, rec.Body.Len(), rec.Header())
		}
	}
	if share := nameOf(shareOrder()); engine.runs != 1 || engine.made[share] != 1 || len(engine.made) != 1 {
		t.Errorf("the engine ran %d times and made %v, want only %s", engine.runs, engine.made, share)
	}
	// Clients that fetch a link preview may know neither WebP nor AVIF. Their Accept header then names neither.
	s.runJobs()
	if n := engine.made[nameOf(shareOrder())]; n != 2 { // of the work and of the still
		t.Errorf("made %d share pictures, want 2", n)
	}
	for _, accept := range []string{"", "*/*"} {
		for address, is := range map[string]string{want.Large: "jpeg 1600x32", want.Share: "jpeg 1200x630"} {
			rec, what := s.rendered("nobody", strings.TrimPrefix(address, "/storage/v1/render/image/"), "Accept", accept)
			if what != is || rec.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
				t.Errorf("%s for a preview: %s, %v", address, what, rec.Header())
			}
		}
	}
	s.cfg.Engine = nil
	if got, err := s.Pictures(t.Context(), []string{work}); err != nil || len(got) != 0 {
		t.Errorf("without an engine: %v, %v", got, err)
	}
}
