package storage

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	_ "golang.org/x/image/webp"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/rendition"
)

// rendered asks for a rendition and gives its type and size in pixels.
func (s *site) rendered(who, address string, headers ...string) (rec *httptest.ResponseRecorder, what string) {
	s.t.Helper()
	rec = s.call(who, "GET", "/render/image/"+address, nil, headers...)
	if rec.Code != 200 {
		return rec, fmt.Sprint(rec.Code, " ", rec.Body)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(rec.Body.Bytes()))
	if err != nil || rec.Header().Get("Content-Type") != "image/"+format {
		s.t.Errorf("%s: %s, %s, %v", address, rec.Header().Get("Content-Type"), format, err)
	}
	return rec, fmt.Sprintf("%s %dx%d", format, c.Width, c.Height)
}

func TestRenditions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newStudio(t, d)
		s.upload("product-images/a.jpg", photo(700, 350))
		s.runJobs()
		o, _ := s.media("product-images", "a.jpg")
		for address, want := range map[string]string{
			"?width=320":                           "webp 320x160",
			"?width=321":                           "webp 400x200", // snapped
			"?width=5000":                          "webp 700x350",
			"":                                     "webp 700x350",
			"?height=160":                          "webp 320x160",
			"?width=640&height=100&resize=contain": "webp 256x128",
			"?width=300&height=300":                "webp 320x320", // cover is the default
			"?width=333&height=320&resize=fill":    "webp 400x400",
			"?width=3&height=2000":                 "webp 64x149", // the nearest shape, 21 by 9, at the smallest width
			"?width=320&format=jpeg":               "jpeg 320x160",
			"?width=320&format=origin&quality=77":  "jpeg 320x160",
			"?width=1200&height=630&resize=frame&format=jpeg": "jpeg 1200x630",
			"?width=0&height=0&quality=20":                    "webp 700x350",
			"?width=-1":                                       "400 ", "?width=a": "400 ", "?width=1.5": "400 ", "?width=99999999999": "400 ", "?quality=19": "400 ", "?quality=101": "400 ",
			"?resize=crop": "400 ", "?format=gif": "400 ", "?format=avif": "400 ", "?resize=frame&width=10&height=10": "400 ", "?tile=0,0": "400 ", "?tile=x": "400 ", "?tile=0,0&width=3": "400 ",
			"?versionId=1": "400 ",
		} {
			if _, got := s.rendered("nobody", "public/product-images/a.jpg"+address); got != want && (want != "400 " || !strings.HasPrefix(got, want)) {
				t.Errorf("%s: %s, want %s", address, got, want)
			}
		}
		for accept, want := range map[string]string{
			"image/avif,image/webp,*/*": "webp", "image/webp": "webp", "*/*": "webp", "image/*;q=0.5": "webp", "image/png,image/jpeg": "jpeg", "image/webp;q=0,*/*": "jpeg", "text/html": "jpeg",
		} {
			if _, got := s.rendered("nobody", "public/product-images/a.jpg?width=320", "Accept", accept); !strings.HasPrefix(got, want) {
				t.Errorf("Accept %s: %s", accept, got)
			}
		}
		// Who has a key or a signature gets sizes as they are asked for, quality in steps of five.
		for address, want := range map[string]string{
			"?width=321&quality=43": "webp 321x161", "?width=200&height=200": "webp 200x200", "?width=50&height=10&resize=fill": "webp 50x10", "?width=4000": "webp 700x350",
		} {
			rec, got := s.rendered("anon", "authenticated/product-images/a.jpg"+address)
			if got != want || rec.Header().Get("Cache-Control") != "private, max-age=300" {
				t.Errorf("%s: %s, %v", address, got, rec.Header())
			}
		}
		if !slices.Contains(s.renditions(o.ID), "contain-321x0-q45.webp") {
			t.Errorf("%q", s.renditions(o.ID))
		}
		if again := e.twice(); len(again) > 0 {
			t.Errorf("made twice: %q", again)
		}
		refused(t, s.call("forged", "GET", "/render/image/authenticated/product-images/a.jpg?width=320", nil), "401", "Unauthorized")
		refused(t, s.call("nobody", "GET", "/render/image/public/product-images/none.jpg?width=320", nil), "404", "not_found")
		refused(t, s.call("nobody", "GET", "/render/image/public/none/a.jpg?width=320", nil), "404", "Bucket not found")
		s.upload("product-images/film.mp4", isoFile("isom"))
		refused(t, s.call("nobody", "GET", "/render/image/public/product-images/film.mp4?width=320", nil), "400", "InvalidRequest")
	})
}

func TestHeadersOfRenditions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStudio(t, d)
		s.upload("product-images/a.jpg", photo(400, 300))
		s.runJobs()
		o, _ := s.media("product-images", "a.jpg")
		at := "/render/image/public/product-images/a.jpg?width=320"
		for range 2 { // from the store, then from memory
			for v, control := range map[string]string{
				"": "public, max-age=300", "&v=" + version(o): "public, max-age=31536000, immutable", "&v=0123456789abcdef": "public, max-age=300",
			} {
				rec := s.call("nobody", "GET", at+v, nil)
				h := rec.Header()
				if rec.Code != 200 || h.Get("Cache-Control") != control || h.Get("Vary") != "Accept" || h.Get("X-Content-Type-Options") != "nosniff" ||
					h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || len(h.Get("ETag")) != 34 {
					t.Errorf("%s: %d %v", v, rec.Code, h)
				}
				etag := h.Get("ETag")
				if again := s.call("nobody", "GET", at+v, nil, "If-None-Match", etag); again.Code != 304 || again.Body.Len() > 0 {
					t.Errorf("If-None-Match: %d", again.Code)
				}
				part := s.call("nobody", "GET", at+v, nil, "Range", "bytes=2-5")
				if part.Code != 206 || part.Body.String() != rec.Body.String()[2:6] {
					t.Errorf("range: %d", part.Code)
				}
				if head := s.call("nobody", "HEAD", at+v, nil); head.Code != 200 || head.Header().Get("Content-Length") != fmt.Sprint(rec.Body.Len()) || head.Body.Len() > 0 {
					t.Errorf("HEAD: %d %v", head.Code, head.Header())
				}
				if saved := s.call("nobody", "GET", at+v+"&download=x.webp", nil).Header().Get("Content-Disposition"); !strings.Contains(saved, "x.webp") {
					t.Errorf("download: %q", saved)
				}
			}
		}
		// A picture that was replaced or removed is not shown out of memory for long, and never as another one's.
		current := at + "&v=" + version(o)
		old := s.call("nobody", "GET", current, nil).Body.String()
		s.upload("product-images/a.jpg", photo(300, 400), "x-upsert", "true")
		if rec := s.call("nobody", "GET", at, nil); rec.Body.String() == old || rec.Code != 200 {
			t.Error("the old picture without a version")
		}
		s.clock = s.clock.Add(cacheTrust)
		if rec := s.call("nobody", "GET", current, nil); rec.Body.String() == old || rec.Header().Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("the old picture with its version: %v", rec.Header())
		}
		s.call("admin", "DELETE", "/object/product-images/a.jpg", nil)
		s.clock = s.clock.Add(cacheTrust)
		refused(t, s.call("nobody", "GET", current, nil), "404", "not_found")
	})
}

func TestSignedRenditions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStudio(t, d)
		s.makeVault()
		if rec := s.call("service", "POST", "/object/vault/a.jpg", bytes.NewReader(photo(400, 300))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		at := s.signedURL("service", "vault/a.jpg", `{"expiresIn":60,"transform":{"width":123,"height":50,"resize":"fill"}}`)
		if !strings.HasPrefix(at, "/render/image/sign/vault/a.jpg?token=") {
			t.Fatal(at)
		}
		if rec, got := s.rendered("nobody", strings.TrimPrefix(at, "/render/image/")+"&width=400&resize=cover"); got != "webp 123x50" || rec.Header().Get("Cache-Control") != "private, max-age=300" {
			t.Error(got) // what stands beside the token changes nothing
		}
		token := at[strings.Index(at, "?"):]
		refused(t, s.call("nobody", "GET", "/object/sign/vault/a.jpg"+token, nil), "400", "InvalidJWT")
		whole := s.signedURL("service", "vault/a.jpg", `{"expiresIn":60}`)
		refused(t, s.call("nobody", "GET", "/render/image/sign/vault/a.jpg"+whole[strings.Index(whole, "?"):], nil), "400", "InvalidJWT")
		refused(t, s.call("nobody", "GET", "/render/image/sign/vault/b.jpg"+token, nil), "400", "InvalidSignature")
		refused(t, s.call("nobody", "GET", "/render/image/public/vault/a.jpg?width=100", nil), "404", "Bucket not found")
		refused(t, s.call("anon", "GET", "/render/image/authenticated/vault/a.jpg?width=100", nil), "404", "not_found")
		if _, got := s.rendered("service", "authenticated/vault/a.jpg?width=100"); got != "webp 100x75" {
			t.Error(got)
		}
		for _, body := range []string{`{"expiresIn":60,"transform":{"quality":5}}`, `{"expiresIn":60,"transform":{"resize":"x"}}`, `{"expiresIn":60,"transform":7}`} {
			refused(t, s.call("service", "POST", "/object/sign/vault/a.jpg", strings.NewReader(body)), "400", "InvalidParameter")
		}
		refused(t, s.call("service", "POST", "/object/sign/vault", strings.NewReader(`{"expiresIn":60,"paths":["a.jpg"],"transform":{"width":5}}`)), "400", "FeatureNotEnabled")
		s.clock = s.clock.Add(time.Minute)
		refused(t, s.call("nobody", "GET", at, nil), "400", "InvalidJWT")
	})
}

// Many callers at once, one decode: whoever comes first makes the ladder, the job finds it made.
func TestOnDemandIsMadeOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newStudio(t, d)
		s.upload("product-images/a.jpg", photo(700, 350))
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				rec := s.call("nobody", "GET", fmt.Sprintf("/render/image/public/product-images/a.jpg?width=%d", []int{320, 640, 700}[i%3]), nil)
				if rec.Code != 200 {
					t.Errorf("%d %s", rec.Code, rec.Body)
				}
			})
		}
		all.Wait()
		s.runJobs()
		if e.runs != 1 {
			t.Errorf("%d decodes, twice: %q", e.runs, e.twice())
		}
		if _, m := s.media("product-images", "a.jpg"); m.State != ready {
			t.Errorf("%+v", m)
		}
	})
}

// While another node makes renditions, who cannot wait gets the nearest one, or is asked to come again.
func TestWhoCannotWaitGetsTheNearest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStudio(t, d)
		s.upload("product-images/a.jpg", photo(2000, 100))
		s.runJobs()
		_, m := s.media("product-images", "a.jpg")
		for width, want := range map[int]int{1: 64, 320: 320, 321: 400, 1601: 2000, 2000: 2000, 9000: 2000} {
			got, err := s.nearest(t.Context(), m, asked(rung(width, rendition.WebP)))
			if err != nil || got.Width != want || !got.substitute {
				t.Errorf("%d: %+v, %v", width, got, err)
			}
		}
		if _, err := s.nearest(t.Context(), m, asked(rung(320, rendition.JPEG))); !errors.Is(err, errRendering) {
			t.Errorf("another format: %v", err)
		}
	})
}

func TestSizesOfOneVisitorAreBounded(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s, e := newStudio(t, d)
	s.upload("product-images/a.jpg", photo(200, 100))
	s.runJobs()
	for i := range maxNewSizes {
		if _, err := d.Hit(t.Context(), "new picture size", "", newSizeWindow, s.clock); err != nil || i < 0 {
			t.Fatal(err)
		}
	}
	runs := e.runs
	refused(t, s.call("anon", "GET", "/render/image/authenticated/product-images/a.jpg?width=77", nil), "429", "SlowDown")
	if rec := s.call("anon", "GET", "/render/image/authenticated/product-images/a.jpg?width=200", nil); rec.Code != 200 || e.runs != runs {
		t.Errorf("what exists: %d", rec.Code)
	}
}

func TestOnlySoManyLazyRenditionsStay(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newStudio(t, d)
		s.cfg.Lazy = 1500
		s.upload("product-images/a.jpg", photo(400, 300))
		s.runJobs()
		o, _ := s.media("product-images", "a.jpg")
		set := s.renditions(o.ID)
		for i := range 12 {
			s.clock = s.clock.Add(time.Second)
			if _, got := s.rendered("service", fmt.Sprintf("authenticated/product-images/a.jpg?width=%d", 100+i)); !strings.HasPrefix(got, "webp") {
				t.Fatal(got)
			}
		}
		sum, err := lazyBytes(t.Context(), d)
		if err != nil || sum == 0 || sum > s.cfg.Lazy {
			t.Errorf("%d bytes, %v", sum, err)
		}
		left := s.renditions(o.ID)
		for _, name := range set {
			if !slices.Contains(left, name) {
				t.Errorf("%s was evicted", name)
			}
		}
		if !slices.Contains(left, "contain-111x0-q0.webp") || slices.Contains(left, "contain-100x0-q0.webp") {
			t.Errorf("%q", left)
		}
		s.holdsFiles(1, 1+len(left))
	})
}

// What could not be made is not tried again with every request.
func TestARefusedRenditionIsRemembered(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s, e := newStudio(t, d)
	s.upload("product-images/a.jpg", photo(200, 100))
	s.runJobs()
	e.fail = rendition.ErrTooLarge
	runs := e.runs
	for range 3 {
		refused(t, s.call("nobody", "GET", "/render/image/public/product-images/a.jpg?width=200&format=jpeg", nil), "422", "picture_too_large")
	}
	if e.runs != runs+1 {
		t.Errorf("%d tries", e.runs-runs)
	}
	if rec := s.call("nobody", "GET", "/render/image/public/product-images/a.jpg?width=200", nil); rec.Code != 200 {
		t.Errorf("what is there: %d", rec.Code)
	}
	e.fail = nil
	s.clock = s.clock.Add(refusalTrust)
	if _, got := s.rendered("nobody", "public/product-images/a.jpg?width=200&format=jpeg"); got != "jpeg 200x100" {
		t.Error(got)
	}
}

func TestTiles(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s, e := newStudio(t, d)
	s.upload("product-images/a.jpg", photo(4200, 60))
	s.runJobs()
	o, m := s.media("product-images", "a.jpg")
	names := s.renditions(o.ID)
	if m.State != ready || len(names) != len(rungs)+1+5 || e.runs != 2 {
		t.Errorf("%q in %d decodes", names, e.runs)
	}
	for address, want := range map[string]string{"0,0": "webp 1024x60", "4,0": "webp 104x60", "1,0&format=webp": "webp 1024x60"} {
		if _, got := s.rendered("nobody", "public/product-images/a.jpg?tile="+address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
	refused(t, s.call("nobody", "GET", "/render/image/public/product-images/a.jpg?tile=5,0", nil), "404", "not_found")
	refused(t, s.call("nobody", "GET", "/render/image/public/product-images/a.jpg?tile=0,1", nil), "404", "not_found")
	if e.runs != 2 {
		t.Error("made again")
	}
}

// Whatever is asked for is refused, or one of a bounded number of files, none larger than is offered.
func FuzzTransforms(f *testing.F) {
	for _, seed := range []string{"width=320", "width=9&height=900&resize=fill&quality=33", "height=2147483647&resize=cover", "format=origin", "tile=0,0", "resize=frame&width=1200&height=630&format=jpeg"} {
		for _, size := range [][2]int{{4000, 3000}, {3000, 30000}, {100, 30000}, {30000, 100}, {1, 30000}} {
			f.Add(seed, size[0]-1, size[1]-1, true)
			f.Add(seed, size[0]-1, size[1]-1, false)
		}
	}
	f.Fuzz(func(t *testing.T, query string, width, height int, free bool) {
		width, height = 1+abs(width)%maxSide, 1+abs(height)%maxSide
		q, err := url.ParseQuery(query)
		if err != nil {
			return
		}
		wish, err := readTransform(q)
		if err != nil {
			if !refusal(err) {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		o := wish.order(width, height, free)
		o.Format = rendition.WebP
		_, w, h, err := rendition.Plan(o, width, height)
		if err != nil || w < 1 || h < 1 || o.Width > max(maxTransform, tiledFrom) && o.Width > width {
			t.Fatalf("%q of %dx%d: %+v, %dx%d, %v", query, width, height, o, w, h, err)
		}
		if !free && o.Fit != rendition.Frame && o.Crop == (rendition.Rect{}) && (o.Quality != 0 || !slices.Contains(widths(width, height), o.Width)) {
			t.Fatalf("%q of %dx%d is off the ladder: %+v", query, width, height, o)
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
