package colour_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelie/internal/media/rendition/colour"
)

// littleCMS converts the colours of device from profile to target with transicc, the command of Little CMS: in floating point, without
// clipping, with the relative colorimetric intent.
func littleCMS(t *testing.T, profile, target string, device [][]float64) [][]float64 {
	t.Helper()
	var in bytes.Buffer
	for _, d := range device {
		for _, v := range d {
			fmt.Fprintf(&in, "%.6f ", v)
		}
		in.WriteByte('\n')
	}
	command := exec.Command("transicc", "-n", "-t1", "-i", profile, "-o", target)
	command.Stdin = &in
	var stderr bytes.Buffer
	command.Stderr = &stderr
	text, err := command.Output()
	if err != nil {
		t.Fatalf("transicc (scripts/deps.sh test installs it): %v %s", err, stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	if len(lines) != len(device) {
		t.Fatalf("transicc gave %d lines for %d", len(lines), len(device))
	}
	out := make([][]float64, len(lines))
	for i, line := range lines {
		var v [3]float64
		if _, err := fmt.Sscan(line, &v[0], &v[1], &v[2]); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		out[i] = v[:]
	}
	return out
}

func TestColoursMatchLittleCMS(t *testing.T) {
	folder := t.TempDir()
	file := func(name string, data []byte) string {
		path := filepath.Join(folder, name+".icc")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	p3 := file("p3", colour.DisplayP3Profile)
	debian := func(name string) []byte {
		b, err := os.ReadFile("/usr/share/color/icc/ghostscript/" + name)
		if err != nil {
			t.Fatalf("scripts/deps.sh test installs it: %v", err)
		}
		return b
	}
	var report strings.Builder
	fmt.Fprintf(&report, "\n%-28s %-10s | to Little CMS, ΔE2000   | to the source, in gamut\n", "profile", "to")
	fmt.Fprintf(&report, "%-28s %-10s |   mean      max        |   mean      max   share\n", "", "")
	for _, p := range []struct {
		name    string
		profile []byte
	}{
		{"sRGB v2", srgb2()},
		{"sRGB v4", srgb4()},
		{"Display P3", colour.DisplayP3Profile},
		{"Adobe RGB", colour.AdobeRGBProfile},
		{"ProPhoto", proPhoto()},
		{"Adobe RGB, Debian's", debian("a98.icc")},
		{"ProPhoto, Debian's", debian("rommrgb.icc")},
		{"RGB table, mft1", tableProfile("mft1")},
		{"RGB table, mft2", tableProfile("mft2")},
		{"RGB table, mAB", tableProfile("mAB ")},
		{"grey, gamma 2.2", grayGamma()},
		{"grey, dot gain 20 %", grayDots()},
		{"grey, to Lab", grayLab()},
		{"grey, Debian's v4", debian("ps_gray.icc")},
		{"CMYK, mft to Lab", press(t)},
		{"CMYK, mft to XYZ", debian("ps_cmyk.icc")},
		{"CMYK table, mAB", pressTable(t)},
	} {
		profile, err := colour.Parse(p.profile)
		if err != nil {
			t.Errorf("%s: %v", p.name, err)
			continue
		}
		path := file("source", p.profile)
		pix, device := samples(profile.Space())
		source := littleCMS(t, path, "*Lab", device)
		for _, to := range []struct {
			space  colour.Space
			name   string
			target string
		}{{colour.SRGB, "sRGB", "*sRGB"}, {colour.DisplayP3, "Display P3", p3}} {
			transform, err := colour.NewTransform(profile, to.space)
			if err != nil {
				t.Fatal(err)
			}
			got := convert(transform, profile.Space(), pix)
			want := littleCMS(t, path, to.target, device)
			var lcms, own statistics
			for i := range device {
				rgb := got[4*i:]
				lab := colour.LabOf(rgb[0], rgb[1], rgb[2], to.space)
				var clipped [3]uint8
				inside := true
				for k, v := range want[i] {
					inside = inside && v > -0.5 && v < 255.5
					clipped[k] = uint8(math.Round(min(max(v, 0), 255)))
				}
				lcms.add(colour.DeltaE2000(lab, colour.LabOf(clipped[0], clipped[1], clipped[2], to.space)))
				if inside {
					own.add(colour.DeltaE2000(lab, colour.Lab{L: source[i][0], A: source[i][1], B: source[i][2]}))
				}
			}
			fmt.Fprintf(&report, "%-28s %-10s | %6.3f   %6.3f        | %6.3f   %6.3f   %4.0f %%\n",
				p.name, to.name, lcms.mean(), lcms.max, own.mean(), own.max, 100*float64(own.n)/float64(len(device)))
			if lcms.mean() >= 1 || lcms.max >= 3 || own.mean() >= 1 || own.max >= 3 || own.n < 10 {
				t.Errorf("%s to %s leaves the bounds: mean below 1, maximum below 3", p.name, to.name)
			}
		}
	}
	t.Log(report.String())
}

// A table profile is resampled for speed. Without resampling, its colours must equal those of Little CMS.
func TestTablesMatchLittleCMS(t *testing.T) {
	for name, data := range map[string][]byte{
		"mft1": tableProfile("mft1"), "mft2": tableProfile("mft2"), "mAB": tableProfile("mAB "),
		"CMYK": press(t), "CMYK mAB": pressTable(t),
	} {
		profile, err := colour.Parse(data)
		if err != nil {
			t.Fatal(err)
		}
		if profile.Matrix() {
			t.Errorf("%s: the table was not seen", name)
		}
		path := filepath.Join(t.TempDir(), "profile.icc")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		_, device := samples(profile.Space())
		top := 255.0
		if profile.Space() == colour.CMYK {
			top = 100
		}
		for i, want := range littleCMS(t, path, "*Lab", device) {
			in := make([]float64, len(device[i]))
			for k, v := range device[i] {
				in[k] = v / top
			}
			if e := colour.DeltaE2000(profile.Lab(in...), colour.Lab{L: want[0], A: want[1], B: want[2]}); e > 0.05 {
				t.Fatalf("%s at %v: %v, Little CMS %v (%.3f)", name, device[i], profile.Lab(in...), want, e)
			}
		}
	}
}

// samples are device values, as bytes of pixels and in the form of transicc.
func samples(space colour.Space) (pix []byte, device [][]float64) {
	random := rand.New(rand.NewPCG(1, 2))
	switch space {
	case colour.Gray:
		for v := range 256 {
			pix = append(pix, uint8(v))
			device = append(device, []float64{float64(v)})
		}
	case colour.CMYK:
		for i := range count {
			ink := [4]uint8{uint8(random.IntN(256)), uint8(random.IntN(256)), uint8(random.IntN(256)), uint8(random.IntN(256))}
			if i%2 == 0 {
				ink[3] /= 8 // most pixels of a picture have little black
			}
			pix = append(pix, ink[:]...)
			device = append(device, []float64{
				float64(ink[0]) / 2.55, float64(ink[1]) / 2.55, float64(ink[2]) / 2.55, float64(ink[3]) / 2.55,
			})
		}
	default:
		for i := range count {
			rgb := [3]uint8{uint8(random.IntN(256)), uint8(random.IntN(256)), uint8(random.IntN(256))}
			if i%4 == 0 { // muted colours, which are more frequent in pictures
				for k := range rgb {
					rgb[k] = uint8((int(rgb[0])*3 + int(rgb[k])) / 4)
				}
			}
			pix = append(pix, rgb[0], rgb[1], rgb[2], 255)
			device = append(device, []float64{float64(rgb[0]), float64(rgb[1]), float64(rgb[2])})
		}
	}
	return pix, device
}

func convert(t *colour.Transform, space colour.Space, pix []byte) []byte {
	switch space {
	case colour.Gray:
		out := make([]byte, 4*len(pix))
		t.ConvertGray(out, pix)
		return out
	case colour.CMYK:
		out := make([]byte, len(pix))
		t.ConvertCMYK(out, pix)
		return out
	}
	out := bytes.Clone(pix)
	t.ConvertRGBA(out)
	return out
}

type statistics struct {
	sum, max float64
	n        int
}

func (s *statistics) add(v float64) {
	s.sum += v
	s.max = max(s.max, v)
	s.n++
}

func (s *statistics) mean() float64 { return s.sum / float64(max(s.n, 1)) }

// count is the number of tested colours. It is limited because transicc converts them one at a time.
var count = 4000

func FuzzTables(f *testing.F) {
	for _, kind := range []string{"mft1", "mft2", "mAB "} {
		f.Add(tableProfile(kind))
	}
	f.Fuzz(func(t *testing.T, icc []byte) {
		p, err := colour.Parse(icc)
		if err != nil {
			return
		}
		for _, device := range [][]float64{{0, 0, 0, 0}, {1, 1, 1, 1}, {0.3, 1, 0, 0.7}} {
			if lab := p.Lab(device...); math.IsNaN(lab.L + lab.A + lab.B) {
				t.Fatalf("%v gives %v", device, lab)
			}
		}
	})
}
