package colour_test

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"atelie/internal/media/rendition/colour"
)

// proPhoto is ProPhoto RGB (ROMM), version 4, with gamma 1.8 as a formula with the linear start of the standard.
func proPhoto() []byte {
	return colour.MatrixProfile(4, "ProPhoto RGB", colour.Gamut{
		Red: [2]float64{0.7347, 0.2653}, Green: [2]float64{0.1596, 0.8404}, Blue: [2]float64{0.0366, 0.0001},
		White: [2]float64{0.345703, 0.358539},
	}, formula(3, 1.8, 1, 0, 1.0/16, 16.0/512))
}

// srgb2 is sRGB of version 2, its curve sampled at 1024 points as the profile of Hewlett-Packard has it.
func srgb2() []byte {
	return colour.MatrixProfile(2, "sRGB IEC61966-2.1", colour.GamutSRGB, sampled(1024, func(x float64) float64 {
		if x <= 0.04045 {
			return x / 12.92
		}
		return math.Pow((x+0.055)/1.055, 2.4)
	}))
}

// srgb4 is sRGB of version 4.
func srgb4() []byte {
	return colour.MatrixProfile(4, "sRGB", colour.GamutSRGB, colour.ParametricSRGB())
}

// grayGamma is grey of gamma 2.2.
func grayGamma() []byte { return colour.GrayProfile(2, "Gray Gamma 2.2", gamma(2.2)) }

// grayLab is grey with a curve to lightness instead of linear light.
func grayLab() []byte {
	p := colour.GrayProfile(2, "lightness", gamma(1.1))
	copy(p[20:], "Lab ")
	return p
}

// grayDots is grey for a press with a dot gain of 20 % at half ink.
func grayDots() []byte {
	return colour.GrayProfile(2, "Dot Gain 20%", sampled(256, func(x float64) float64 {
		ink := 1 - x
		return 1 - (ink + 4*0.20*ink*(1-ink))
	}))
}

// press is a press profile from Debian's package libgs-common.
func press(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("/usr/share/color/icc/ghostscript/default_cmyk.icc")
	if err != nil {
		t.Fatalf("run scripts/deps.sh test: %v", err)
	}
	return b
}

// tableProfile is Adobe RGB as a table of the kind mft1, mft2 (both version 2) or "mAB " (version 4), to Lab.
func tableProfile(kind string) []byte {
	base, err := colour.Parse(colour.AdobeRGBProfile)
	if err != nil {
		panic(err)
	}
	const grid = 17
	var values []float64 // in 0..1 as version 4 encodes Lab
	for i := range grid * grid * grid {
		step := func(n int) float64 { return math.Pow(float64(n%grid)/(grid-1), 0.8) } // the inverse of the input curves
		lab := base.Lab(step(i/grid/grid), step(i/grid), step(i))
		values = append(values, lab.L/100, (lab.A+128)/255, (lab.B+128)/255)
	}
	before := func(x float64) float64 { return math.Pow(x, 1.25) }
	identity := func(x float64) float64 { return x }
	version := byte(2)
	data := make([]byte, 32)
	copy(data, kind)
	data[8], data[9], data[10] = 3, 3, grid
	number := func(v float64) {
		if kind == "mft1" {
			data = append(data, uint8(math.Round(255*min(max(v, 0), 1))))
			return
		}
		if kind == "mft2" {
			v *= 65280.0 / 65535
		}
		data = binary.BigEndian.AppendUint16(data, uint16(math.Round(65535*min(max(v, 0), 1))))
	}
	switch kind {
	case "mft1", "mft2":
		points := 256
		data = append(data[:12], make([]byte, 36)...)
		for i := range 3 {
			binary.BigEndian.PutUint32(data[12+16*i:], 1<<16)
		}
		if kind == "mft2" {
			data = append(data, 1, 0, 1, 0)
		}
		curve := func(f func(float64) float64) {
			for i := range 3 * points {
				v := f(float64(i%points) / 255)
				if kind == "mft2" {
					v *= 65535.0 / 65280 // a curve is not Lab, so the conversion of number is undone
				}
				number(v)
			}
		}
		curve(before)
		for _, v := range values {
			number(v)
		}
		curve(identity)
	case "mAB ":
		version, data = 4, modular(3, grid, 1.25, values)
	}
	p := withTag(colour.MatrixProfile(version, "Table "+kind, colour.GamutSRGB, gamma(1)), "A2B0", data)
	copy(p[20:], "Lab ")
	return p
}

// pressTable is press's profile as a table of version 4.
func pressTable(t testing.TB) []byte {
	t.Helper()
	base, err := colour.Parse(press(t))
	if err != nil {
		t.Fatal(err)
	}
	const grid = 9
	var values []float64
	for i := range grid * grid * grid * grid {
		step := func(n int) float64 { return float64(n%grid) / (grid - 1) }
		lab := base.Lab(step(i/grid/grid/grid), step(i/grid/grid), step(i/grid), step(i))
		values = append(values, lab.L/100, (lab.A+128)/255, (lab.B+128)/255)
	}
	p := withTag(colour.MatrixProfile(4, "CMYK table", colour.GamutSRGB, gamma(1)), "A2B0", modular(4, grid, 1, values))
	copy(p[12:], "prtrCMYKLab ")
	return p
}

// modular is an mAB tag: curves with a gamma, a grid in 16 bits, and identity curves.
func modular(channels, grid byte, gamma float64, values []float64) []byte {
	data := make([]byte, 32)
	copy(data, "mAB ")
	data[8], data[9] = channels, 3
	at := func(field int) { binary.BigEndian.PutUint32(data[field:], uint32(len(data))) }
	at(12)
	for range 3 {
		data = append(data, formula(0, 1)...)
	}
	at(28)
	for range channels {
		data = append(data, formula(0, gamma)...)
	}
	at(24)
	head := make([]byte, 20)
	for i := range channels {
		head[i] = grid
	}
	head[16] = 2
	data = append(data, head...)
	for _, v := range values {
		data = binary.BigEndian.AppendUint16(data, uint16(math.Round(65535*min(max(v, 0), 1))))
	}
	return data
}

// withTag adds a tag to a profile.
func withTag(p []byte, name string, data []byte) []byte {
	n := int(binary.BigEndian.Uint32(p[128:]))
	out := append([]byte(nil), p[:132+12*n]...)
	for i := range n {
		entry := out[132+12*i:]
		binary.BigEndian.PutUint32(entry[4:], binary.BigEndian.Uint32(entry[4:])+12)
	}
	out = append(out, name...)
	out = binary.BigEndian.AppendUint32(out, uint32(len(p)+12))
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	out = append(append(out, p[132+12*n:]...), data...)
	binary.BigEndian.PutUint32(out[128:], uint32(n+1))
	binary.BigEndian.PutUint32(out, uint32(len(out)))
	return out
}

// gamma is a curv tag with one number.
func gamma(g float64) []byte {
	return binary.BigEndian.AppendUint16([]byte("curv\x00\x00\x00\x00\x00\x00\x00\x01"), uint16(math.Round(g*256)))
}

// sampled is a curv tag of n points.
func sampled(n int, f func(float64) float64) []byte {
	out := binary.BigEndian.AppendUint32([]byte("curv\x00\x00\x00\x00"), uint32(n))
	for i := range n {
		out = binary.BigEndian.AppendUint16(out, uint16(math.Round(65535*min(max(f(float64(i)/float64(n-1)), 0), 1))))
	}
	return out
}

// formula is a para tag.
func formula(kind byte, numbers ...float64) []byte {
	out := []byte{'p', 'a', 'r', 'a', 0, 0, 0, 0, 0, kind, 0, 0}
	for _, v := range numbers {
		out = binary.BigEndian.AppendUint32(out, uint32(int32(math.Round(v*65536))))
	}
	return out
}
