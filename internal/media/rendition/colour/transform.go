package colour

import (
	"errors"
	"math"
	"sync"
)

// Transform converts pixels from the colour space of an ICC profile to a target space, sRGB or Display P3. It is safe for concurrent use on
// separate rows.
type Transform struct {
	from     Space          // colour space of the profile: RGB, Gray or CMYK
	identity bool           // the conversion of RGB changes no channel by more than one level of 255
	shaper   *shaper        // converts RGB by curves and a matrix; nil if the field table converts RGB
	table    *lookup        // converts RGB if shaper is nil, otherwise CMYK; nil if no table is needed
	gray     *[256][3]uint8 // the result for each grey level
}

// NewTransform prepares the conversion from a profile to the target SRGB or DisplayP3. If the profile is nil, RGB and grey pixels are
// treated as sRGB, and CMYK is converted by a simple formula. For a profile with a colour table, the preparation takes some milliseconds.
func NewTransform(from *Profile, to Space) (*Transform, error) {
	if to != SRGB && to != DisplayP3 {
		return nil, errors.New("the target must be sRGB or Display P3")
	}
	t := &Transform{from: RGB}
	if from != nil {
		t.from = from.space
	}
	target := srgbFromXYZ // matrix from XYZ to linear light in the target
	if to == DisplayP3 {
		target = p3FromXYZ
	}
	rgbProfile := from // the profile for RGB pixels: sRGB if from is for another space
	if from == nil || from.space != RGB {
		rgbProfile = srgbProfile
	}
	if rgbProfile.table == nil {
		t.shaper = newShaper(rgbProfile, target)
	} else {
		t.table = newLookup(rgbProfile, target, pointsRGB)
	}
	t.identity = t.isIdentity()
	t.gray = convertGrays(from, target)
	if from != nil && from.space == CMYK {
		t.table = newLookup(from, target, pointsCMYK)
	}
	return t, nil
}

// The numbers of points along each input of a lookup. CMYK has fewer, because it has one input more.
const (
	pointsRGB  = 33
	pointsCMYK = 17
)

// srgbProfile is used in place of a missing profile.
var srgbProfile = &Profile{
	space: RGB, description: "sRGB", matrix: GamutSRGB.matrixToXYZ(),
	curves: [3]curve{srgbCurve, srgbCurve, srgbCurve},
}

var srgbCurve = curve{formula: 3, g: 2.4, a: 1 / 1.055, b: 0.055 / 1.055, c: 1 / 12.92, d: 0.04045}

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

// ConvertRGBA converts pixels of 4 bytes in place. Their colours must not be multiplied by alpha. Alpha is unchanged. A profile
// for grey is applied to each channel. A profile for CMYK is not applied.
func (t *Transform) ConvertRGBA(pix []byte) {
	switch {
	case t.from == Gray:
		for i := 0; i+3 < len(pix); i += 4 {
			pix[i], pix[i+1], pix[i+2] = t.gray[pix[i]][0], t.gray[pix[i+1]][1], t.gray[pix[i+2]][2]
		}
	case t.identity:
	case t.shaper != nil:
		t.shaper.convertRGBA(pix)
	default:
		t.table.convertRGBA(pix)
	}
}

// ConvertGray converts each byte of src to an opaque pixel of 4 bytes in dst. With a profile for RGB, a byte is the value of all
// three channels.
func (t *Transform) ConvertGray(dst, src []byte) {
	for i, v := range src[:min(len(src), len(dst)/4)] {
		d := dst[4*i : 4*i+4 : 4*i+4]
		c := &t.gray[v]
		d[0], d[1], d[2], d[3] = c[0], c[1], c[2], 255
	}
}

// ConvertCMYK converts each 4 bytes of ink in src (0 is no ink) to an opaque pixel of 4 bytes in dst. dst and src may be the same
// memory. Without a profile for CMYK it uses a simple formula, in which ink subtracts light.
func (t *Transform) ConvertCMYK(dst, src []byte) {
	n := min(len(dst), len(src)) / 4
	if t.from == CMYK {
		t.table.convertCMYK(dst[:4*n], src[:4*n])
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

// isIdentity reports whether the conversion leaves all greys and a grid of colours unchanged, within one level.
func (t *Transform) isIdentity() bool {
	var pix []byte
	for v := range 256 {
		pix = append(pix, uint8(v), uint8(v), uint8(v), 255)
	}
	for i := range 9 * 9 * 9 {
		pix = append(pix, level(i%9), level(i/9%9), level(i/81), 255)
	}
	after := append([]byte(nil), pix...)
	if t.shaper != nil {
		t.shaper.convertRGBA(after)
	} else {
		t.table.convertRGBA(after)
	}
	for i := range pix {
		if d := int(pix[i]) - int(after[i]); d < -1 || d > 1 {
			return false
		}
	}
	return true
}

func level(i int) uint8 { return uint8(min(32*i, 255)) }

// convertGrays returns the converted colour of each grey level.
func convertGrays(from *Profile, target [3][3]float64) *[256][3]uint8 {
	var out [256][3]uint8
	for v := range out {
		x := float64(v) / 255
		if from == nil || from.space == CMYK {
			out[v] = [3]uint8{uint8(v), uint8(v), uint8(v)}
			continue
		}
		rgb := multiply(target, from.convertToXYZ([]float64{x, x, x}[:from.channelCount()]))
		for i := range rgb {
			out[v][i] = uint8(math.Round(255 * min(max(applyToneCurve(rgb[i]), 0), 1)))
		}
	}
	return &out
}

// linearSteps is the number of steps in which shaper and lookup represent linear light from 0 to 1. One step is a fifth of a level
// of 255 where the curve of sRGB is steepest. The sums in a shaper are 1<<sumShift times finer.
const (
	linearSteps = 1 << 14
	sumShift    = 10
)

// shaper converts pixels by curves and a matrix.
type shaper struct {
	contributions [3][256][4]int32 // what each value of each input channel adds to each output channel, in linear light
}

// toneCurve8Bit returns the tone curve of sRGB and Display P3: an 8-bit value for each step of linear light.
var toneCurve8Bit = sync.OnceValue(func() *[linearSteps + 1]uint8 {
	var out [linearSteps + 1]uint8
	for i := range out {
		out[i] = uint8(math.Round(255 * applyToneCurve(float64(i)/linearSteps)))
	}
	return &out
})

func newShaper(p *Profile, target [3][3]float64) *shaper {
	s := &shaper{}
	m := product(target, p.matrix)
	const half = 1 << (sumShift - 1)
	for c := range 3 {
		for v := range 256 {
			linear := p.curves[c].eval(float64(v) / 255)
			for i := range 3 {
				x := math.Round(min(max(m[i][c]*linear, -20), 20) * linearSteps * (1 << sumShift))
				s.contributions[c][v][i] = int32(x)
				if c == 0 {
					s.contributions[c][v][i] += half
				}
			}
		}
	}
	return s
}

func (s *shaper) convertRGBA(pix []byte) {
	out := toneCurve8Bit()
	for len(pix) >= 4 {
		r, g, b := &s.contributions[0][pix[0]], &s.contributions[1][pix[1]], &s.contributions[2][pix[2]]
		x := (r[0] + g[0] + b[0]) >> sumShift
		y := (r[1] + g[1] + b[1]) >> sumShift
		z := (r[2] + g[2] + b[2]) >> sumShift
		pix[0] = out[min(max(x, 0), linearSteps)]
		pix[1] = out[min(max(y, 0), linearSteps)]
		pix[2] = out[min(max(z, 0), linearSteps)]
		pix = pix[4:]
	}
}

// The range of linear light beyond which a colour is outside sRGB. It is a little wider than 0..1: smaller differences are
// invisible, and may come from rounding.
const (
	outsideLow  = -0.002
	outsideHigh = 1.01
)

// OutsideSRGB returns the share, 0 to 1, of the pixels that sRGB cannot show. pix contains RGBA pixels in the profile's space.
// Fully transparent pixels do not count as outside.
func (p *Profile) OutsideSRGB(pix []byte) float64 {
	if p == nil || p.space != RGB || len(pix) < 4 {
		return 0
	}
	p.once.Do(func() {
		if p.table != nil {
			p.lookup = newLookup(p, srgbFromXYZ, pointsRGB)
		} else {
			p.shaper = newShaper(p, srgbFromXYZ)
		}
	})
	outside, n := 0, len(pix)/4
	if table := p.lookup; table != nil {
		low, high := float32(255*applyToneCurve(outsideLow)), float32(255*applyToneCurve(outsideHigh))
		if table.toneCurve != nil {
			low, high = outsideLow*linearSteps, outsideHigh*linearSteps
		}
		for i := range n {
			if pix[4*i+3] == 0 {
				continue
			}
			for _, v := range table.interpolate(table.colours, pix[4*i], pix[4*i+1], pix[4*i+2]) {
				if v < low || v > high {
					outside++
					break
				}
			}
		}
		return float64(outside) / float64(n)
	}
	const scale = linearSteps << sumShift
	s := p.shaper
	low, high := int32(math.Round(outsideLow*scale)), int32(math.Round(outsideHigh*scale))
	for i := range n {
		if pix[4*i+3] == 0 {
			continue
		}
		r, g, b := &s.contributions[0][pix[4*i]], &s.contributions[1][pix[4*i+1]], &s.contributions[2][pix[4*i+2]]
		x, y, z := r[0]+g[0]+b[0], r[1]+g[1]+b[1], r[2]+g[2]+b[2]
		if min(x, y, z) < low || max(x, y, z) > high {
			outside++
		}
	}
	return float64(outside) / float64(n)
}
