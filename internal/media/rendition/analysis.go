package rendition

import (
	"bytes"
	"context"
	"fmt"
	"image"

	"go.n16f.net/thumbhash"
	"golang.org/x/image/webp"

	"atelie/internal/media/rendition/colour"
)

// This file computes facts about a picture: its placeholder (a thumbhash, which is a blurred picture in about 21 bytes), its dominant
// colour, and the difference between its colours and the colours of a rendition (a copy in another size, shape or format).

// swatchSide is the longest side in pixels of a swatch: the small picture from which the placeholder and the dominant colour are computed.
// The library thumbhash accepts no larger picture.
const swatchSide = 100

// makeSwatch returns a swatch of p, with colours that are not premultiplied by alpha. It does not convert colours. Callers therefore
// convert p first, with the method paint: to sRGB, or to the colour space of the rendition that needs the dominant colour.
func makeSwatch(ctx context.Context, p *picture) (*image.NRGBA, error) {
	w, h := scaleSize(p.w, p.h, min(1, swatchSide/float64(max(p.w, p.h))))
	swatch, err := p.resize(ctx, wholeWindow(p.w, p.h), w, h)
	if err != nil {
		return nil, err
	}
	return swatch.toNRGBA(), nil
}

// toNRGBA returns the picture with colours that are not premultiplied by alpha.
func (p *picture) toNRGBA() *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, p.w, p.h))
	for y := range p.h {
		p.readNonPremultiplied(m.Pix[y*m.Stride:][:4*p.w], y, nil) // nil: no conversion of colours, because the caller has converted them
	}
	return m
}

// makeThumbhash returns the thumbhash of a picture; nil if all pixels are transparent.
func makeThumbhash(m *image.NRGBA) []byte {
	for i := 3; i < len(m.Pix); i += 4 { // the alpha of each pixel
		if m.Pix[i] != 0 {
			return thumbhash.EncodeImage(m)
		}
	}
	return nil
}

// dominantColour returns the dominant colour: the mean of the largest group of similar colours. The colours are divided into cells. A cell
// has all colours with the same upper 5 bits in each channel. A group is a cell with the 26 cells around it, and its size is the sum of the
// alpha of its pixels. If all pixels are transparent, the result is white.
func dominantColour(m *image.NRGBA) [3]uint8 {
	type cell struct{ alpha, r, g, b uint64 } // sums of alpha, and of R, G and B each multiplied by alpha
	const side = 34                           // 32 cells along each channel, with a margin on both sides
	indexOf := func(r, g, b uint8) int { return (int(r>>3)+1)*side*side + (int(g>>3)+1)*side + int(b>>3) + 1 }
	cells := make([]cell, side*side*side)
	for i := 0; i < len(m.Pix); i += 4 {
		r, g, b, a := m.Pix[i], m.Pix[i+1], m.Pix[i+2], uint64(m.Pix[i+3])
		c := &cells[indexOf(r, g, b)]
		c.alpha, c.r, c.g, c.b = c.alpha+a, c.r+a*uint64(r), c.g+a*uint64(g), c.b+a*uint64(b)
	}
	var best cell
	for i, c := range cells {
		if c.alpha == 0 {
			continue
		}
		var group cell
		for _, dr := range []int{-side * side, 0, side * side} {
			for _, dg := range []int{-side, 0, side} {
				for _, db := range []int{-1, 0, 1} {
					n := cells[i+dr+dg+db]
					group.alpha, group.r, group.g, group.b = group.alpha+n.alpha, group.r+n.r, group.g+n.g, group.b+n.b
				}
			}
		}
		if group.alpha > best.alpha {
			best = group
		}
	}
	if best.alpha == 0 {
		return [3]uint8{255, 255, 255}
	}
	round := func(v uint64) uint8 { return uint8((v + best.alpha/2) / best.alpha) }
	return [3]uint8{round(best.r), round(best.g), round(best.b)}
}

func formatHex(c [3]uint8) string { return fmt.Sprintf("#%02x%02x%02x", c[0], c[1], c[2]) }

// patchSide is the side in pixels of the squares whose mean colours meanDeltaE compares. It compares means so that the encoder's
// noise does not matter.
const patchSide = 8

// meanDeltaE returns the mean CIEDE2000 difference between the source's colours, by its profile, and those of a rendition. file
// is the encoded rendition, in the colour space space. raw is the source at the rendition's size and rotation, before any
// conversion.
func meanDeltaE(ctx context.Context, raw *picture, profile *colour.Profile, file []byte, space colour.Space) (float64, error) {
	made, err := decodeMade(ctx, file)
	if err != nil {
		return 0, err
	}
	if made.w != raw.w || made.h != raw.h {
		return 0, fmt.Errorf("a rendition of %d x %d for a source of %d x %d", made.w, made.h, raw.w, raw.h)
	}
	naive, err := colour.NewTransform(nil /* no profile */, colour.SRGB)
	if err != nil {
		return 0, err
	}
	type mean struct {
		n    float64
		p, q colour.Lab
	}
	sum, n := 0.0, 0
	a, b := make([]byte, 4*raw.w), make([]byte, 4*raw.w)
	patches := make([]mean, (raw.w+patchSide-1)/patchSide)
	for y := range raw.h {
		raw.readNonPremultiplied(a, y, naive)
		made.readNonPremultiplied(b, y, nil)
		for x := range raw.w {
			pa, pb := a[4*x:4*x+4], b[4*x:4*x+4]
			if pa[3] < 128 {
				continue
			}
			m := &patches[x/patchSide]
			m.n++
			m.p = plus(m.p, raw.lab(profile, x, y, pa), 1)
			m.q = plus(m.q, colour.LabOf(pb[0], pb[1], pb[2], space), 1)
		}
		if y%patchSide != patchSide-1 && y != raw.h-1 {
			continue
		}
		for i, m := range patches {
			if m.n > 0 {
				sum += colour.DeltaE2000(plus(colour.Lab{}, m.p, 1/m.n), plus(colour.Lab{}, m.q, 1/m.n))
				n++
			}
			patches[i] = mean{}
		}
	}
	return sum / float64(max(n, 1)), nil
}

// decodeMade decodes a WebP rendition.
func decodeMade(ctx context.Context, file []byte) (*picture, error) {
	img, err := webp.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	src, err := newSource(img, true)
	if err != nil {
		return nil, err
	}
	return src.resampleWindow(ctx, wholeWindow(src.w, src.h), src.w, src.h, true /* halved chroma */, 1 /* no rotation */)
}

func plus(a, b colour.Lab, times float64) colour.Lab {
	return colour.Lab{L: a.L + b.L*times, A: a.A + b.A*times, B: a.B + b.B*times}
}

// lab returns the colour of a pixel by the profile; straight is its RGBA, which is used if the profile does not apply.
func (p *picture) lab(profile *colour.Profile, x, y int, straight []byte) colour.Lab {
	unit := func(v uint8) float64 { return float64(v) / 255 }
	switch {
	case profile == nil:
	case p.model == cmyk && profile.Space() == colour.CMYK:
		at := y*p.w + x
		return profile.Lab(unit(p.channels[0].pix[at]), unit(p.channels[1].pix[at]), unit(p.channels[2].pix[at]), unit(p.channels[3].pix[at]))
	case p.model == gray && profile.Space() == colour.Gray:
		return profile.Lab(unit(p.channels[0].pix[y*p.w+x]))
	case profile.Space() == colour.RGB && p.model != cmyk:
		return profile.Lab(unit(straight[0]), unit(straight[1]), unit(straight[2]))
	}
	return colour.LabOf(straight[0], straight[1], straight[2], colour.SRGB)
}
