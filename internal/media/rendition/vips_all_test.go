//go:build !race

package rendition

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/draw"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/image/tiff"

	"atelie/internal/media/metadata"
	"atelie/internal/media/rendition/colour"
)

// withVips returns a processor that uses libvips. It skips the test if libvips is not installed.
func withVips(t *testing.T) *Processor {
	t.Helper()
	s := newTestProcessor(t, Config{})
	s.idleTime = 0 // does not wait for idle processors: while other tests run, there are none
	if s.findVips().path == "" {
		t.Skip("libvips-tools is not installed")
	}
	return s
}

// both makes renditions of one file with both engines: ours with the own engine, theirs with libvips.
func both(t *testing.T, s *Processor, file []byte, orders ...Order) (ours, theirs Result) {
	t.Helper()
	theirs, err := s.Make(t.Context(), Job{Source: writeFile(t, "source", file), Folder: t.TempDir(), NeedsFacts: true, Orders: orders})
	if err != nil {
		t.Fatal(err)
	}
	if theirs.Engine != EngineVips {
		t.Fatalf("made by %s", theirs.Engine)
	}
	return made(t, file, orders...), theirs
}

// soft returns a picture without hard edges, for which two good resamplers give nearly the same result.
func soft(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			wave := 40 * math.Sin(float64(x)/9) * math.Cos(float64(y)/11)
			m.SetNRGBA(x, y, color.NRGBA{uint8(60 + 120*x/w + int(wave)), uint8(60 + 120*y/h - int(wave)), uint8(128 + int(wave)), 255})
		}
	}
	return m
}

// Proves F-render-accept.
func TestBothEnginesMakeTheSame(t *testing.T) {
	if testing.Short() {
		t.Skip("makes a hundred pictures with each engine")
	}
	s := withVips(t)
	opaque := soft(450, 300)
	transparent := image.NewNRGBA(opaque.Rect)
	copy(transparent.Pix, opaque.Pix)
	for i := 3; i < len(transparent.Pix); i += 4 {
		transparent.Pix[i] = uint8(min(i/4%450, 255))
	}
	cmyk, err := os.ReadFile("testdata/cmyk.jpg")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{
		"jpeg":                   jpegOf(t, opaque),
		"png":                    pngOf(t, opaque),
		"alpha":                  pngOf(t, transparent),
		"gray":                   pngOf(t, converted(opaque, image.NewGray(opaque.Rect))),
		"16 bits":                pngOf(t, converted(opaque, image.NewNRGBA64(opaque.Rect))),
		"tiff":                   encoded(t, func(b *bytes.Buffer) error { return tiff.Encode(b, opaque, &tiff.Options{Compression: tiff.Deflate}) }),
		"P3":                     withICC(pngOf(t, opaque), colour.DisplayP3Profile),
		"turned":                 exifTurn(jpegOf(t, storedAs(opaque, 6)), 6),
		"turned, odd":            exifTurn(jpegOf(t, storedAs(soft(301, 203), 5)), 5),
		"printer's ink":          cmyk,
		"smaller than asked for": pngOf(t, soft(200, 133)),
	}
	orders := []Order{
		{Width: 320, Format: WebP, Quality: 95}, {Width: 320, Format: JPEG, Quality: 95}, {Width: 160, Height: 160, Fit: Cover, Format: WebP, Quality: 95},
		{Width: 400, Height: 210, Fit: Frame, Format: JPEG, Quality: 95}, {Width: 100, Height: 150, Fit: Fill, Format: WebP, Quality: 95},
		{Format: WebP, Quality: 95, Crop: Rect{10, 20, 128, 90}}, {Format: WebP, Quality: 95},
		{Width: 320, Format: PNG}, {Width: 160, Height: 160, Fit: Cover, Format: PNG},
	}
	for name, file := range files {
		tolerance := 3.0
		if name == "printer's ink" {
			tolerance = 40 // without a profile there is no correct result: our conversion is naive, libvips uses the profile of a common press
		}
		orders := orders
		switch name {
		case "jpeg", "alpha", "turned, odd":
		case "P3":
			orders = append(orders[:2:2], Order{Width: 320, Format: PNG})
		default:
			orders = orders[:1]
		}
		ours, theirs := both(t, s, file, orders...)
		a, b := ours.Facts, theirs.Facts
		if a.Width != b.Width || a.Height != b.Height || a.Alpha != b.Alpha || a.MimeType != b.MimeType || a.Profile != b.Profile || a.Wide != b.Wide || b.DeltaE > a.DeltaE+2 {
			t.Errorf("%s: facts %+v and %+v", name, a, b)
		}
		for i := range orders {
			m, n, tolerance := ours.Made[i], theirs.Made[i], tolerance
			if m.Width != n.Width || m.Height != n.Height || m.P3 != n.P3 {
				t.Errorf("%s, order %d: %+v and %+v", name, i, m, n)
				continue
			}
			if m.Order.Fit == Frame { // the background is the largest group of similar colours, and here the groups hardly differ
				tolerance = 8
			}
			if d := differ(decoded(t, m), decoded(t, n)); d > tolerance {
				t.Errorf("%s, %+v: differ by %.1f levels", name, orders[i], d)
			}
		}
	}
}

func TestVipsAppliesEveryOrientation(t *testing.T) {
	if testing.Short() {
		t.Skip("starts libvips for each orientation")
	}
	s := withVips(t)
	m := soft(75, 51)
	for turn := 2; turn <= 8; turn++ {
		_, theirs := both(t, s, exifTurn(jpegOf(t, storedAs(m, turn)), turn), Order{Format: WebP, Quality: 95})
		if d := differ(decoded(t, theirs.Made[0]), m); d > 4 {
			t.Errorf("turn %d: differs by %.1f levels", turn, d)
		}
	}
}

func TestVipsKeepsP3WhereItIsNeeded(t *testing.T) {
	s := withVips(t)
	m := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(m, m.Rect, image.NewUniform(color.NRGBA{250, 30, 40, 255}), image.Point{}, draw.Src)
	ours, theirs := both(t, s, withICC(pngOf(t, m), colour.DisplayP3Profile), Order{Width: 32, Format: WebP}, Order{Width: 32, Format: JPEG}, Order{Width: 32, Format: PNG})
	if !theirs.Facts.Wide || !theirs.Made[0].P3 || theirs.Made[1].P3 || theirs.Made[2].P3 {
		t.Fatalf("%+v and %+v", theirs, ours.Facts)
	}
	all := image.Rect(0, 0, 32, 32)
	for i := range 3 {
		alike(t, "both engines", meanOf(decoded(t, theirs.Made[i]), all), meanOf(decoded(t, ours.Made[i]), all), 6)
	}
	file, err := os.ReadFile(theirs.Made[0].File)
	if err != nil || !bytes.Contains(file, colour.DisplayP3Profile) {
		t.Errorf("no profile, %v", err)
	}
}

func TestVipsKeepsOnlyRights(t *testing.T) {
	s := withVips(t)
	rights := metadata.RightsXMP("Ana Alves", "© Ana Alves")
	place := []byte(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="38,42N"/></rdf:RDF></x:xmpmeta>`)
	source := insertRights(jpegOf(t, soft(300, 200)), nil, bytes.Replace(rights, []byte("<rdf:Description"), []byte(`<rdf:Description xmlns:exif="http://ns.adobe.com/exif/1.0/" exif:GPSLatitude="38,42N" `), 1))
	if !bytes.Contains(source, []byte("GPSLatitude")) || len(place) == 0 {
		t.Fatal("the source has no location")
	}
	orders := []Order{{Width: 160, Format: WebP}, {Width: 160, Format: JPEG}, {Width: 160, Format: PNG}}
	if s.AVIF() {
		orders = append(orders, Order{Width: 160, Format: AVIF})
	}
	r, err := s.Make(t.Context(), Job{Source: writeFile(t, "source", source), Folder: t.TempDir(), NeedsFacts: true, Orders: orders})
	if err != nil {
		t.Fatal(err)
	}
	if r.Facts.Creator != "Ana Alves" || r.Facts.Rights != "© Ana Alves" {
		t.Errorf("facts %+v", r.Facts)
	}
	for _, m := range r.Made {
		file, err := os.ReadFile(m.File)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(file, []byte("GPS")) || !bytes.Contains(file, []byte("Ana Alves")) {
			t.Errorf("%s: rights or locations are wrong", m.Order.Format)
		}
	}
}

func TestVipsSupportsFormatsOfPhones(t *testing.T) {
	s := withVips(t)
	for mime, text := range map[string]string{"image/heic": tinyHEIC, "image/avif": tinyAVIF} {
		if !s.CanDecode(mime) {
			t.Logf("this libvips has no %s", mime)
			continue
		}
		file, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Make(t.Context(), Job{Source: writeFile(t, "source", file), Folder: t.TempDir(), NeedsFacts: true, Orders: []Order{{Width: 320, Format: WebP}, {Width: 8, Format: AVIF}}})
		if err != nil {
			t.Fatal(err)
		}
		if f := r.Facts; f.MimeType != mime || f.Width != 16 || f.Height != 16 || f.Color > "#010101" || r.Made[0].Width != 16 || r.Made[1].Width != 8 {
			t.Errorf("%+v", r)
		}
		made, err := os.Open(r.Made[1].File)
		if err != nil {
			t.Fatal(err)
		}
		if h, err := readAnyHeader(made); err != nil || h.MimeType != "image/avif" || h.Width != 8 || h.Height != 8 {
			t.Errorf("AVIF is %+v, %v", h, err)
		}
		if err := made.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestNamesAreNotOptionsForVips(t *testing.T) {
	s := withVips(t)
	folder := filepath.Join(t.TempDir(), "a[page=1] b,c")
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	source := filepath.Join(folder, "--help [n=-1].pdf")
	if err := os.WriteFile(source, pngOf(t, soft(30, 20)), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := s.Make(t.Context(), Job{Source: source, Folder: folder, Orders: []Order{{Width: 15, Format: WebP}}})
	if err != nil || r.Engine != EngineVips || !strings.HasPrefix(r.Made[0].File, folder) {
		t.Errorf("%+v, %v", r, err)
	}
}
