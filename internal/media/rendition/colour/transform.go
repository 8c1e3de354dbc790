package colour

import (
	"errors"
	"math"
	"sync"
)

// Transform converts pixels from a profile to a target space. It is safe for concurrent use on separate rows.
type Transform struct {
	from     Space
	identity bool           // RGBA changes no pixel; only for RGB
	shaper   *shaper        // converts RGB by curves and a matrix; nil if table converts it
	table    *lookup        // converts RGB or CMYK by a colour table; may be nil
	gray     *[256][3]uint8 // the result for each grey level
}

// NewTransform prepares the conversion from a profile to the target SRGB or DisplayP3. If the profile is nil, RGB and grey
// pixels are treated as sRGB, and CMYK is converted by a simple formula. For a profile with a colour table the preparation
// takes some milliseconds.
func NewTransform(from *Profile, to Space) (*Transform, error) {
	if to != SRGB && to != DisplayP3 {
		return nil, errors.New("the target is sRGB or Display P3")
	}
	t := &Transform{from: RGB}
	if from != nil {
		t.from = from.space
	}
	target := srgbFromXYZ
	if to == DisplayP3 {
		target = p3FromXYZ
	}
	rgb := from
	if from == nil || from.space != RGB {
		rgb = srgbProfile
	}
	if rgb.table == nil {
		t.shaper = newShaper(rgb, target)
	} else {
		t.table = newLookup(rgb, target, 33)
	}
	t.identity = t.unchanged()
	t.gray = grays(from, target)
	if from != nil && from.space == CMYK {
		t.table = newLookup(from, target, 17)
	}
	return t, nil
}

// srgbProfile is used in place of a missing profile.
var srgbProfile = &Profile{
	space: RGB, description: "sRGB", columns: GamutSRGB.columns(),
	curves: [3]curve{srgbCurve, srgbCurve, srgbCurve},
}

var srgbCurve = curve{kind: 3, g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045}

// Identity reports whether the conversion changes pixels of the profile's kind by at most one level of 255.
func (t *Transform) Identity() bool {
	switch t.from {
	case CMYK:
		return false
	case Gray:
		for v, c := range t.gray {
			if d := int(c[1]) - v; d < -1 || d > 1 {
				return false
			}
		}
		return true
	}
	return t.identity
}

// RGBA converts pixels of 4 bytes in place. They must not be multiplied by alpha, which is unchanged. A profile for grey is
// applied to each channel; a profile for CMYK is not applied.
func (t *Transform) RGBA(pix []byte) {
	switch {
	case t.from == Gray:
		for i := 0; i+3 < len(pix); i += 4 {
			pix[i], pix[i+1], pix[i+2] = t.gray[pix[i]][0], t.gray[pix[i+1]][1], t.gray[pix[i+2]][2]
		}
	case t.identity:
	case t.shaper != nil:
		t.shaper.rgba(pix)
	default:
		t.table.rgba(pix)
	}
}

// Gray converts each byte of src to an opaque pixel of 4 bytes in dst. With a profile for RGB, a byte is the value of all three
// channels.
func (t *Transform) Gray(dst, src []byte) {
	for i, v := range src[:min(len(src), len(dst)/4)] {
		d := dst[4*i : 4*i+4 : 4*i+4]
		c := &t.gray[v]
		d[0], d[1], d[2], d[3] = c[0], c[1], c[2], 255
	}
}

// CMYK converts each 4 bytes of ink in src (0 is no ink) to an opaque pixel of 4 bytes in dst, which may be the same memory.
// Without a profile for CMYK it uses a simple formula, in which ink subtracts light.
func (t *Transform) CMYK(dst, src []byte) {
	n := min(len(dst), len(src)) / 4
	if t.from == CMYK {
		t.table.cmyk(dst[:4*n], src[:4*n])
		return
	}
	for i := range n {
		s, d := src[4*i:4*i+4:4*i+4], dst[4*i:4*i+4:4*i+4]
		light := 255 - uint32(s[3])
		d[0] = uint8(((255-uint32(s[0]))*light + 127) / 255)
		d[1] = uint8(((255-uint32(s[1]))*light + 127) / 255)
		d[2] = uint8(((255-uint32(s[2]))*light + 127) / 255)
		d[3] = 255
	}
}

// unchanged reports whether the conversion leaves all greys and a grid of colours unchanged, within one level.
func (t *Transform) unchanged() bool {
	var pix []byte
	for v := range 256 {
		pix = append(pix, uint8(v), uint8(v), uint8(v), 255)
	}
	for i := range 9 * 9 * 9 {
		pix = append(pix, level(i%9), level(i/9%9), level(i/81), 255)
	}
	after := append([]byte(nil), pix...)
	if t.shaper != nil {
		t.shaper.rgba(after)
	} else {
		t.table.rgba(after)
	}
	for i := range pix {
		if d := int(pix[i]) - int(after[i]); d < -1 || d > 1 {
			return false
		}
	}
	return true
}

func level(i int) uint8 { return uint8(min(32*i, 255)) }

func grays(from *Profile, target [3][3]float64) *[256][3]uint8 {
	var out [256][3]uint8
	for v := range out {
		x := float64(v) / 255
		if from == nil || from.space == CMYK {
			out[v] = [3]uint8{uint8(v), uint8(v), uint8(v)}
			continue
		}
		rgb := multiply(target, from.xyz([]float64{x, x, x}[:from.channels()]))
		for i := range rgb {
			out[v][i] = uint8(math.Round(255 * min(max(encode(rgb[i]), 0), 1)))
		}
	}
	return &out
}

// A shaper represents linear light in shaperTop steps. One step is a fifth of a level where the curve of sRGB is steepest.
// Sums are 1<<shaperShift times finer.
const (
	shaperTop   = 1 << 14
	shaperShift = 10
)

// shaper converts pixels by curves and a matrix. in has, for each value of each channel, what it adds to each channel of the
// result in linear light; out is the tone curve of the result.
type shaper struct {
	in  [3][256][4]int32
	out *[shaperTop + 1]uint8
}

// encoded returns the tone curve of sRGB and Display P3, from steps of linear light to 8 bits.
var encoded = sync.OnceValue(func() *[shaperTop + 1]uint8 {
	var out [shaperTop + 1]uint8
	for i := range out {
		out[i] = uint8(math.Round(255 * encode(float64(i)/shaperTop)))
	}
	return &out
})

func newShaper(p *Profile, target [3][3]float64) *shaper {
	s := &shaper{out: encoded()}
	m := product(target, p.columns)
	const half = 1 << (shaperShift - 1)
	for c := range 3 {
		for v := range 256 {
			linear := p.curves[c].at(float64(v) / 255)
			for i := range 3 {
				x := math.Round(min(max(m[i][c]*linear, -20), 20) * shaperTop * (1 << shaperShift))
				s.in[c][v][i] = int32(x)
				if c == 0 {
					s.in[c][v][i] += half
				}
			}
		}
	}
	return s
}

func (s *shaper) rgba(pix []byte) {
	out := s.out
	for len(pix) >= 4 {
		r, g, b := &s.in[0][pix[0]], &s.in[1][pix[1]], &s.in[2][pix[2]]
		x := (r[0] + g[0] + b[0]) >> shaperShift
		y := (r[1] + g[1] + b[1]) >> shaperShift
		z := (r[2] + g[2] + b[2]) >> shaperShift
		pix[0] = out[min(max(x, 0), shaperTop)]
		pix[1] = out[min(max(y, 0), shaperTop)]
		pix[2] = out[min(max(z, 0), shaperTop)]
		pix = pix[4:]
	}
}

// The range of linear light beyond which a colour is outside sRGB. It is a little wider than 0..1: smaller differences are
// invisible, and may come from rounding.
const (
	outsideLow  = -0.002
	outsideHigh = 1.01
)

// OutsideSRGB returns the share, 0 to 1, of the pixels that sRGB cannot show. pix has RGBA pixels in the values of the profile.
// Transparent pixels do not count as outside.
func (p *Profile) OutsideSRGB(pix []byte) float64 {
	if p == nil || p.space != RGB || len(pix) < 4 {
		return 0
	}
	p.once.Do(func() {
		if p.table != nil {
			p.lookup = newLookup(p, srgbFromXYZ, 33)
		} else {
			p.shaper = newShaper(p, srgbFromXYZ)
		}
	})
	outside, n := 0, len(pix)/4
	if table := p.lookup; table != nil {
		low, high := float32(255*encode(outsideLow)), float32(255*encode(outsideHigh))
		if table.light != nil {
			low, high = outsideLow*shaperTop, outsideHigh*shaperTop
		}
		for i := range n {
			if pix[4*i+3] == 0 {
				continue
			}
			for _, v := range table.inCube(table.values, pix[4*i], pix[4*i+1], pix[4*i+2]) {
				if v < low || v > high {
					outside++
					break
				}
			}
		}
		return float64(outside) / float64(n)
	}
	const scale = shaperTop << shaperShift
	s := p.shaper
	low, high := int32(math.Round(outsideLow*scale)), int32(math.Round(outsideHigh*scale))
	for i := range n {
		if pix[4*i+3] == 0 {
			continue
		}
		r, g, b := &s.in[0][pix[4*i]], &s.in[1][pix[4*i+1]], &s.in[2][pix[4*i+2]]
		x, y, z := r[0]+g[0]+b[0], r[1]+g[1]+b[1], r[2]+g[2]+b[2]
		if min(x, y, z) < low || max(x, y, z) > high {
			outside++
		}
	}
	return float64(outside) / float64(n)
}
