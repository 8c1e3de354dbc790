package colour

import (
	"encoding/binary"
	"math"
	"unicode/utf16"
)

// This file contains the gamuts (ranges of colours) of sRGB and Display P3, and writes ICC profiles.

// d50 is the white of XYZ in ICC profiles (ICC.1:2022 §7.2.16). XYZ is the CIE's space of all visible colours. Profiles convert device
// values (the numbers in the pixels) to XYZ relative to this white.
var d50 = [3]float64{0.9642, 1, 0.8249}

// Gamut is the range of colours of an RGB space. It is given by the three primaries (the pure red, green and blue) and by the white, each
// as CIE x and y.
type Gamut struct{ Red, Green, Blue, White [2]float64 }

// The gamuts of sRGB (IEC 61966-2-1) and of Display P3 (SMPTE EG 432-1, white D65): red, green, blue and white.
var (
	GamutSRGB = Gamut{[2]float64{0.64, 0.33}, [2]float64{0.30, 0.60}, [2]float64{0.15, 0.06}, [2]float64{0.3127, 0.3290}}
	GamutP3   = Gamut{[2]float64{0.68, 0.32}, [2]float64{0.265, 0.69}, [2]float64{0.15, 0.06}, [2]float64{0.3127, 0.3290}}
)

// The matrices between linear RGB and XYZ relative to D50.
var (
	srgbToXYZ   = GamutSRGB.matrixToXYZ()
	p3ToXYZ     = GamutP3.matrixToXYZ()
	srgbFromXYZ = inverse(srgbToXYZ)
	p3FromXYZ   = inverse(p3ToXYZ)
)

// DisplayP3Profile is the profile that is embedded in renditions in Display P3. It has 492 bytes.
var DisplayP3Profile = MatrixProfile(4 /* version */, "Display P3", GamutP3, ParametricSRGB())

// AdobeRGBProfile is the profile for pictures of cameras that state Adobe RGB (1998) in EXIF and embed no profile.
var AdobeRGBProfile = MatrixProfile(2 /* version */, "Adobe RGB (1998)", Gamut{
	[2]float64{0.64, 0.33}, [2]float64{0.21, 0.71}, [2]float64{0.15, 0.06}, [2]float64{0.3127, 0.3290},
}, []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33")) // a tone curve with one number: gamma 563/256

// GammaProfile returns a profile for pictures that state their gamut and gamma as numbers, as PNG can. It returns nil for numbers that no
// real colour space has.
func GammaProfile(g Gamut, gamma float64) []byte {
	for _, row := range inverse(g.matrixToXYZ()) {
		for _, v := range row {
			// The limits are far beyond the values of real pictures. !(… < 1000), unlike … >= 1000, is also true for NaN.
			if !(math.Abs(v) < 1000) || gamma < 0.2 || gamma > 5 {
				return nil
			}
		}
	}
	curve := appendS15Fixed16([]byte("para\x00\x00\x00\x00\x00\x00\x00\x00"), gamma) // the formula y = x^gamma
	return MatrixProfile(4 /* version */, "" /* no description */, g, curve)
}

// matrixToXYZ returns the matrix from linear RGB to XYZ, with the white adapted to D50 by the Bradford method (ICC.1:2022 annex E).
func (g Gamut) matrixToXYZ() [3][3]float64 {
	var m [3][3]float64
	for i, xy := range [][2]float64{g.Red, g.Green, g.Blue} {
		m[0][i], m[1][i], m[2][i] = xy[0]/xy[1], 1, (1-xy[0]-xy[1])/xy[1]
	}
	scale := multiply(inverse(m), g.whiteXYZ())
	for row := range 3 {
		for i := range 3 {
			m[row][i] *= scale[i]
		}
	}
	return product(adaptationToD50(g.whiteXYZ()), m)
}

// whiteXYZ returns the gamut's white as XYZ.
func (g Gamut) whiteXYZ() [3]float64 {
	return [3]float64{g.White[0] / g.White[1], 1, (1 - g.White[0] - g.White[1]) / g.White[1]}
}

// adaptationToD50 returns the matrix that converts XYZ relative to a white to XYZ relative to D50, by the Bradford method.
func adaptationToD50(white [3]float64) [3][3]float64 {
	cone := [3][3]float64{{0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}}
	from, to := multiply(cone, white), multiply(cone, d50)
	scaled := cone
	for row := range 3 {
		for i := range 3 {
			scaled[row][i] *= to[row] / from[row]
		}
	}
	return product(inverse(cone), scaled)
}

// MatrixProfile returns a display profile of version 2 or 4 with a gamut and one tone curve for all channels. curve is the
// bytes of a curv or para tag.
func MatrixProfile(version byte, description string, g Gamut, curve []byte) []byte {
	matrix := g.matrixToXYZ()
	var tags []tag
	for i, name := range []string{"r", "g", "b"} {
		tags = append(tags, tag{name + "XYZ", encodeXYZ([3]float64{matrix[0][i], matrix[1][i], matrix[2][i]})}, tag{name + "TRC", curve})
	}
	if version >= 4 {
		chad := []byte("sf32\x00\x00\x00\x00")
		for _, row := range adaptationToD50(g.whiteXYZ()) {
			chad = appendS15Fixed16(chad, row[:]...)
		}
		tags = append(tags, tag{"chad", chad})
	}
	return assemble(version, "RGB ", description, tags)
}

// GrayProfile returns a profile of version 2 or 4 for grey pictures. curve, the tone curve, is the bytes of a curv or para tag.
func GrayProfile(version byte, description string, curve []byte) []byte {
	return assemble(version, "GRAY", description, []tag{{"kTRC", curve}})
}

type tag struct {
	name string
	data []byte
}

// assemble returns a profile with the tags that every profile has, and further ones.
func assemble(version byte, space, description string, further []tag) []byte {
	text := encodeTextV4
	if version < 4 {
		text = encodeTextV2
	}
	tags := append([]tag{{"desc", text("desc", description)}, {"cprt", text("text", "CC0")}, {"wtpt", encodeXYZ(d50)}}, further...)
	out := make([]byte, 132+12*len(tags))
	out[8] = version
	copy(out[12:], "mntr"+space+"XYZ ")
	copy(out[24:], []byte{0x07, 0xea, 0, 1, 0, 1}) // made on 1 January 2026
	copy(out[36:], "acsp")
	copy(out[68:], appendS15Fixed16(nil, d50[:]...))
	binary.BigEndian.PutUint32(out[128:], uint32(len(tags)))
	places := map[string]int{}
	for i, t := range tags {
		at, shared := places[string(t.data)]
		if !shared {
			at = len(out)
			places[string(t.data)] = at
			out = append(out, t.data...)
			out = append(out, make([]byte, -len(out)&3)...)
		}
		entry := out[132+12*i:]
		copy(entry, t.name)
		binary.BigEndian.PutUint32(entry[4:], uint32(at))
		binary.BigEndian.PutUint32(entry[8:], uint32(len(t.data)))
	}
	binary.BigEndian.PutUint32(out, uint32(len(out)))
	return out
}

func encodeTextV2(kind, text string) []byte {
	if kind == "text" {
		return append([]byte("text\x00\x00\x00\x00"+text), 0)
	}
	out := binary.BigEndian.AppendUint32([]byte("desc\x00\x00\x00\x00"), uint32(len(text)+1))
	return append(append(out, text...), make([]byte, 1+8+3+67)...)
}

func encodeTextV4(_, text string) []byte {
	units := utf16.Encode([]rune(text))
	out := []byte("mluc\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x0cenUS")
	out = binary.BigEndian.AppendUint32(out, uint32(2*len(units)))
	out = binary.BigEndian.AppendUint32(out, 28)
	for _, u := range units {
		out = binary.BigEndian.AppendUint16(out, u)
	}
	return out
}

func encodeXYZ(v [3]float64) []byte {
	return appendS15Fixed16([]byte("XYZ \x00\x00\x00\x00"), v[:]...)
}

func appendS15Fixed16(b []byte, values ...float64) []byte {
	for _, v := range values {
		b = binary.BigEndian.AppendUint32(b, uint32(int32(math.Round(v*65536))))
	}
	return b
}

// ParametricSRGB returns the tone curve of sRGB as the bytes of a para tag.
func ParametricSRGB() []byte {
	return appendS15Fixed16([]byte("para\x00\x00\x00\x00\x00\x03\x00\x00"), 2.4, 1/1.055, 0.055/1.055, 1/12.92, 0.04045)
}

// applyToneCurve applies the tone curve of sRGB and Display P3 to linear light. The curve is continued beyond 0..1, so that
// colours can be interpolated before they are clipped.
func applyToneCurve(v float64) float64 {
	if v < 0 {
		return -applyToneCurve(-v)
	}
	if v <= 0.0031308 {
		return 12.92 * v
	}
	return 1.055*math.Pow(v, 1/2.4) - 0.055
}

// linearLight contains the linear light for each value of a channel. It is the inverse of applyToneCurve.
var linearLight = func() (out [256]float64) {
	for i := range out {
		out[i] = srgbCurve.eval(float64(i) / 255)
	}
	return out
}()

func multiply(m [3][3]float64, v [3]float64) (out [3]float64) {
	for i := range out {
		out[i] = m[i][0]*v[0] + m[i][1]*v[1] + m[i][2]*v[2]
	}
	return out
}

func product(a, b [3][3]float64) (out [3][3]float64) {
	for i := range 3 {
		for j := range 3 {
			for k := range 3 {
				out[i][j] += a[i][k] * b[k][j]
			}
		}
	}
	return out
}

func inverse(m [3][3]float64) (out [3][3]float64) {
	minor := func(i, j int) float64 {
		a, b, c, d := (i+1)%3, (i+2)%3, (j+1)%3, (j+2)%3
		return m[a][c]*m[b][d] - m[a][d]*m[b][c]
	}
	determinant := m[0][0]*minor(0, 0) + m[0][1]*minor(0, 1) + m[0][2]*minor(0, 2)
	for i := range 3 {
		for j := range 3 {
			out[j][i] = minor(i, j) / determinant
		}
	}
	return out
}
