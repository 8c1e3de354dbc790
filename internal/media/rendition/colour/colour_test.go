package colour

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"strings"
	"testing"
)

// sharma has the 34 pairs of colours of Sharma, Wu and Dalal, "The CIEDE2000 Color-Difference Formula: Implementation Notes,
// Supplementary Test Data, and Mathematical Observations" (2005), table 1: L, a and b of both colours, and their difference.
var sharma = [][7]float64{
	{50, 2.6772, -79.7751, 50, 0, -82.7485, 2.0425},
	{50, 3.1571, -77.2803, 50, 0, -82.7485, 2.8615},
	{50, 2.8361, -74.0200, 50, 0, -82.7485, 3.4412},
	{50, -1.3802, -84.2814, 50, 0, -82.7485, 1.0000},
	{50, -1.1848, -84.8006, 50, 0, -82.7485, 1.0000},
	{50, -0.9009, -85.5211, 50, 0, -82.7485, 1.0000},
	{50, 0, 0, 50, -1, 2, 2.3669},
	{50, -1, 2, 50, 0, 0, 2.3669},
	{50, 2.4900, -0.0010, 50, -2.4900, 0.0009, 7.1792},
	{50, 2.4900, -0.0010, 50, -2.4900, 0.0010, 7.1792},
	{50, 2.4900, -0.0010, 50, -2.4900, 0.0011, 7.2195},
	{50, 2.4900, -0.0010, 50, -2.4900, 0.0012, 7.2195},
	{50, -0.0010, 2.4900, 50, 0.0009, -2.4900, 4.8045},
	{50, -0.0010, 2.4900, 50, 0.0010, -2.4900, 4.8045},
	{50, -0.0010, 2.4900, 50, 0.0011, -2.4900, 4.7461},
	{50, 2.5, 0, 50, 0, -2.5, 4.3065},
	{50, 2.5, 0, 73, 25, -18, 27.1492},
	{50, 2.5, 0, 61, -5, 29, 22.8977},
	{50, 2.5, 0, 56, -27, -3, 31.9030},
	{50, 2.5, 0, 58, 24, 15, 19.4535},
	{50, 2.5, 0, 50, 3.1736, 0.5854, 1.0000},
	{50, 2.5, 0, 50, 3.2972, 0, 1.0000},
	{50, 2.5, 0, 50, 1.8634, 0.5757, 1.0000},
	{50, 2.5, 0, 50, 3.2592, 0.3350, 1.0000},
	{60.2574, -34.0099, 36.2677, 60.4626, -34.1751, 39.4387, 1.2644},
	{63.0109, -31.0961, -5.8663, 62.8187, -29.7946, -4.0864, 1.2630},
	{61.2901, 3.7196, -5.3901, 61.4292, 2.2480, -4.9620, 1.8731},
	{35.0831, -44.1164, 3.7933, 35.0232, -40.0716, 1.5901, 1.8645},
	{22.7233, 20.0904, -46.6940, 23.0331, 14.9730, -42.5619, 2.0373},
	{36.4612, 47.8580, 18.3852, 36.2715, 50.5065, 21.2231, 1.4146},
	{90.8027, -2.0831, 1.4410, 91.1528, -1.6435, 0.0447, 1.4441},
	{90.9257, -0.5406, -0.9208, 88.6381, -0.8985, -0.7239, 1.5381},
	{6.7747, -0.2908, -2.4247, 5.8714, -0.0985, -2.2286, 0.6377},
	{2.0776, 0.0795, -1.1350, 0.9033, -0.0636, -0.5514, 0.9082},
}

func TestDeltaE2000IsThatOfThePublishedPairs(t *testing.T) {
	for i, p := range sharma {
		a, b := Lab{p[0], p[1], p[2]}, Lab{p[3], p[4], p[5]}
		for _, got := range []float64{DeltaE2000(a, b), DeltaE2000(b, a)} {
			if math.Abs(got-p[6]) > 0.00006 {
				t.Errorf("pair %d: %.4f, published %.4f", i+1, got, p[6])
			}
		}
	}
}

func TestDisplayP3Profile(t *testing.T) {
	if n := len(DisplayP3Profile); n > 512 || int(binary.BigEndian.Uint32(DisplayP3Profile)) != n {
		t.Fatalf("%d bytes", n)
	}
	p, err := Parse(DisplayP3Profile)
	if err != nil {
		t.Fatal(err)
	}
	if p.Description() != "Display P3" || p.Space() != RGB || !p.Matrix() {
		t.Fatalf("%q %v %v", p.Description(), p.Space(), p.Matrix())
	}
	same, err := NewTransform(p, DisplayP3)
	if err != nil || !same.Identity() {
		t.Fatalf("P3 to P3 is not the identity: %v", err)
	}
	back, err := NewTransform(p, SRGB)
	if err != nil || back.Identity() {
		t.Fatalf("P3 to sRGB is the identity: %v", err)
	}
	pix := []byte{255, 0, 0, 7, 0, 0, 0, 8, 255, 255, 255, 9, 128, 128, 128, 10}
	back.ConvertRGBA(pix)
	if want := []byte{255, 0, 0, 7, 0, 0, 0, 8, 255, 255, 255, 9, 128, 128, 128, 10}; !bytes.Equal(pix, want) {
		t.Fatalf("%v", pix)
	}
}

func TestWithoutProfileNothingChanges(t *testing.T) {
	none, err := NewTransform(nil, SRGB)
	if err != nil || !none.Identity() {
		t.Fatalf("no profile is not the identity: %v", err)
	}
	dst := make([]byte, 8)
	none.ConvertGray(dst, []byte{0, 200})
	if want := []byte{0, 0, 0, 255, 200, 200, 200, 255}; !bytes.Equal(dst, want) {
		t.Errorf("grey: %v", dst)
	}
	none.ConvertCMYK(dst, []byte{255, 0, 0, 0, 0, 0, 0, 255})
	if want := []byte{0, 255, 255, 255, 0, 0, 0, 255}; !bytes.Equal(dst, want) {
		t.Errorf("ink: %v", dst)
	}
	wide, err := NewTransform(nil, DisplayP3)
	if err != nil {
		t.Fatal(err)
	}
	red := []byte{255, 0, 0, 255}
	if wide.ConvertRGBA(red); !bytes.Equal(red, []byte{234, 51, 35, 255}) {
		t.Errorf("red of sRGB in P3: %v", red)
	}
	if _, err := NewTransform(nil, CMYK); err == nil {
		t.Error("an invalid target was accepted")
	}
}

// A profile for another kind of pixels than those of the picture must neither fail nor change them much.
func TestProfileOfAnotherKind(t *testing.T) {
	p, err := Parse(GrayProfile(2, "grey", ParametricSRGB()))
	if err != nil {
		t.Fatal(err)
	}
	grey, err := NewTransform(p, SRGB)
	if err != nil {
		t.Fatal(err)
	}
	if !grey.Identity() {
		t.Error("grey with the curve of sRGB is not the identity")
	}
	pix := []byte{10, 20, 30, 40}
	if grey.ConvertRGBA(pix); !bytes.Equal(pix, []byte{10, 20, 30, 40}) {
		t.Errorf("%v", pix)
	}
	grey.ConvertCMYK(pix, []byte{0, 0, 0, 0})
	if !bytes.Equal(pix, []byte{255, 255, 255, 255}) {
		t.Errorf("%v", pix)
	}
	if share := p.OutsideSRGB(pix); share != 0 {
		t.Errorf("grey outside of sRGB: %v", share)
	}
}

func TestGreyOfAnotherCurveIsNotTheIdentity(t *testing.T) {
	p, err := Parse(GrayProfile(2, "grey", []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x01\x00")))
	if err != nil {
		t.Fatal(err)
	}
	linear, err := NewTransform(p, SRGB)
	if err != nil || linear.Identity() {
		t.Fatalf("linear light is the identity: %v", err)
	}
	dst := make([]byte, 4)
	if linear.ConvertGray(dst, []byte{55}); !bytes.Equal(dst, []byte{128, 128, 128, 255}) {
		t.Errorf("a fifth of the light: %v", dst)
	}
}

func TestOutsideSRGB(t *testing.T) {
	p, err := Parse(DisplayP3Profile)
	if err != nil {
		t.Fatal(err)
	}
	pix := []byte{
		255, 0, 0, 255, // the red that sRGB lacks
		128, 128, 128, 255, 255, 255, 255, 255, 0, 0, 0, 255,
	}
	if share := p.OutsideSRGB(pix); share != 0.25 {
		t.Errorf("%v", share)
	}
	pix[3] = 0
	if share := p.OutsideSRGB(pix); share != 0 {
		t.Errorf("a transparent red: %v", share)
	}
	var none *Profile
	if share := none.OutsideSRGB(pix); share != 0 {
		t.Errorf("without profile: %v", share)
	}
}

func TestParseRefuses(t *testing.T) {
	change := func(at int, to string) []byte {
		b := bytes.Clone(DisplayP3Profile)
		copy(b[at:], to)
		return b
	}
	for name, icc := range map[string][]byte{
		"nothing":            nil,
		"a header alone":     DisplayP3Profile[:128],
		"cut":                DisplayP3Profile[:400],
		"no signature":       change(36, "nope"),
		"a device link":      change(12, "link"),
		"Lab pixels":         change(16, "Lab "),
		"another connection": change(20, "Luv "),
		"4 billion tags":     change(128, "\xff\xff\xff\xff"),
		"a tag far away":     change(136, "\xff\xff\xff\xf0"),
		"no curves":          bytes.ReplaceAll(DisplayP3Profile, []byte("rTRC"), []byte("xTRC")),
		"CMYK as a matrix":   change(16, "CMYK"),
		"a matrix to Lab":    change(20, "Lab "),
		"a long curve":       bytes.Replace(DisplayP3Profile, []byte("para\x00\x00\x00\x00\x00\x03\x00\x00"), []byte("curv\x00\x00\x00\x00\xff\xff\xff\xff"), 1),
		"a strange formula":  bytes.Replace(DisplayP3Profile, []byte("para\x00\x00\x00\x00\x00\x03"), []byte("para\x00\x00\x00\x00\x00	"), 1),
	} {
		if p, err := Parse(icc); !errors.Is(err, ErrProfile) || p != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestDescriptionIsPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"Adobe RGB (1998)": "Adobe RGB (1998)", " a\nb\x00c": "ab", strings.Repeat("x", 300): strings.Repeat("x", 100), "": "",
	} {
		for _, version := range []byte{2, 4} {
			p, err := Parse(MatrixProfile(version, text, GamutP3, ParametricSRGB()))
			if err != nil || p.Description() != want {
				t.Errorf("version %d, %q: %q %v", version, text, p.Description(), err)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(DisplayP3Profile)
	f.Add(GrayProfile(2, "grey", ParametricSRGB()))
	f.Add(MatrixProfile(2, "sampled", GamutP3, []byte("curv\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\xff\xff")))
	f.Fuzz(func(t *testing.T, icc []byte) {
		p, err := Parse(icc)
		if err != nil {
			return
		}
		for _, device := range [][]float64{{0, 0, 0, 0}, {1, 1, 1, 1}, {0.3, 1, 0, 0.7}} {
			if lab := p.Lab(device...); math.IsNaN(lab.L + lab.A + lab.B) {
				t.Fatalf("%v gives %v", device, lab)
			}
		}
		if p.table != nil {
			return // its preparation takes too long for fuzzing
		}
		transform, err := NewTransform(p, SRGB)
		if err != nil {
			t.Fatal(err)
		}
		pix := []byte{1, 2, 3, 4, 255, 0, 255, 0}
		transform.ConvertRGBA(pix)
		transform.ConvertGray(pix, pix)
		transform.ConvertCMYK(pix, pix)
		p.OutsideSRGB(pix)
	})
}

// BenchmarkTransform converts 4.4 megapixels of many colours, as in a 2560 px rendition.
func BenchmarkTransform(b *testing.B) {
	pix := make([]byte, 4*2560*1707)
	for i := range pix {
		pix[i] = byte(i*31 ^ i>>11 ^ i>>5)
	}
	adobe := MatrixProfile(2, "Adobe RGB", Gamut{
		Red: [2]float64{0.64, 0.33}, Green: [2]float64{0.21, 0.71}, Blue: [2]float64{0.15, 0.06}, White: GamutSRGB.White,
	}, []byte("curv\x00\x00\x00\x00\x00\x00\x00\x01\x02\x33"))
	p, err := Parse(adobe)
	if err != nil {
		b.Fatal(err)
	}
	t, err := NewTransform(p, SRGB)
	if err != nil {
		b.Fatal(err)
	}
	table := newLookup(p, srgbFromXYZ, 33)
	for name, f := range map[string]func([]byte){"matrix": t.ConvertRGBA, "table": table.convertRGBA, "outside": func(pix []byte) { p.OutsideSRGB(pix) }} {
		b.Run(name, func(b *testing.B) {
			work := bytes.Clone(pix)
			for b.Loop() {
				f(work)
			}
		})
	}
	b.Run("prepare", func(b *testing.B) {
		for b.Loop() {
			if _, err := NewTransform(p, SRGB); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// Matrix reports whether the profile has curves and a matrix (or one curve, for grey) and no table, so that it is converted exactly.
func (p *Profile) Matrix() bool { return p.table == nil }
