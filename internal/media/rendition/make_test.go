package rendition

import (
	"bytes"
	"compress/zlib"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	encoder "github.com/gen2brain/webp"
	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"

	"atelie/internal/apperr"
	"atelie/internal/media/metadata"
	"atelie/internal/media/rendition/colour"
)

// try makes renditions of a file within limits.
func try(t *testing.T, file []byte, limits Limits, orders ...Order) (Result, error) {
	t.Helper()
	dir := t.TempDir()
	source := filepath.Join(dir, "source")
	if err := os.WriteFile(source, file, 0o600); err != nil {
		t.Fatal(err)
	}
	return Make(context.Background(), Job{Source: source, Folder: dir, NeedsFacts: true, Orders: orders}, limits)
}

// made makes renditions of a file, which must succeed.
func made(t *testing.T, file []byte, orders ...Order) Result {
	t.Helper()
	r, err := try(t, file, Limits{}, orders...)
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Made) != len(orders) || r.Engine != Engine {
		t.Fatalf("%d orders gave %+v", len(orders), r)
	}
	return r
}

// decoded decodes a rendition as a browser does, but ignores its colour profile.
func decoded(t *testing.T, m MadeFile) *image.NRGBA {
	t.Helper()
	file, err := os.ReadFile(m.File)
	if err != nil {
		t.Fatal(err)
	}
	if int64(len(file)) != m.Size {
		t.Errorf("the file has %d bytes, the result says %d", len(file), m.Size)
	}
	var img image.Image
	switch m.Order.Format {
	case WebP:
		img, err = webp.Decode(bytes.NewReader(file))
	case PNG:
		img, err = png.Decode(bytes.NewReader(file))
	default:
		img, err = jpeg.Decode(bytes.NewReader(file))
	}
	if err != nil {
		t.Fatal(err)
	}
	src, err := newSource(img, m.Order.Format == WebP)
	if err != nil {
		t.Fatal(err)
	}
	p, err := src.resampleWindow(context.Background(), wholeWindow(src.w, src.h), src.w, src.h, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	n := p.toNRGBA()
	if n.Rect.Dx() != m.Width || n.Rect.Dy() != m.Height {
		t.Errorf("%v and not %d x %d", n.Rect, m.Width, m.Height)
	}
	return n
}

// differ returns the mean difference of two pictures in levels. Transparent pixels count as equal.
func differ(a, b *image.NRGBA) float64 {
	if a.Rect != b.Rect {
		return math.Inf(1)
	}
	sum := 0.0
	for i := range a.Pix {
		if x := i / 4 * 4; i%4 == 3 || a.Pix[x+3] > 8 && b.Pix[x+3] > 8 {
			sum += math.Abs(float64(a.Pix[i]) - float64(b.Pix[i]))
		}
	}
	return sum / float64(len(a.Pix))
}

func meanOf(m image.Image, r image.Rectangle) (mean [4]float64) {
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			for i, v := range []uint8{c.R, c.G, c.B, c.A} {
				mean[i] += float64(v) / float64(r.Dx()*r.Dy())
			}
		}
	}
	return mean
}

func alike(t *testing.T, what string, got, want [4]float64, tolerance float64) {
	t.Helper()
	for i := range got {
		if d := got[i] - want[i]; d > tolerance || d < -tolerance {
			t.Errorf("%s: colour %.1f and not %.1f", what, got, want)
			return
		}
	}
}

func encoded(t *testing.T, encode func(b *bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := encode(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func pngOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, m) })
}

func jpegOf(t *testing.T, m image.Image) []byte {
	t.Helper()
	return encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, m, &jpeg.Options{Quality: 95}) })
}

// converted draws a picture into another kind of image.
func converted(m image.Image, to draw.Image) image.Image {
	draw.Draw(to, to.Bounds(), m, image.Point{}, draw.Src)
	return to
}

func TestEveryFormatAndFit(t *testing.T) {
	m := texture(151, 99)
	r := m.Rect
	var palette color.Palette
	for i := range 216 {
		palette = append(palette, color.NRGBA{uint8(i / 36 * 51), uint8(i / 6 % 6 * 51), uint8(i % 6 * 51), 255})
	}
	paletted := converted(m, image.NewPaletted(r, palette))
	grey := converted(m, image.NewGray(r))
	for _, c := range []struct {
		name, mime string
		file       []byte
		like       image.Image
	}{
		{"jpeg", "image/jpeg", jpegOf(t, m), m},
		{"jpeg grey", "image/jpeg", jpegOf(t, grey), grey},
		{"png", "image/png", pngOf(t, m), m},
		{"png 16", "image/png", pngOf(t, converted(m, image.NewNRGBA64(r))), m},
		{"png grey", "image/png", pngOf(t, grey), grey},
		{"png grey 16", "image/png", pngOf(t, converted(m, image.NewGray16(r))), grey},
		{"png palette", "image/png", pngOf(t, paletted), paletted},
		{"gif", "image/gif", encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, paletted, nil) }), paletted},
		{"tiff", "image/tiff", encoded(t, func(b *bytes.Buffer) error { return tiff.Encode(b, m, &tiff.Options{Compression: tiff.Deflate}) }), m},
		{"webp", "image/webp", encoded(t, func(b *bytes.Buffer) error { return encoder.Encode(b, m, encoder.Options{Quality: 95}) }), m},
		{"webp lossless", "image/webp", encoded(t, func(b *bytes.Buffer) error { return encoder.Encode(b, m, encoder.Options{Lossless: true}) }), m},
	} {
		t.Run(c.name, func(t *testing.T) {
			crop := Rect{40, 20, 64, 48}
			result := made(t, c.file,
				Order{Width: 70, Format: WebP}, Order{Width: 70, Format: JPEG}, Order{Format: WebP},
				Order{Width: 400, Height: 30, Fit: Contain, Format: JPEG}, Order{Width: 33, Height: 33, Fit: Cover, Format: WebP},
				Order{Width: 300, Height: 150, Fit: Cover, Format: JPEG}, Order{Width: 40, Height: 90, Fit: Fill, Format: JPEG},
				Order{Width: 240, Height: 126, Fit: Frame, Format: JPEG}, Order{Crop: crop, Format: WebP},
				Order{Crop: Rect{140, 90, 64, 64}, Width: 5, Format: JPEG}, Order{Width: 70, Format: PNG}, Order{Format: PNG})
			for i, want := range [][2]int{{70, 46}, {70, 46}, {151, 99}, {46, 30}, {33, 33}, {151, 76}, {40, 90}, {240, 126}, {64, 48}, {5, 4}, {70, 46}, {151, 99}} {
				if m := result.Made[i]; m.Width != want[0] || m.Height != want[1] {
					t.Errorf("order %d: %d x %d and not %v", i, m.Width, m.Height, want)
				}
			}
			if c.mime == "image/png" && differ(decoded(t, result.Made[11]), converted(c.like, image.NewNRGBA(r)).(*image.NRGBA)) > 0.01 {
				t.Error("a PNG of its own size is not what it was")
			}
			for _, i := range []int{0, 1, 2, 3, 6, 10, 11} {
				alike(t, "whole", meanOf(decoded(t, result.Made[i]), image.Rect(0, 0, result.Made[i].Width, result.Made[i].Height)), meanOf(c.like, r), 2.5)
			}
			alike(t, "square", meanOf(decoded(t, result.Made[4]), image.Rect(0, 0, 33, 33)), meanOf(c.like, image.Rect(26, 0, 125, 99)), 3)
			alike(t, "crop", meanOf(decoded(t, result.Made[8]), image.Rect(0, 0, 64, 48)), meanOf(c.like, image.Rect(40, 20, 104, 68)), 3)
			// The work is 192 wide in a frame of 240, and the background has the dominant colour.
			framed := decoded(t, result.Made[7])
			alike(t, "framed work", meanOf(framed, image.Rect(26, 0, 214, 126)), meanOf(c.like, r), 4)
			alike(t, "ground", meanOf(framed, image.Rect(0, 0, 20, 126)), meanOf(framed, image.Rect(220, 0, 240, 126)), 1)
			f := result.Facts
			if f.MimeType != c.mime || f.Width != 151 || f.Height != 99 || f.Alpha || f.Wide || len(f.Thumbhash) < 10 || len(f.Color) != 7 {
				t.Errorf("facts %+v", f)
			}
			if f.DeltaE <= 0 || f.DeltaE > 3 {
				t.Errorf("ΔE %v of a noisy picture", f.DeltaE)
			}
		})
	}
}

// exifTurn inserts a minimal EXIF block with an orientation into a JPEG.
func exifTurn(file []byte, turn int) []byte {
	tiff := append([]byte("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00"), byte(turn), 0, 0, 0, 0, 0, 0)
	segment := append([]byte("Exif\x00\x00"), tiff...)
	head := []byte{0xff, 0xd8, 0xff, 0xe1, 0, byte(len(segment) + 2)}
	return append(append(head, segment...), file[2:]...)
}

// storedAs returns a picture as a camera stores it with this orientation. The mapping is that of EXIF 2.3 §4.6.4: the sides of the shown
// picture on which the first row and the first column are.
func storedAs(m *image.NRGBA, turn int) *image.NRGBA {
	w, h := m.Rect.Dx(), m.Rect.Dy()
	sw, sh := w, h
	if turn > 4 {
		sw, sh = h, w
	}
	out := image.NewNRGBA(image.Rect(0, 0, sw, sh))
	for r := range sh {
		for c := range sw {
			var x, y int
			switch turn {
			case 1: // top, left
				x, y = c, r
			case 2: // top, right
				x, y = w-1-c, r
			case 3: // bottom, right
				x, y = w-1-c, h-1-r
			case 4: // bottom, left
				x, y = c, h-1-r
			case 5: // left, top
				x, y = r, c
			case 6: // right, top
				x, y = w-1-r, c
			case 7: // right, bottom
				x, y = w-1-r, h-1-c
			case 8: // left, bottom
				x, y = r, h-1-c
			}
			out.SetNRGBA(c, r, m.NRGBAAt(x, y))
		}
	}
	return out
}

func TestEveryOrientationIsApplied(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 75, 51))
	quarters := []color.NRGBA{{220, 30, 30, 255}, {30, 200, 40, 255}, {40, 50, 220, 255}, {230, 220, 40, 255}}
	for y := range 51 {
		for x := range 75 {
			m.SetNRGBA(x, y, quarters[x/38+y/26*2])
		}
	}
	for turn := 1; turn <= 8; turn++ {
		result := made(t, exifTurn(jpegOf(t, storedAs(m, turn)), turn),
			Order{Width: 37, Format: WebP}, Order{Format: JPEG}, Order{Crop: Rect{39, 0, 36, 25}, Format: WebP},
			Order{Width: 20, Height: 20, Fit: Fill, Format: JPEG})
		if result.Facts.Width != 75 || result.Facts.Height != 51 || result.Made[0].Width != 37 || result.Made[0].Height != 25 {
			t.Errorf("turn %d: %+v %+v", turn, result.Facts, result.Made[0])
		}
		for i, got := range result.Made {
			n := decoded(t, got)
			for q, want := range quarters {
				if i == 2 {
					want = quarters[1]
				}
				x, y := got.Width/4+q%2*(got.Width/2), got.Height/4+q/2*(got.Height/2)
				c := n.NRGBAAt(x, y)
				alike(t, "turn "+string(rune('0'+turn)), [4]float64{float64(c.R), float64(c.G), float64(c.B)},
					[4]float64{float64(want.R), float64(want.G), float64(want.B)}, 20) // the filter overshoots near edges
			}
		}
	}
}

// Proves F-render-accept.
func TestAlpha(t *testing.T) {
	// Transparent bright red beside opaque blue: the filter must not mix the red in.
	m := image.NewNRGBA(image.Rect(0, 0, 120, 80))
	for y := range 80 {
		for x := range 120 {
			m.SetNRGBA(x, y, color.NRGBA{255, 0, 0, 0})
			if x >= 61 {
				m.SetNRGBA(x, y, color.NRGBA{20, 40, 200, 255})
			}
		}
	}
	for name, file := range map[string][]byte{
		"png":  pngOf(t, m),
		"webp": encoded(t, func(b *bytes.Buffer) error { return encoder.Encode(b, m, encoder.Options{Quality: 90, Exact: true}) }),
	} {
		r := made(t, file, Order{Width: 40, Format: WebP}, Order{Width: 40, Format: JPEG}, Order{Width: 100, Height: 50, Fit: Frame, Format: JPEG}, Order{Width: 40, Format: PNG})
		if !r.Facts.Alpha || r.Facts.Color != "#1428c8" && name == "png" {
			t.Errorf("%s: facts %+v", name, r.Facts)
		}
		for _, m := range []MadeFile{r.Made[0], r.Made[3]} {
			n := decoded(t, m)
			for x, want := range map[int]uint8{3: 0, 17: 0, 24: 255, 36: 255} {
				if a := n.NRGBAAt(x, 13).A; a != want {
					t.Errorf("%s: alpha %d at %d", name, a, x)
				}
			}
			for x := range 40 {
				if c := n.NRGBAAt(x, 13); c.A > 8 && c.R > 60 {
					t.Errorf("%s: red shines through at %d: %v", name, x, c)
				}
			}
		}
		flat := decoded(t, r.Made[1])
		alike(t, "on white", meanOf(flat, image.Rect(0, 0, 16, 26)), [4]float64{255, 255, 255, 255}, 3)
		alike(t, "on white", meanOf(flat, image.Rect(24, 0, 40, 26)), [4]float64{20, 40, 200, 255}, 4)
	}
}

// withICC inserts a profile into a PNG.
func withICC(file, profile []byte) []byte {
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	_, errWrite := w.Write(profile)
	if err := errors.Join(errWrite, w.Close()); err != nil {
		panic(err)
	}
	data := append([]byte("iCCPp\x00\x00"), z.Bytes()...)
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(data)-4))
	chunk = append(chunk, data...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(data))
	const afterHeader = 33
	return append(append(bytes.Clone(file[:afterHeader]), chunk...), file[afterHeader:]...)
}

func TestWideColoursStayInWebP(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	draw.Draw(m, m.Rect, image.NewUniform(color.NRGBA{250, 30, 40, 255}), image.Point{}, draw.Src)
	r := made(t, withICC(pngOf(t, m), colour.DisplayP3Profile), Order{Width: 32, Format: WebP}, Order{Width: 32, Format: JPEG}, Order{Width: 32, Format: PNG})
	if !r.Facts.Wide || !r.Made[0].P3 || r.Made[1].P3 || r.Made[2].P3 || r.Facts.Profile == "" || r.Facts.DeltaE > 1 {
		t.Fatalf("%+v", r)
	}
	alike(t, "P3", meanOf(decoded(t, r.Made[0]), image.Rect(0, 0, 32, 32)), [4]float64{250, 30, 40, 255}, 3)
	alike(t, "sRGB", meanOf(decoded(t, r.Made[1]), image.Rect(0, 0, 32, 32)), [4]float64{255, 0, 14, 255}, 16)
	alike(t, "sRGB", meanOf(decoded(t, r.Made[2]), image.Rect(0, 0, 32, 32)), [4]float64{255, 0, 14, 255}, 16)
	file, err := os.ReadFile(r.Made[0].File)
	if err != nil {
		t.Fatal(err)
	}
	if string(file[12:16]) != "VP8X" || file[20]&flagICC == 0 || !bytes.Contains(file, colour.DisplayP3Profile) {
		t.Errorf("no profile in %q", file[:40])
	}
	// Without colours outside sRGB, the same profile gives sRGB.
	draw.Draw(m, m.Rect, image.NewUniform(color.NRGBA{120, 110, 100, 255}), image.Point{}, draw.Src)
	r = made(t, withICC(pngOf(t, m), colour.DisplayP3Profile), Order{Width: 32, Format: WebP})
	if r.Facts.Wide || r.Made[0].P3 {
		t.Errorf("%+v", r)
	}
}

func TestRefusals(t *testing.T) {
	m := texture(120, 90)
	whole := map[string][]byte{
		"jpeg": jpegOf(t, m), "png": pngOf(t, m),
		"gif":  encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, m, nil) }),
		"webp": encoded(t, func(b *bytes.Buffer) error { return encoder.Encode(b, m, encoder.Options{}) }),
		"tiff": encoded(t, func(b *bytes.Buffer) error { return tiff.Encode(b, m, nil) }),
	}
	for name, file := range whole {
		for _, n := range []int{13, 40, len(file) / 2, len(file) - 3} {
			if name == "tiff" && n == len(file)-3 {
				continue // its last bytes belong to no pixel
			}
			if _, err := try(t, file[:n], Limits{}); !errors.Is(err, ErrTruncated) && !errors.Is(err, ErrUnreadable) {
				t.Errorf("%s cut at %d of %d: %v", name, n, len(file), err)
			}
		}
	}
	bomb := bytes.Clone(whole["png"])
	binary.BigEndian.PutUint32(bomb[16:], 50000)
	binary.BigEndian.PutUint32(bomb[29:], crc32.ChecksumIEEE(bomb[12:29]))
	for name, c := range map[string]struct {
		file   []byte
		limits Limits
		order  Order
		want   error
	}{
		"side":       {bomb, Limits{}, Order{Format: WebP}, ErrTooLarge},
		"pixels":     {whole["png"], Limits{MaxPixels: 10_000}, Order{Format: WebP}, ErrTooLarge},
		"memory":     {whole["jpeg"], Limits{Memory: fixedMemory}, Order{Format: WebP}, ErrTooLarge},
		"text":       {[]byte("<!doctype html><title>x</title>"), Limits{}, Order{Format: WebP}, ErrUnsupported},
		"nothing":    {nil, Limits{}, Order{Format: WebP}, ErrUnsupported},
		"heic":       {[]byte("\x00\x00\x00\x18ftypheic\x00\x00\x00\x00mif1heic"), Limits{}, Order{Format: WebP}, ErrNeedsVips},
		"avif":       {[]byte("\x00\x00\x00\x18ftypavif\x00\x00\x00\x00mif1avif"), Limits{}, Order{Format: WebP}, ErrNeedsVips},
		"to avif":    {whole["jpeg"], Limits{}, Order{Format: AVIF}, ErrNeedsVips},
		"format":     {whole["jpeg"], Limits{}, Order{Format: "bmp"}, ErrOrder},
		"fit":        {whole["jpeg"], Limits{}, Order{Format: WebP, Width: 4, Height: 4, Fit: "zoom"}, ErrOrder},
		"width":      {whole["jpeg"], Limits{}, Order{Format: WebP, Width: -4}, ErrOrder},
		"quality":    {whole["jpeg"], Limits{}, Order{Format: WebP, Quality: 101}, ErrOrder},
		"frame":      {whole["jpeg"], Limits{}, Order{Format: WebP, Width: 10, Fit: Frame}, ErrOrder},
		"crop":       {whole["jpeg"], Limits{}, Order{Format: WebP, Crop: Rect{120, 0, 10, 10}}, ErrOrder},
		"fill tall":  {whole["jpeg"], Limits{}, Order{Format: WebP, Width: 16000, Fit: Fill, Crop: Rect{0, 0, 1, 90}}, ErrOrder},
		"fill large": {whole["jpeg"], Limits{}, Order{Format: WebP, Width: 16000, Height: 16000, Fit: Fill}, ErrTooLarge},
	} {
		if _, err := try(t, c.file, c.limits, c.order); !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	ctx, stop := context.WithCancel(context.Background())
	stop()
	source := filepath.Join(t.TempDir(), "s")
	if err := os.WriteFile(source, whole["jpeg"], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Make(ctx, Job{Source: source, Folder: t.TempDir(), Orders: []Order{{Format: WebP}}}, Limits{}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

func TestFramedPictureIsWithinItsSizeLimit(t *testing.T) {
	p := noise(700, 420, 9)
	r := made(t, jpegOf(t, &image.Gray{Pix: p.pix, Stride: p.w, Rect: image.Rect(0, 0, p.w, p.h)}),
		Order{Width: 1200, Height: 630, Fit: Frame, Format: JPEG})
	if m := r.Made[0]; m.Width != 1200 || m.Height != 630 || m.Size >= maxFrameBytes {
		t.Errorf("%+v", m)
	}
}

func TestChromaOfEverySubsampling(t *testing.T) {
	for ratio, name := range map[image.YCbCrSubsampleRatio]string{
		image.YCbCrSubsampleRatio444: "444", image.YCbCrSubsampleRatio422: "422", image.YCbCrSubsampleRatio420: "420",
		image.YCbCrSubsampleRatio440: "440", image.YCbCrSubsampleRatio411: "411", image.YCbCrSubsampleRatio410: "410",
	} {
		m := image.NewYCbCr(image.Rect(0, 0, 101, 67), ratio)
		for y := range 67 {
			for x := range 101 {
				m.Y[m.YOffset(x, y)] = 120
				m.Cb[m.COffset(x, y)], m.Cr[m.COffset(x, y)] = 90, 90
				if x >= 52 {
					m.Cb[m.COffset(x, y)], m.Cr[m.COffset(x, y)] = 180, 170
				}
			}
		}
		for _, halved := range []bool{true, false} {
			s, err := newSource(m, false)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range []int{101, 60, 25} {
				h := w * 67 / 101
				p, err := s.resampleWindow(context.Background(), wholeWindow(101, 67), w, h, halved, 1)
				if err != nil {
					t.Fatal(err)
				}
				n := p.toNRGBA()
				left, right := n.NRGBAAt(w/4, h/2), n.NRGBAAt(w*3/4, h/2)
				r1, g1, b1 := color.YCbCrToRGB(120, 90, 90)
				r2, g2, b2 := color.YCbCrToRGB(120, 180, 170)
				alike(t, name, [4]float64{float64(left.R), float64(left.G), float64(left.B)}, [4]float64{float64(r1), float64(g1), float64(b1)}, 3)
				alike(t, name, [4]float64{float64(right.R), float64(right.G), float64(right.B)}, [4]float64{float64(r2), float64(g2), float64(b2)}, 3)
			}
		}
	}
}

// Files that Go's encoder cannot write: CMYK with inverted ink as Adobe does it, and progressive with colour in every pixel. Both were
// made with libvips.
func TestJPEGsOfOtherEncoders(t *testing.T) {
	read := func(name string) []byte {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	r := made(t, read("cmyk.jpg"), Order{Width: 24, Format: WebP}, Order{Format: JPEG})
	for _, m := range r.Made {
		alike(t, "cmyk", meanOf(decoded(t, m), image.Rect(0, 0, m.Width, m.Height)), [4]float64{53, 226, 207, 255}, 4)
	}
	progressive := read("progressive.jpg")
	m, err := jpeg.Decode(bytes.NewReader(progressive))
	if err != nil {
		t.Fatal(err)
	}
	r = made(t, progressive, Order{Width: 50, Format: WebP})
	alike(t, "progressive", meanOf(decoded(t, r.Made[0]), image.Rect(0, 0, 50, r.Made[0].Height)), meanOf(m, m.Bounds()), 2)
	h, err := ReadHeader(bytes.NewReader(progressive))
	if err != nil || h.Width != 91 || h.Height != 61 || h.Memory-fixedMemory < 91*61*16 {
		t.Errorf("%+v %v: a progressive picture needs its coefficients in memory", h, err)
	}
}

// The rendition of an animation is its first frame, also if that is smaller than the canvas.
func TestAnimatedWebP(t *testing.T) {
	first, second := texture(60, 40), image.NewNRGBA(image.Rect(0, 0, 60, 40))
	file := encoded(t, func(b *bytes.Buffer) error {
		return encoder.EncodeAll(b, &encoder.WEBP{Image: []image.Image{first, second}, Delay: []int{100, 100}}, encoder.Options{Quality: 95})
	})
	r := made(t, file, Order{Format: WebP})
	alike(t, "whole", meanOf(decoded(t, r.Made[0]), first.Rect), meanOf(first, first.Rect), 3)
	// The same frame on a canvas of 80 x 50 pixels, four pixels to the right and two down.
	at := bytes.Index(file, []byte("ANMF"))
	placed := bytes.Clone(file)
	putUint24(placed[24:], 79)
	putUint24(placed[27:], 49)
	putUint24(placed[at+8:], 2)
	putUint24(placed[at+11:], 1)
	r = made(t, placed, Order{Format: WebP})
	n := decoded(t, r.Made[0])
	alike(t, "placed", meanOf(n, image.Rect(4, 2, 64, 42)), meanOf(first, first.Rect), 5)
	if !r.Facts.Alpha || n.NRGBAAt(70, 20).A != 0 || n.NRGBAAt(30, 20).A != 255 {
		t.Errorf("%+v", r.Facts)
	}
	putUint24(placed[at+8:], 50)
	if _, err := try(t, placed, Limits{}, Order{Format: WebP}); !errors.Is(err, ErrUnreadable) {
		t.Errorf("a frame beside the canvas: %v", err)
	}
}

// Creator and rights are copied to renditions in both formats.
func TestRightsAreCopied(t *testing.T) {
	xmp := slices.Concat([]byte("http://ns.adobe.com/xap/1.0/\x00"), metadata.RightsXMP("Inês Sá", "© 2026 Inês Sá"))
	file := jpegOf(t, texture(40, 30))
	n := len(xmp) + 2
	file = append(append([]byte{0xff, 0xd8, 0xff, 0xe1, byte(n >> 8), byte(n)}, xmp...), file[2:]...)
	r := made(t, file, Order{Width: 20, Format: WebP}, Order{Width: 20, Format: JPEG}, Order{Width: 20, Format: PNG})
	for i, mime := range []string{"image/webp", "image/jpeg", "image/png"} {
		b, err := os.ReadFile(r.Made[i].File)
		if err != nil {
			t.Fatal(err)
		}
		info, err := metadata.Read(bytes.NewReader(b), mime)
		if err != nil || info.Creator != "Inês Sá" || info.Rights != "© 2026 Inês Sá" {
			t.Errorf("%s: %+v %v", mime, info, err)
		}
		decoded(t, r.Made[i])
	}
	if r.Facts.Creator != "Inês Sá" || r.Facts.Rights != "© 2026 Inês Sá" {
		t.Errorf("%+v", r.Facts)
	}
}

// FuzzMake checks that any bytes give a rendition, or an error of a known kind, within the limits.
func FuzzMake(f *testing.F) {
	m := texture(20, 14)
	var buf bytes.Buffer
	for _, encode := range []func() error{
		func() error { return jpeg.Encode(&buf, m, nil) },
		func() error { return png.Encode(&buf, m) },
		func() error { return gif.Encode(&buf, m, nil) },
		func() error { return encoder.Encode(&buf, m, encoder.Options{}) },
		func() error { return encoder.Encode(&buf, m, encoder.Options{Lossless: true}) },
		func() error { return tiff.Encode(&buf, m, nil) },
		func() error {
			return encoder.EncodeAll(&buf, &encoder.WEBP{Image: []image.Image{m, m}, Delay: []int{9, 9}})
		},
	} {
		buf.Reset()
		if err := encode(); err != nil {
			f.Fatal(err)
		}
		f.Add(bytes.Clone(buf.Bytes()))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		dir := t.TempDir()
		source := filepath.Join(dir, "source")
		if err := os.WriteFile(source, file, 0o600); err != nil {
			t.Fatal(err)
		}
		job := Job{Source: source, Folder: dir, NeedsFacts: true, Orders: []Order{{Width: 8, Format: WebP}, {Width: 9, Height: 5, Fit: Cover, Format: JPEG}, {Width: 7, Format: PNG}}}
		r, err := Make(context.Background(), job, Limits{MaxPixels: 1 << 16, MaxSide: 1 << 10})
		var refusal *apperr.Error
		if err != nil && !errors.As(err, &refusal) {
			t.Fatalf("not a refusal: %v", err)
		}
		if err == nil && (len(r.Made) != 3 || r.Made[0].Size == 0 || r.Made[1].Size == 0 || r.Made[2].Size == 0) {
			t.Fatalf("%+v", r)
		}
	})
}
