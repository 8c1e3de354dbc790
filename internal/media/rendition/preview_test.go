package rendition

import (
	"bytes"
	"image"
	"image/color"
	"image/jpeg"
	"slices"
	"testing"

	"go.n16f.net/thumbhash"

	"atelie/internal/media/metadata"
	"atelie/internal/media/rendition/colour"
)

// cameraPreview returns a preview as cameras embed it: 160 x 120 pixels, of which a picture with the ratio 3:2 fills the middle, between black
// bars. The picture is green at the left and red at the right.
func cameraPreview(t *testing.T) []byte {
	t.Helper()
	img := image.NewRGBA(image.Rect(0, 0, 160, 120))
	for y := range 120 {
		for x := range 160 {
			c := color.RGBA{A: 255}
			switch {
			case y < 7 || y >= 113:
			case x < 80:
				c.G = 200
			default:
				c.R = 200
			}
			img.SetRGBA(x, y, c)
		}
	}
	var b bytes.Buffer
	if err := jpeg.Encode(&b, img, &jpeg.Options{Quality: 95}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestPreviewIsCroppedAndRotatedLikeThePicture(t *testing.T) {
	preview := cameraPreview(t)
	for _, c := range []struct {
		orientation, width, height int
		green, red                 image.Point // points of each colour, in percent of width and height
	}{
		{1, 6000, 4000, image.Pt(20, 50), image.Pt(80, 50)},
		{6, 4000, 6000, image.Pt(50, 20), image.Pt(50, 80)}, // rotated clockwise: the left side is at the top
		{3, 6000, 4000, image.Pt(80, 50), image.Pt(20, 50)},
	} {
		hash, hex := Preview(t.Context(), metadata.Info{Orientation: c.orientation, Preview: preview}, c.width, c.height)
		if hash == nil || len(hex) != 7 {
			t.Fatalf("orientation %d: %x, %q", c.orientation, hash, hex)
		}
		placeholder, err := thumbhash.DecodeImage(hash)
		if err != nil {
			t.Fatal(err)
		}
		b := placeholder.Bounds()
		if (b.Dx() > b.Dy()) != (c.width > c.height) {
			t.Errorf("orientation %d: shown as %v", c.orientation, b)
		}
		colourAt := func(p image.Point) (r, g uint32) {
			r, g, _, _ = placeholder.At(p.X*b.Dx()/100, p.Y*b.Dy()/100).RGBA()
			return r >> 8, g >> 8
		}
		if r, g := colourAt(c.green); g < r+60 {
			t.Errorf("orientation %d: %d red and %d green where green is", c.orientation, r, g)
		}
		if r, g := colourAt(c.red); r < g+60 {
			t.Errorf("orientation %d: %d red and %d green where red is", c.orientation, r, g)
		}
		// The bars are cropped, so the corners are not darker than the centre line.
		if r, g := colourAt(image.Pt(c.green.X/2, c.green.Y/2)); max(r, g) < 100 {
			t.Errorf("orientation %d: a dark corner of %d red and %d green", c.orientation, r, g)
		}
	}
}

func TestPreviewHasTheProfileOfItsPicture(t *testing.T) {
	info := metadata.Info{Orientation: 1, Preview: cameraPreview(t)}
	plain, _ := Preview(t.Context(), info, 600, 400)
	info.Profile = colour.AdobeRGBProfile
	converted, _ := Preview(t.Context(), info, 600, 400)
	if slices.Equal(plain, converted) {
		t.Error("the profile makes no difference")
	}
}

func TestUnusablePreviewsAreLeftOut(t *testing.T) {
	preview := cameraPreview(t)
	for name, c := range map[string]struct {
		preview       []byte
		width, height int
	}{
		"none":                   {nil, 600, 400},
		"no JPEG":                {[]byte("GIF89a"), 600, 400},
		"cut off":                {preview[:len(preview)/2], 600, 400},
		"a picture without area": {preview, 0, 400},
	} {
		if hash, hex := Preview(t.Context(), metadata.Info{Orientation: 1, Preview: c.preview}, c.width, c.height); hash != nil || hex != "" {
			t.Errorf("%s: %x, %q", name, hash, hex)
		}
	}
}

func FuzzPreview(f *testing.F) {
	var small bytes.Buffer
	if err := jpeg.Encode(&small, image.NewGray(image.Rect(0, 0, 8, 8)), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(small.Bytes(), 6, 30, 20)
	f.Fuzz(func(t *testing.T, preview []byte, orientation, width, height int) {
		info := metadata.Info{Orientation: 1 + int(uint(orientation)%8), Preview: preview}
		if hash, hex := Preview(t.Context(), info, width%20000, height%20000); (hash == nil) != (hex == "") {
			t.Errorf("placeholder %x, colour %q", hash, hex)
		}
	})
}
