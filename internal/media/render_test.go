package media

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/png"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gen2brain/webp"
	"golang.org/x/image/tiff"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/files"
	"atelie/internal/media/rendition"
	"atelie/internal/storage/storagetest"
)

// browser is the Accept header that browsers send for pictures.
const browser = "image/avif,image/webp,image/png,image/svg+xml,image/*;q=0.8,*/*;q=0.5"

// rendered requests a rendition as a browser does, unless headers replace the Accept header. It describes the response in what: type and
// size in pixels, or status and error.
func (s *site) rendered(who, address string, headers ...string) (rec *httptest.ResponseRecorder, what string) {
	s.T.Helper()
	rec = s.Call(who, "GET", "/render/image/"+address, nil, append([]string{"Accept", browser}, headers...)...)
	if rec.Code != 200 {
		return rec, fmt.Sprint(rec.Code, " ", rec.Body)
	}
	c, format, err := image.DecodeConfig(bytes.NewReader(rec.Body.Bytes()))
	if err != nil || rec.Header().Get("Content-Type") != "image/"+format {
		s.T.Errorf("%s: %s, %s, %v", address, rec.Header().Get("Content-Type"), format, err)
	}
	return rec, fmt.Sprintf("%s %dx%d", format, c.Width, c.Height)
}

// Proves F-render-public, F-render-accept, F-render-share, F-render-gone.
func TestRenditions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(700, 350))
		s.runJobs()
		o, _ := s.media("product-images", "a.jpg")
		for address, want := range map[string]string{
			"?width=320":                           "webp 320x160",
			"?width=321":                           "webp 400x200", // the next width of the ladder
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
			"?resize=crop": "400 ", "?format=gif": "400 ", "?format=avif": "400 ", "?resize=frame&width=10&height=10": "400 ", "?tile=x": "400 ", "?tile=0,0&width=3": "400 ",
			"?versionId=1": "400 ",
		} {
			if _, got := s.rendered("nobody", "public/product-images/a.jpg"+address); got != want && (want != "400 " || !strings.HasPrefix(got, want)) {
				t.Errorf("%s: %s, want %s", address, got, want)
			}
		}
		for accept, want := range map[string]string{
			"image/avif,image/webp,*/*": "webp", "image/webp": "webp", "image/avif": "jpeg", "*/*": "jpeg", "image/*;q=0.5": "jpeg", "image/png,image/jpeg": "jpeg", "image/webp;q=0,*/*": "jpeg", "text/html": "jpeg", "": "jpeg",
		} {
			if _, got := s.rendered("nobody", "public/product-images/a.jpg?width=320", "Accept", accept); !strings.HasPrefix(got, want) {
				t.Errorf("Accept %s: %s", accept, got)
			}
		}
		// Requests with a key or a signature get exact sizes, and the quality in steps of five.
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
		storagetest.Refused(t, s.Call("forged", "GET", "/render/image/authenticated/product-images/a.jpg?width=320", nil), "401", "Unauthorized")
		for _, gone := range []string{"none.jpg?width=320", "a.jpg?tile=0,0"} { // small pictures have no tiles
			goneRendition(t, s.Call("nobody", "GET", "/render/image/public/product-images/"+gone, nil))
		}
		storagetest.Refused(t, s.Call("nobody", "GET", "/render/image/public/none/a.jpg?width=320", nil), "404", "Bucket not found")
		s.UploadFile("product-images/film.mp4", storagetest.ISO("isom"))
		storagetest.Refused(t, s.Call("nobody", "GET", "/render/image/public/product-images/film.mp4?width=320", nil), "400", "InvalidRequest")
	})
}

// Proves F-render-accept.
//
// A client that accepts neither WebP nor AVIF, such as a command-line client or a link preview, gets the picture's own format. It is made on
// request and stored. The cache in memory and shared caches distinguish the two.
func TestRenditionsInThePicturesOwnFormat(t *testing.T) {
	see := image.NewNRGBA(image.Rect(0, 0, 400, 200)) // its left half can be seen through
	for i := range see.Pix {
		see.Pix[i] = 120
		if i%4 == 3 && i/4%400 >= 200 {
			see.Pix[i] = 255
		}
	}
	paletted := image.NewPaletted(see.Rect, color.Palette{color.Black, color.White})
	inPNG, inGIF, inWebP, opaque, inTIFF := new(bytes.Buffer), new(bytes.Buffer), new(bytes.Buffer), new(bytes.Buffer), new(bytes.Buffer)
	if err := errors.Join(png.Encode(inPNG, see), gif.Encode(inGIF, paletted, nil), webp.Encode(inWebP, see), webp.Encode(opaque, paletted), tiff.Encode(inTIFF, paletted, nil)); err != nil {
		t.Fatal(err)
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		for _, c := range []struct {
			name, own, origin string
			file              []byte
		}{
			{"a.jpg", "jpeg", "jpeg", storagetest.Photo(400, 200)}, {"a.png", "png", "png", inPNG.Bytes()}, {"a.gif", "png", "png", inGIF.Bytes()},
			{"see.webp", "png", "webp", inWebP.Bytes()}, {"b.webp", "jpeg", "webp", opaque.Bytes()}, {"a.tiff", "jpeg", "jpeg", inTIFF.Bytes()},
		} {
			s.UploadFile("product-images/"+c.name, c.file)
			s.runJobs()
			o, _ := s.media("product-images", c.name)
			eager := s.renditions(o.ID)
			at := "public/product-images/" + c.name + "?width=320"
			for _, v := range []string{"", "&v=" + urlVersion(o)} {
				for range 2 { // made by the first request, then from the store or the cache
					for accept, want := range map[string]string{"": c.own, "*/*": c.own, "image/png,image/jpeg": c.own, browser: "webp", "image/webp": "webp"} {
						rec, got := s.rendered("nobody", at+v, "Accept", accept)
						if got != want+" 320x160" || rec.Header().Get("Vary") != "Accept" {
							t.Errorf("%s%s for %q: %s, %v", c.name, v, accept, got, rec.Header())
						}
						if img, _, err := image.Decode(rec.Body); err != nil || c.name == "a.png" || c.name == "see.webp" {
							if _, _, _, alpha := img.At(10, 10).RGBA(); err != nil || alpha>>8 < 110 || alpha>>8 > 130 {
								t.Errorf("%s for %q: alpha %d, %v", c.name, accept, alpha>>8, err)
							}
						}
					}
				}
			}
			if _, got := s.rendered("nobody", at+"&format=origin"); got != c.origin+" 320x160" {
				t.Errorf("%s: format=origin gives %s", c.name, got)
			}
			if _, got := s.rendered("anon", "authenticated/product-images/"+c.name+"?width=100&quality=55", "Accept", ""); got != c.own+" 100x50" {
				t.Errorf("%s with a key: %s", c.name, got)
			}
			if made := s.renditions(o.ID); len(made) != len(eager)+2 { // the own format with 320 pixels, and the rendition that the key requested
				t.Errorf("%s: %q became %q", c.name, eager, made)
			}
		}
	})
}

// Proves F-render-told.
//
// X-Transformations has the words of Supabase. A substitute has no such header.
func TestTransformationsHeader(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s, _ := newEngineSite(t, d)
	s.UploadFile("product-images/a.jpg", storagetest.Photo(700, 350))
	s.runJobs()
	o, _ := s.media("product-images", "a.jpg")
	for address, want := range map[string]string{
		"authenticated/product-images/a.jpg?width=200&height=100&quality=42":         "height:100,width:200,resizing_type:fill,quality:40",
		"authenticated/product-images/a.jpg?width=200&resize=contain&format=webp":    "width:200,resizing_type:fit,format:webp",
		"authenticated/product-images/a.jpg?height=100&resize=fill&width=9000":       "height:100,width:2560,resizing_type:force",
		"authenticated/product-images/a.jpg?format=origin":                           "",
		"public/product-images/a.jpg?width=321":                                      "width:400,resizing_type:fill",
		"public/product-images/a.jpg?width=300&height=300&quality=50":                "height:320,width:320,resizing_type:fill",
		"public/product-images/a.jpg":                                                "",
		"public/product-images/a.jpg?width=1200&height=630&resize=frame&format=jpeg": "height:630,width:1200,resizing_type:frame,format:jpeg",
		"public/product-images/a.jpg?width=64&v=" + urlVersion(o):                    "width:64,resizing_type:fill",
	} {
		for range 2 { // the second one from the cache
			rec, _ := s.rendered("anon", address)
			if got := rec.Header().Get("X-Transformations"); rec.Code != 200 || got != want {
				t.Errorf("%s: %d, %q and not %q", address, rec.Code, got, want)
			}
		}
	}
	s.UploadFile("product-images/b.jpg", storagetest.Photo(700, 350))
	o, _ = s.media("product-images", "b.jpg")
	if rec, _ := s.rendered("nobody", "public/product-images/b.jpg?width=64&v="+urlVersion(o)); rec.Code != 200 || rec.Header().Get("X-Transformations") != "" {
		t.Errorf("%v", rec.Header())
	}
}

// Proves F-render-headers, F-render-gone.
func TestHeadersOfRenditions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(400, 300))
		s.runJobs()
		o, _ := s.media("product-images", "a.jpg")
		at := "/render/image/public/product-images/a.jpg?width=320"
		for range 2 { // from the store, then from the cache
			for v, control := range map[string]string{
				"": "public, max-age=300", "&v=" + urlVersion(o): "public, max-age=31536000, immutable", "&v=0123456789abcdef": "public, max-age=300",
			} {
				rec := s.Call("nobody", "GET", at+v, nil)
				h := rec.Header()
				if rec.Code != 200 || h.Get("Cache-Control") != control || h.Get("Vary") != "Accept" || h.Get("X-Content-Type-Options") != "nosniff" ||
					h.Get("Content-Security-Policy") != "default-src 'none'; sandbox" || len(h.Get("ETag")) != 34 {
					t.Errorf("%s: %d %v", v, rec.Code, h)
				}
				etag := h.Get("ETag")
				if again := s.Call("nobody", "GET", at+v, nil, "If-None-Match", etag); again.Code != 304 || again.Body.Len() > 0 {
					t.Errorf("If-None-Match: %d", again.Code)
				}
				part := s.Call("nobody", "GET", at+v, nil, "Range", "bytes=2-5")
				if part.Code != 206 || part.Body.String() != rec.Body.String()[2:6] {
					t.Errorf("range: %d", part.Code)
				}
				if head := s.Call("nobody", "HEAD", at+v, nil); head.Code != 200 || head.Header().Get("Content-Length") != fmt.Sprint(rec.Body.Len()) || head.Body.Len() > 0 {
					t.Errorf("HEAD: %d %v", head.Code, head.Header())
				}
				if saved := s.Call("nobody", "GET", at+v+"&download=x.webp", nil).Header().Get("Content-Disposition"); !strings.Contains(saved, "x.webp") {
					t.Errorf("download: %q", saved)
				}
			}
		}
		// A replaced or removed picture is not served from the cache, and never in place of another one.
		current := at + "&v=" + urlVersion(o)
		old := s.Call("nobody", "GET", current, nil).Body.String()
		s.UploadFile("product-images/a.jpg", storagetest.Photo(300, 400), "x-upsert", "true")
		if rec := s.Call("nobody", "GET", at, nil); rec.Body.String() == old || rec.Code != 200 {
			t.Error("the old picture without a version")
		}
		if rec := s.Call("nobody", "GET", current, nil); rec.Body.String() == old || rec.Header().Get("Cache-Control") != "public, max-age=300" {
			t.Errorf("the old picture with its version: %v", rec.Header())
		}
		s.Call("admin", "DELETE", "/object/product-images/a.jpg", nil)
		goneRendition(t, s.Call("nobody", "GET", current, nil))
	})
}

// goneRendition expects the real HTTP status for requests of browsers.
func goneRendition(t *testing.T, rec *httptest.ResponseRecorder) {
	t.Helper()
	var e storagetest.WireError
	if storagetest.Decode(t, rec, &e); rec.Code != 404 || e.StatusCode != "404" || e.Error != "not_found" {
		t.Errorf("HTTP %d %s", rec.Code, rec.Body)
	}
}

// Proves F-sign-transform, F-sign-names.
func TestSignedRenditions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.makeVault()
		if rec := s.Call("service", "POST", "/object/vault/a.jpg", bytes.NewReader(storagetest.Photo(400, 300))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		at := s.SignedURL("service", "vault/a.jpg", `{"expiresIn":60,"transform":{"width":123,"height":50,"resize":"fill"}}`)
		if !strings.HasPrefix(at, "/render/image/sign/vault/a.jpg?token=") {
			t.Fatal(at)
		}
		if rec, got := s.rendered("nobody", strings.TrimPrefix(at, "/render/image/")+"&width=400&resize=cover"); got != "webp 123x50" || rec.Header().Get("Cache-Control") != "private, max-age=300" {
			t.Error(got) // parameters besides the token have no effect
		}
		token := at[strings.Index(at, "?"):]
		storagetest.Refused(t, s.Call("nobody", "GET", "/object/sign/vault/a.jpg"+token, nil), "400", "InvalidJWT")
		whole := s.SignedURL("service", "vault/a.jpg", `{"expiresIn":60}`)
		storagetest.Refused(t, s.Call("nobody", "GET", "/render/image/sign/vault/a.jpg"+whole[strings.Index(whole, "?"):], nil), "400", "InvalidJWT")
		storagetest.Refused(t, s.Call("nobody", "GET", "/render/image/sign/vault/b.jpg"+token, nil), "400", "InvalidSignature")
		storagetest.Refused(t, s.Call("nobody", "GET", "/render/image/public/vault/a.jpg?width=100", nil), "404", "Bucket not found")
		storagetest.Refused(t, s.Call("anon", "GET", "/render/image/authenticated/vault/a.jpg?width=100", nil), "404", "not_found")
		if _, got := s.rendered("service", "authenticated/vault/a.jpg?width=100"); got != "webp 100x75" {
			t.Error(got)
		}
		if rec := s.Call("service", "POST", "/object/vault/a%23b%3F.jpg", bytes.NewReader(storagetest.Photo(400, 300))); rec.Code != 200 {
			t.Fatal(rec.Body)
		}
		encoded := s.SignedURL("service", "vault/a%23b%3F.jpg", `{"expiresIn":60,"transform":{"width":123,"height":50,"resize":"fill"}}`) // as the client encodes it
		for _, address := range []string{encoded, strings.ReplaceAll(encoded, "%25", "%")} {
			if _, got := s.rendered("nobody", strings.TrimPrefix(address, "/render/image/")); got != "webp 123x50" {
				t.Errorf("%s: %s", address, got)
			}
		}
		for _, body := range []string{`{"expiresIn":60,"transform":{"quality":5}}`, `{"expiresIn":60,"transform":{"resize":"x"}}`, `{"expiresIn":60,"transform":7}`} {
			storagetest.Refused(t, s.Call("service", "POST", "/object/sign/vault/a.jpg", strings.NewReader(body)), "400", "InvalidParameter")
		}
		storagetest.Refused(t, s.Call("service", "POST", "/object/sign/vault", strings.NewReader(`{"expiresIn":60,"paths":["a.jpg"],"transform":{"width":5}}`)), "400", "FeatureNotEnabled")
		s.Clock = s.Clock.Add(time.Minute)
		storagetest.Refused(t, s.Call("nobody", "GET", at, nil), "400", "InvalidJWT")
	})
}

// Proves F-render-once.
//
// Many concurrent requests cause one decoding per stage. The first one makes the rendition, and the job finds it.
func TestRenditionOnRequestIsMadeOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(350, 175))
		var all sync.WaitGroup
		for i := range 24 {
			all.Go(func() {
				rec := s.Call("nobody", "GET", fmt.Sprintf("/render/image/public/product-images/a.jpg?width=%d", []int{128, 256, 350}[i%3]), nil, "Accept", browser)
				if rec.Code != 200 {
					t.Errorf("%d %s", rec.Code, rec.Body)
				}
			})
		}
		all.Wait()
		s.runJobs()
		if e.runs > 2 || len(e.twice()) > 0 {
			t.Errorf("%d decodes, twice: %q", e.runs, e.twice())
		}
		if _, m := s.media("product-images", "a.jpg"); m.State != stateReady {
			t.Errorf("%+v", m)
		}
	})
}

// Proves F-render-stand-in.
//
// The substitute of a rendition is the next larger one, or the largest.
func TestSubstituteIsTheNextLargerRendition(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(2000, 100))
		s.runJobs()
		o, m := s.media("product-images", "a.jpg")
		for width, want := range map[int]int{1: 64, 320: 320, 321: 400, 1601: 2000, 2000: 2000, 9000: 2000} {
			got, err := s.findSubstitute(t.Context(), o, m, widthOrder(width, rendition.WebP))
			if err != nil || got.Width != want || !got.isSubstitute || got.mime != "image/webp" {
				t.Errorf("%d: %+v, %v", width, got, err)
			}
		}
		if got, err := s.findSubstitute(t.Context(), o, m, widthOrder(320, rendition.JPEG)); err != nil || got.mime != "image/jpeg" || got.BlobID != o.BlobID {
			t.Errorf("another format: %+v, %v", got, err)
		}
		o.MimeType = "image/heic" // a type that browsers cannot show
		if got, err := s.findSubstitute(t.Context(), o, m, widthOrder(320, rendition.JPEG)); err != nil || got.mime != "image/webp" || got.Width != 320 {
			t.Errorf("another format of a picture that is not shown as it is: %+v, %v", got, err)
		}
	})
}

// Proves F-render-stand-in.
//
// While the engine is busy, a page gets what exists: a small file as stored, then the first sizes. Browsers do not cache it.
func TestRequestsOfPagesDoNotWaitForABusyEngine(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		light, heavy := storagetest.Photo(1200, 800), slices.Concat(storagetest.Photo(1200, 800), make([]byte, smallFileBytes))
		s.UploadFile("product-images/a.jpg", light)
		s.UploadFile("product-images/b.jpg", storagetest.Photo(1200, 800))
		e.begun, e.goOn = make(chan struct{}, 100), make(chan struct{})
		shown := func(name, query string) (*httptest.ResponseRecorder, string) {
			o, _ := s.media("product-images", name)
			return s.rendered("nobody", "public/product-images/"+name+query+"&v="+urlVersion(o), "Accept", "image/avif,image/webp,*/*")
		}
		for _, query := range []string{"?width=64", "?width=1024", "?width=640&height=800&resize=cover"} {
			rec, got := shown("a.jpg", query)
			if got != "jpeg 1200x800" || rec.Header().Get("Cache-Control") != "no-cache" || rec.Header().Get("ETag") == "" {
				t.Errorf("%s: %s, %v", query, got, rec.Header())
			}
		}
		if e.runs != 0 || len(e.begun) > 0 {
			t.Error("a page made something")
		}
		// A page gets a large file if the first sizes are not made in time.
		if _, err := d.Exec(t.Context(), "update storage_objects set size = $1 where name = 'b.jpg'", len(heavy)); err != nil {
			t.Fatal(err)
		}
		if rec, got := shown("b.jpg", "?width=1024"); got != "jpeg 1200x800" || rec.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("heavy: %s, %v", got, rec.Header())
		}
		close(e.goOn)
		s.substituteDelay = time.Minute // a busy machine may need longer than a page waits
		if rec, got := shown("b.jpg", "?width=1024"); got != "webp 640x427" || rec.Header().Get("Cache-Control") != "no-cache" {
			t.Errorf("with first sizes: %s, %v", got, rec.Header())
		}
		if rec, got := shown("b.jpg", "?width=320"); got != "webp 320x213" || rec.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
			t.Errorf("a first size: %s, %v", got, rec.Header())
		}
		if _, m := s.media("product-images", "b.jpg"); m.State != stateWaiting || len(m.Facts.Thumbhash) == 0 {
			t.Errorf("the placeholder is missing after the first sizes: %+v", m)
		}
		s.runJobs()
		for _, name := range []string{"a.jpg", "b.jpg"} {
			if rec, got := shown(name, "?width=1024"); got != "webp 1024x683" || rec.Header().Get("Cache-Control") != "public, max-age=31536000, immutable" {
				t.Errorf("%s at last: %s, %v", name, got, rec.Header())
			}
		}
	})
}

// Proves F-render-stand-in.
//
// A request that is not a page's waits for the rendition until renderTimeout, and then gets a substitute.
func TestSubstituteAfterTheTimeout(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, e := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(1200, 800))
		s.runJobs()
		e.begun, e.goOn = make(chan struct{}, 100), make(chan struct{})
		s.renderTimeout = 300 * time.Millisecond
		for address, want := range map[string]string{
			"public/product-images/a.jpg?width=777":                        "webp 800x533", // snapped to 800
			"authenticated/product-images/a.jpg?width=777":                 "webp 800x533",
			"public/product-images/a.jpg?width=300&height=300&format=jpeg": "jpeg 1200x800",
		} {
			rec, got := s.rendered("service", address)
			if got != want || rec.Header().Get("ETag") == "" || strings.Contains(rec.Header().Get("Cache-Control"), "immutable") {
				t.Errorf("%s: %s, %v", address, got, rec.Header())
			}
		}
		if len(e.begun) == 0 {
			t.Error("nothing was begun")
		}
		close(e.goOn)
		s.running.Wait()
		s.renderTimeout = time.Hour // other tests share the processors
		var got string
		// A request that joins a rendition that has timed out gets a substitute too, until makeOnce has forgotten that rendition.
		for deadline := time.Now().Add(time.Minute); got != "webp 777x518" && time.Now().Before(deadline); {
			_, got = s.rendered("service", "authenticated/product-images/a.jpg?width=777")
		}
		if got != "webp 777x518" {
			t.Errorf("later: %s", got)
		}
	})
}

// Proves F-render-stand-in.
//
// If browsers cannot show the picture and no rendition exists, the substitute is a plain picture in its aspect ratio. For a tile it is transparent.
func TestPlainPictures(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s, _ := newEngineSite(t, d)
	o := files.Object{MimeType: "image/tiff", Size: 100}
	m := &media{ObjectID: newID(), Facts: rendition.Facts{Width: 3000, Height: 1500, Color: "#102030"}}
	got, err := s.findSubstitute(t.Context(), o, m, widthOrder(640, rendition.WebP))
	if err != nil || got.mime != "image/png" || got.Width != 32 || got.Height != 16 || !got.isSubstitute {
		t.Fatalf("%+v, %v", got, err)
	}
	img, err := png.Decode(bytes.NewReader(got.content))
	if err != nil || img.At(31, 15) != (color.RGBA{0x10, 0x20, 0x30, 0xff}) {
		t.Errorf("%v, %v", img, err)
	}
	tile, ok := tileOrder(5000, 5000, 1, 1)
	if got, err = s.findSubstitute(t.Context(), o, m, tile); !ok || err != nil {
		t.Fatal(err)
	}
	if img, err = png.Decode(bytes.NewReader(got.content)); err != nil || img.Bounds().Dx() != 1 {
		t.Fatal(err)
	}
	if _, _, _, alpha := img.At(0, 0).RGBA(); alpha != 0 {
		t.Errorf("a tile that is not there covers what is: %v", img.At(0, 0))
	}
}

// Proves F-render-key.
func TestNewSizesOfOneVisitorAreLimited(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s, e := newEngineSite(t, d)
	s.UploadFile("product-images/a.jpg", storagetest.Photo(200, 100))
	s.runJobs()
	for i := range maxNewSizes {
		if _, err := d.Hit(t.Context(), "new picture size", "", newSizeWindow, s.Clock); err != nil || i < 0 {
			t.Fatal(err)
		}
	}
	runs := e.runs
	storagetest.Refused(t, s.Call("anon", "GET", "/render/image/authenticated/product-images/a.jpg?width=77", nil), "429", "SlowDown")
	if rec := s.Call("anon", "GET", "/render/image/authenticated/product-images/a.jpg?width=200", nil, "Accept", browser); rec.Code != 200 || e.runs != runs {
		t.Errorf("what exists: %d", rec.Code)
	}
}

// Proves F-render-bound.
func TestRenditionsOnRequestAreLimited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.cfg.MaxLazyBytes = 1500
		s.UploadFile("product-images/a.jpg", storagetest.Photo(400, 300))
		s.runJobs()
		o, _ := s.media("product-images", "a.jpg")
		set := s.renditions(o.ID)
		for i := range 12 {
			s.Clock = s.Clock.Add(time.Second)
			if _, got := s.rendered("service", fmt.Sprintf("authenticated/product-images/a.jpg?width=%d", 100+i)); !strings.HasPrefix(got, "webp") {
				t.Fatal(got)
			}
		}
		sum, err := lazyBytes(t.Context(), d)
		if err != nil || sum == 0 || sum > s.cfg.MaxLazyBytes {
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
		s.HoldsFiles(1, 1+len(left))
	})
}

// Proves F-render-failed.
//
// A rendition that could not be made is not retried at each request.
func TestFailedRenditionIsNotRetried(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s, e := newEngineSite(t, d)
	s.UploadFile("product-images/a.jpg", storagetest.Photo(200, 100))
	s.runJobs()
	e.fail = rendition.ErrTooLarge
	runs := e.runs
	for range 3 {
		storagetest.Refused(t, s.Call("nobody", "GET", "/render/image/public/product-images/a.jpg?width=200&format=jpeg", nil), "422", "picture_too_large")
	}
	if e.runs != runs+1 {
		t.Errorf("%d tries", e.runs-runs)
	}
	if rec := s.Call("nobody", "GET", "/render/image/public/product-images/a.jpg?width=200", nil, "Accept", browser); rec.Code != 200 {
		t.Errorf("what is there: %d", rec.Code)
	}
	e.fail = nil
	s.Clock = s.Clock.Add(failureLifetime)
	if _, got := s.rendered("nobody", "public/product-images/a.jpg?width=200&format=jpeg"); got != "jpeg 200x100" {
		t.Error(got)
	}
}

// Proves F-render-tiles.
func TestTiles(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	s, e := newEngineSite(t, d)
	s.UploadFile("product-images/a.jpg", storagetest.Photo(4200, 60))
	s.runJobs()
	o, m := s.media("product-images", "a.jpg")
	names := s.renditions(o.ID)
	if m.State != stateReady || len(names) != len(standardWidths)+1+5 || e.runs != 3 {
		t.Errorf("%q in %d decodes", names, e.runs)
	}
	for address, want := range map[string]string{"0,0": "webp 1024x60", "4,0": "webp 104x60", "1,0&format=webp": "webp 1024x60"} {
		if _, got := s.rendered("nobody", "public/product-images/a.jpg?tile="+address); got != want {
			t.Errorf("%s: %s", address, got)
		}
	}
	goneRendition(t, s.Call("nobody", "GET", "/render/image/public/product-images/a.jpg?tile=5,0", nil))
	goneRendition(t, s.Call("nobody", "GET", "/render/image/public/product-images/a.jpg?tile=0,1", nil))
	if e.runs != 3 {
		t.Error("made again")
	}
}

// FuzzTransforms checks that any parameters are refused, or lead to one of a limited number of files, none larger than allowed.
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
		wish, err := parseTransform(q)
		if err != nil {
			if !files.IsRefusal(err) {
				t.Errorf("%q: %v", query, err)
			}
			return
		}
		o := wish.order(width, height, free)
		o.Format = rendition.WebP
		_, w, h, err := rendition.Layout(o, width, height)
		if err != nil || w < 1 || h < 1 || o.Width > max(maxRequestedSide, maxUntiledSide) && o.Width > width {
			t.Fatalf("%q of %dx%d: %+v, %dx%d, %v", query, width, height, o, w, h, err)
		}
		if !free && o.Fit != rendition.Frame && o.Crop == (rendition.Rect{}) && (o.Quality != 0 || !slices.Contains(widths(width, height), o.Width)) {
			t.Fatalf("%q of %dx%d is off the ladder: %+v", query, width, height, o)
		}
	})
}

func abs(n int) int { return max(n, -(n + 1)) }
