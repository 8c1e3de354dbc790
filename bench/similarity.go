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
	references := map[size]greys{} // the scaled source in each size
	for _, path := range args[1:] {
		made, err := lumaOf(path, webp.Decode)
		if err != nil {
			return err
		}
		for i, v := range made.at {
			made.at[i] = (v - 16) * 255 / 219 // VP8 stores luma in the range 16 to 235
		}
		reference, ok := references[size{made.w, made.h}]
		if !ok {
			reference = source.lanczos(made.w, made.h)
			references[size{made.w, made.h}] = reference
		}
		if _, err := fmt.Fprintf(out, "%.5f\n", ssim(reference, made)); err != nil {
			return err
		}
	}
	return nil
}

// greys is a picture with one luma value for each pixel.
type greys struct {
	w, h int       // in pixels
	at   []float32 // 0 to 255, row by row
}

// lumaOf returns the luma of a picture file, as the file stores it.
func lumaOf(path string, decode func(io.Reader) (image.Image, error)) (greys, error) {
	f, err := os.Open(path)
	if err != nil {
		return greys{}, err
	}
	defer func() { _ = f.Close() }()
	m, err := decode(f)
	if err != nil {
		return greys{}, err
	}
	y, ok := m.(*image.YCbCr)
	if !ok {
		return greys{}, fmt.Errorf("%s is of %T", path, m)
	}
	g := greys{y.Rect.Dx(), y.Rect.Dy(), nil}
	for r := range g.h {
		for _, v := range y.Y[r*y.YStride:][:g.w] {
			g.at = append(g.at, float32(v))
		}
	}
	return g, nil
}

// lanczos scales the picture to w × h pixels.
func (g greys) lanczos(w, h int) greys {
	return g.across(w).turned().across(h).turned()
}

// turned returns the picture with rows and columns exchanged.
func (g greys) turned() greys {
	t := greys{g.h, g.w, make([]float32, len(g.at))}
	for y := range g.h {
		for x := range g.w {
			t.at[x*t.w+y] = g.at[y*g.w+x]
		}
	}
	return t
}

// across scales the picture to a width of w pixels.
func (g greys) across(w int) greys {
	t := greys{w, g.h, make([]float32, w*g.h)}
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
				v += weight * float64(g.at[y*g.w+first+k])
			}
			t.at[y*w+x] = float32(v / sum)
		}
	}
	return t
}

// ssim returns the mean structural similarity of two pictures, over windows of 8 × 8 pixels at distances of four, without a
// Gaussian weight.
func ssim(a, b greys) float64 {
	const c1, c2 = 0.01 * 255 * 0.01 * 255, 0.03 * 255 * 0.03 * 255
	total, n := 0.0, 0
	for y := 0; y+8 <= a.h; y += 4 {
		for x := 0; x+8 <= a.w; x += 4 {
			var sa, sb, aa, bb, ab float64
			for r := range 8 {
				for c := range 8 {
					p, q := float64(a.at[(y+r)*a.w+x+c]), float64(b.at[(y+r)*a.w+x+c])
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
