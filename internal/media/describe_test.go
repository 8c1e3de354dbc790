package media

import (
	"encoding/json"
	"slices"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/storagetest"
)

// Proves T-select-media.
func TestDescribe(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.UploadFile("product-images/um%20quadro.jpg", storagetest.WithComment(storagetest.Photo(700, 350), "x"))
		s.UploadFile("product-images/film.mp4", storagetest.ISO("isom"))
		const fileURL, absoluteURL = "/storage/v1/object/public/product-images/um quadro.jpg", "https://site.example/storage/v1/object/public/product-images/um%20quadro.jpg"
		requested := []string{fileURL, absoluteURL, "/storage/v1/object/public/product-images/film.mp4", "/storage/v1/object/public/product-images/none.jpg", "/x", "https://[", "", "/storage/v1/object/public/\x00/y"}
		describe := func(detailed bool) map[string]description {
			t.Helper()
			got, err := s.Describe(t.Context(), requested, detailed)
			if err != nil {
				t.Fatal(err)
			}
			out := map[string]description{}
			for a, text := range got {
				var v description
				if err := json.Unmarshal(text, &v); err != nil {
					t.Fatal(err)
				}
				out[a] = v
			}
			if _, isDescribed := out[requested[2]]; isDescribed != detailed || len(out) != 2+len(out[requested[2]].Kind)/5 {
				t.Fatalf("%d descriptions: %v", len(out), out)
			}
			return out
		}
		o, _ := s.media("product-images", "um quadro.jpg")
		v := describe(false)[fileURL]
		if v.Kind != "image" || v.Version != o.ETag[:16] || v.Width != 700 || v.Height != 350 || !slices.Equal(v.Widths, []int{64, 128, 192, 256, 320, 400, 512, 640, 700}) || *v.Tiles || v.Thumbhash != nil || v.Details != nil || v.Focus != nil {
			t.Errorf("at once: %+v", v)
		}
		s.runJobs()
		if ok, err := s.SetFocus(t.Context(), absoluteURL, 0.25, 1); !ok || err != nil {
			t.Errorf("focus: %t, %v", ok, err)
		}
		for _, other := range []string{requested[2], requested[3], "/x"} {
			if ok, err := s.SetFocus(t.Context(), other, 0, 0); ok || err != nil {
				t.Errorf("%s: %t, %v", other, ok, err)
			}
		}
		v = describe(false)[absoluteURL]
		if len(v.Thumbhash) < 5 || len(v.Color) != 7 || v.Focus == nil || *v.Focus != [2]float64{0.25, 1} || v.Details != nil {
			t.Errorf("with its renditions: %+v", v)
		}
		det := describe(true)[fileURL].Details
		if det == nil || det.State != stateReady || det.Engine != "atelie" || det.Public != o.Size || det.Original <= o.Size || len(det.Ladder) != 9 || det.Ladder[320] <= 0 || det.Ladder[320] >= det.Ladder[700] {
			t.Errorf("details: %+v", det)
		}
	})
}

// TestVideoIsDescribedWithItsStill checks the description of a video, which is the only place where pages find its poster (docs/product.md,
// rule 36).
func TestVideoIsDescribedWithItsStill(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.UploadFile("cover-images/o%20cais.mp4", storagetest.ISO("isom"))
		const base = "https://site.example/storage/v1/object/public/cover-images/o%20cais"
		poster := func() string {
			t.Helper()
			got, err := s.Describe(t.Context(), []string{base + ".mp4?x"}, false)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) == 0 {
				return ""
			}
			var v description
			if err := json.Unmarshal(got[base+".mp4?x"], &v); err != nil {
				t.Fatal(err)
			}
			return v.Poster
		}
		if p := poster(); p != "" {
			t.Errorf("without a still: %q", p)
		}
		s.UploadFile("cover-images/o%20cais.still.jpg", storagetest.Photo(70, 35))
		if p := poster(); p != base+".still.jpg" {
			t.Errorf("with a still: %q", p)
		}
	})
}
