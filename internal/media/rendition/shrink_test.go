package rendition

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"os"
	"slices"
	"testing"
)

// restarts returns a grey JPEG of one row of equal blocks of 8 × 8 pixels, with a restart marker between each two.
func restarts(t *testing.T, units int) []byte {
	t.Helper()
	head := jpegOf(t, image.NewGray(image.Rect(0, 0, 8, 8)))
	at := bytes.Index(head, []byte{0xff, 0xda})
	scan := at + 2 + int(binary.BigEndian.Uint16(head[at+2:]))
	unit := head[scan : len(head)-2]
	out := slices.Clone(head[:at])
	frame := bytes.Index(out, []byte{0xff, 0xc0})
	binary.BigEndian.PutUint16(out[frame+7:], uint16(8*units))
	out = append(out, 0xff, 0xdd, 0, 4, 0, 1)
	out = append(out, head[at:scan]...)
	for i := range units {
		out = append(out, unit...)
		if i < units-1 {
			out = append(out, 0xff, 0xd0+byte(i%8))
		}
	}
	return append(out, 0xff, 0xd9)
}

// TestShrunkPictureEqualsTheReducedWhole compares the result of shrunkJPEG with the whole picture, decoded and then reduced. For each kind of
// JPEG that shrunkJPEG supports, they may differ by two levels on average. The pictures are smooth.
func TestShrunkPictureEqualsTheReducedWhole(t *testing.T) {
	gray := image.NewGray(image.Rect(0, 0, 203, 117))
	for i := range gray.Pix {
		gray.Pix[i] = uint8(40 + i%203)
	}
	files := map[string][]byte{"gray": jpegOf(t, gray), "restarts": restarts(t, 21), "4:2:0": jpegOf(t, smooth(203, 117)), "4:2:0, even": jpegOf(t, smooth(256, 128))}
	for name, file := range files {
		img, err := jpeg.Decode(bytes.NewReader(file))
		if err != nil {
			t.Fatal(name, err)
		}
		want, err := newSource(img, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range []int{2, 4} {
			got, err := shrunkJPEG(bytes.NewReader(file), n)
			if err != nil {
				t.Errorf("%s by %d: %v", name, n, err)
				continue
			}
			if got.model != want.model || got.w != want.w*n/8 || got.h != want.h*n/8 || got.subX != want.subX || got.subY != want.subY {
				t.Errorf("%s by %d: %+v", name, n, got)
			}
			for c := range want.channels {
				if off := apart(got.channels[c], want.channels[c], 8/n); off > 2 {
					t.Errorf("%s by %d: channel %d is %.1f levels off", name, n, c, off)
				}
			}
		}
	}
}

// smooth returns a picture whose colours change slowly, so that small and large pictures can be compared.
func smooth(w, h int) image.Image {
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.SetRGBA(x, y, color.RGBA{uint8(x * 200 / w), uint8(y * 200 / h), uint8(100 + 60*math.Sin(float64(x)/40)), 255})
		}
	}
	return m
}

// apart returns the mean difference between the samples of a channel and the means of the corresponding squares of a larger one.
func apart(small, large rowReader, by int) float64 {
	sum, buf := 0.0, make([]byte, large.w)
	for y := range small.h {
		mean := make([]float64, small.w)
		for k := range by {
			row := large.read(min(y*by+k, large.h-1), buf)
			for x := range mean {
				for i := range by {
					mean[x] += float64(row[min(x*by+i, large.w-1)]) / float64(by*by)
				}
			}
		}
		for x, v := range small.read(y, buf) {
			sum += math.Abs(float64(v) - mean[x])
		}
	}
	return sum / float64(small.w*small.h)
}

// JPEGs that this decoder does not support, or that are broken anywhere, are left to the standard decoder and its errors.
func TestOnlyValidJPEGsAreShrunk(t *testing.T) {
	sound := jpegOf(t, smooth(160, 96))
	for _, name := range []string{"cmyk.jpg", "progressive.jpg"} {
		file, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := shrunkJPEG(bytes.NewReader(file), 2); !errors.Is(err, errNeedsFullSize) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for n := range sound {
		if _, err := shrunkJPEG(bytes.NewReader(sound[:n]), 4); !errors.Is(err, errNeedsFullSize) {
			t.Fatalf("cut after %d of %d bytes: %v", n, len(sound), err)
		}
	}
	for name, file := range map[string][]byte{
		"a small one":       jpegOf(t, smooth(7, 30)),
		"a restart missing": bytes.Replace(restarts(t, 9), []byte{0xff, 0xd3}, nil, 1),
		"RGB by Adobe":      slices.Concat(sound[:2], []byte("\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00\x00"), sound[2:]),
	} {
		if _, err := shrunkJPEG(bytes.NewReader(file), 4); !errors.Is(err, errNeedsFullSize) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A rendition of the shrunk picture equals that of the whole picture. A comment after the scan forces the decoding of the whole picture.
func TestSmallRenditionsUseTheShrunkPicture(t *testing.T) {
	for _, turn := range []int{1, 3, 6, 8} {
		file := exifTurn(jpegOf(t, smooth(1203, 805)), turn)
		shrunk := made(t, file, Order{Width: 96, Format: WebP}, Order{Width: 64, Height: 64, Fit: Cover, Format: WebP})
		whole := made(t, slices.Concat(file[:len(file)-2], []byte("\xff\xfe\x00\x04ab\xff\xd9")), shrunk.Made[0].Order, shrunk.Made[1].Order)
		for i := range shrunk.Made {
			a, b := decoded(t, shrunk.Made[i]), decoded(t, whole.Made[i])
			if a.Rect != b.Rect {
				t.Fatalf("turn %d: %v and %v", turn, a.Rect, b.Rect)
			}
			off := 0.0
			for k := range a.Pix {
				off += math.Abs(float64(a.Pix[k]) - float64(b.Pix[k]))
			}
			if off /= float64(len(a.Pix)); off > 1 {
				t.Errorf("turn %d, %v: %.2f levels off", turn, a.Rect, off)
			}
		}
	}
}

// FuzzShrunkJPEG checks that the decoder ends for any input, and returns samples for the size in the header.
func FuzzShrunkJPEG(f *testing.F) {
	var b bytes.Buffer
	if err := jpeg.Encode(&b, smooth(40, 24), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b.Bytes())
	f.Fuzz(func(t *testing.T, file []byte) {
		if h, err := ReadHeader(bytes.NewReader(file)); err != nil || h.Width*h.Height > 1<<20 {
			return
		}
		for _, n := range []int{2, 4} {
			s, err := shrunkJPEG(bytes.NewReader(file), n)
			if err != nil {
				continue
			}
			for _, c := range s.channels {
				for y := range c.h {
					if got := len(c.read(y, nil)); got != c.w {
						t.Fatalf("row %d of %d samples, not %d", y, got, c.w)
					}
				}
			}
		}
	})
}
