package main

import (
	"errors"
	"fmt"
	"image"
	"image/jpeg"
	"io"
	"math"
	"os"

	"golang.org/x/image/webp"
)

// similarityTo prints how similar WebP files are to their source, a JPEG file: the SSIM (structural similarity, 1 for equal pictures) of
// their luma. The first argument is the source, the others are the WebP files. The source is scaled to the size of each file by an exact
// Lanczos3 filter in float64. pictures.go runs this in a child process.
func similarityTo(args []string, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("source, rendition …")
	}
	source, err := lumaOf(args[0], jpeg.Decode)
	if err != nil {
		return err
	}
	type size struct{ w, h int }
	references := map[size]lumaImage{} // the scaled source in each size
	for _, path := range args[1:] {
		rendition, err := lumaOf(path, webp.Decode)
		if err != nil {
			return err
		}
		for i, v := range rendition.luma {
			rendition.luma[i] = (v - 16) * 255 / 219 // VP8 stores luma in the range 16 to 235
		}
		reference, ok := references[size{rendition.w, rendition.h}]
		if !ok {
			reference = source.lanczos(rendition.w, rendition.h)
			references[size{rendition.w, rendition.h}] = reference
		}
		if _, err := fmt.Fprintf(out, "%.5f\n", ssim(reference, rendition)); err != nil {
			return err
		}
	}
	return nil
}

// lumaImage has the luma (brightness) of each pixel of a picture.
type lumaImage struct {
	w, h int       // in pixels
	luma []float32 // 0 to 255, row by row
}

// lumaOf returns the luma of a picture file, as the file stores it.
func lumaOf(path string, decode func(io.Reader) (image.Image, error)) (lumaImage, error) {
	f, err := os.Open(path)
	if err != nil {
		return lumaImage{}, err
	}
	defer func() { _ = f.Close() }()
	m, err := decode(f)
	if err != nil {
		return lumaImage{}, err
	}
	y, ok := m.(*image.YCbCr)
	if !ok {
		return lumaImage{}, fmt.Errorf("%s is of %T", path, m)
	}
	g := lumaImage{y.Rect.Dx(), y.Rect.Dy(), nil}
	for r := range g.h {
		for _, v := range y.Y[r*y.YStride:][:g.w] {
			g.luma = append(g.luma, float32(v))
		}
	}
	return g, nil
}

// lanczos returns the picture scaled to w × h pixels.
func (g lumaImage) lanczos(w, h int) lumaImage {
	return g.scaledToWidth(w).transposed().scaledToWidth(h).transposed()
}

// transposed returns the picture with rows and columns exchanged.
func (g lumaImage) transposed() lumaImage {
	t := lumaImage{g.h, g.w, make([]float32, len(g.luma))}
	for y := range g.h {
		for x := range g.w {
			t.luma[x*t.w+y] = g.luma[y*g.w+x]
		}
	}
	return t
}

// scaledToWidth returns the picture scaled to a width of w pixels.
func (g lumaImage) scaledToWidth(w int) lumaImage {
	t := lumaImage{w, g.h, make([]float32, w*g.h)}
	step := float64(g.w) / float64(w)
	s := max(step, 1)
	for x := range w {
		centre := (float64(x) + 0.5) * step
		first, last := max(0, int(centre-3*s)), min(g.w-1, int(centre+3*s))
		weights, sum := make([]float64, 0, last-first+1), 0.0
		for k := first; k <= last; k++ {
			d := math.Abs(float64(k)+0.5-centre) / s * math.Pi
			v := 1.0
			if d >= 3*math.Pi {
				v = 0
			} else if d > 1e-9 {
				v = 3 * math.Sin(d) * math.Sin(d/3) / (d * d)
			}
			weights, sum = append(weights, v), sum+v
		}
		for y := range g.h {
			v := 0.0
			for k, weight := range weights {
				v += weight * float64(g.luma[y*g.w+first+k])
			}
			t.luma[y*w+x] = float32(v / sum)
		}
	}
	return t
}

// ssim returns the mean structural similarity of two pictures, over windows of 8 × 8 pixels at distances of four, without a
// Gaussian weight.
func ssim(a, b lumaImage) float64 {
	const c1, c2 = 0.01 * 255 * 0.01 * 255, 0.03 * 255 * 0.03 * 255
	total, n := 0.0, 0
	for y := 0; y+8 <= a.h; y += 4 {
		for x := 0; x+8 <= a.w; x += 4 {
			var sa, sb, aa, bb, ab float64
			for r := range 8 {
				for c := range 8 {
					p, q := float64(a.luma[(y+r)*a.w+x+c]), float64(b.luma[(y+r)*a.w+x+c])
					sa, sb, aa, bb, ab = sa+p, sb+q, aa+p*p, bb+q*q, ab+p*q
				}
			}
			sa, sb = sa/64, sb/64
			va, vb, cov := aa/64-sa*sa, bb/64-sb*sb, ab/64-sa*sb
			total += (2*sa*sb + c1) * (2*cov + c2) / ((sa*sa + sb*sb + c1) * (va + vb + c2))
			n++
		}
	}
	return total / float64(max(n, 1))
}
