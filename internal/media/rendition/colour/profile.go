// Package colour reads ICC profiles (which say what the numbers in a picture's pixels mean) and converts 8-bit pixels to sRGB or Display
// P3. It converts as browsers, libvips and Little CMS do: with the relative colorimetric intent (white stays white, and other colours stay
// the same if the target can show them), and without black point compensation. It clips colours that the target cannot show.
package colour

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
)

// ErrProfile is wrapped by the error for an ICC profile that is invalid or not usable. Callers then convert the picture as if it had no
// profile.
var ErrProfile = errors.New("not a usable ICC profile")

// Space is a colour space: the space of a profile's device values, or the target of a Transform.
type Space int

// The spaces. RGB, Gray and CMYK are spaces of profiles. SRGB and DisplayP3 are targets.
const (
	RGB Space = iota + 1
	Gray
	CMYK
	SRGB
	DisplayP3
)

// Limits of a profile: its size in bytes, and the number of its tags. Profiles of printers have up to 3 MB and about 20 tags.
const (
	maxProfile = 4 << 20
	maxTags    = 100
)

// Profile is a parsed ICC profile (ICC.1:2022, versions 2 and 4). It is safe for concurrent use.
type Profile struct {
	space       Space
	description string
	// labPCS is true if the profile converts to Lab, and false if it converts to XYZ. This space is called the profile connection space (PCS).
	labPCS bool
	curves [3]curve      // tone curves, if there is no table: one for each channel of RGB, or the first for Gray
	matrix [3][3]float64 // for RGB without a table: the matrix from linear light to XYZ relative to D50
	table  *colourTable  // converts device values (the numbers in a pixel) to the PCS; nil if the profile has no table (tag A2B)

	// The conversion to sRGB for OutsideSRGB, whose first call sets one of these fields: lookup if table is set, otherwise shaper.
	once   sync.Once
	shaper *shaper
	lookup *lookup
}

// Parse reads a profile. The error wraps ErrProfile.
func Parse(icc []byte) (*Profile, error) {
	p, err := parse(icc)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrProfile, err)
	}
	return p, nil
}

func parse(icc []byte) (*Profile, error) {
	// The header has 128 bytes, with the signature acsp at 36. The number of tags follows (4 bytes).
	if len(icc) < 132 || len(icc) > maxProfile || string(icc[36:40]) != "acsp" {
		return nil, errors.New("no ICC header")
	}
	p := &Profile{}
	switch class := string(icc[12:16]); class {
	case "link", "abst", "nmcl": // these classes convert between profiles, or name single colours
		return nil, fmt.Errorf("profile class %q is not one of pictures", class)
	}
	p.space = map[string]Space{"RGB ": RGB, "GRAY": Gray, "CMYK": CMYK}[string(icc[16:20])]
	if p.space == 0 {
		return nil, fmt.Errorf("colour space %q", icc[16:20])
	}
	pcs := string(icc[20:24])
	if p.labPCS = pcs == "Lab "; !p.labPCS && pcs != "XYZ " {
		return nil, fmt.Errorf("connection space %q", pcs)
	}
	tags, err := readTags(icc)
	if err != nil {
		return nil, err
	}
	p.description = readDescription(tags["desc"])
	// As in Little CMS for the relative colorimetric intent, a table is preferred to a matrix, and the colorimetric table (A2B1) to
	// the perceptual one (A2B0).
	for _, name := range []string{"A2B1", "A2B0"} {
		if data := tags[name]; data != nil {
			p.table, err = parseTable(data, p.channelCount(), p.labPCS)
			return p, err
		}
	}
	switch p.space {
	case Gray:
		p.curves[0], _, err = readCurve(tags["kTRC"])
		return p, err
	case RGB:
		if p.labPCS {
			return nil, errors.New("a matrix needs XYZ as connection space")
		}
		return p, p.parseMatrix(tags)
	default:
		return nil, errors.New("CMYK without a table")
	}
}

// parseMatrix reads the curves and the matrix of an RGB profile without a table.
func (p *Profile) parseMatrix(tags map[string][]byte) (err error) {
	for i, name := range []string{"r", "g", "b"} {
		if p.curves[i], _, err = readCurve(tags[name+"TRC"]); err != nil {
			return err
		}
		xyz := tags[name+"XYZ"]
		if len(xyz) < 20 || string(xyz[:4]) != "XYZ " {
			return errors.New("no " + name + "XYZ")
		}
		for row := range 3 {
			p.matrix[row][i] = readS15Fixed16(xyz[8+4*row:])
		}
	}
	return nil
}

// readTags returns the bytes of a profile's tags by their names. It fails if a tag reaches beyond the profile.
func readTags(icc []byte) (map[string][]byte, error) {
	count := int(binary.BigEndian.Uint32(icc[128:]))
	if count > maxTags || 132+12*count > len(icc) {
		return nil, fmt.Errorf("%d tags", count)
	}
	tags := make(map[string][]byte, count)
	for i := range count {
		entry := icc[132+12*i:]
		from, size := uint64(binary.BigEndian.Uint32(entry[4:])), uint64(binary.BigEndian.Uint32(entry[8:]))
		if from+size > uint64(len(icc)) {
			return nil, fmt.Errorf("tag %q lies beyond the end", entry[:4])
		}
		if size >= 8 {
			tags[string(entry[:4])] = icc[from : from+size : from+size]
		}
	}
	return tags, nil
}

// readDescription returns the text of a desc (version 2) or mluc (version 4) tag; "" for an invalid one.
func readDescription(tag []byte) string {
	var text string
	switch {
	case len(tag) >= 12 && string(tag[:4]) == "desc":
		size := uint64(binary.BigEndian.Uint32(tag[8:]))
		text = string(tag[12:min(12+size, uint64(len(tag)))])
	case len(tag) >= 28 && string(tag[:4]) == "mluc" && binary.BigEndian.Uint32(tag[8:]) > 0:
		size, from := uint64(binary.BigEndian.Uint32(tag[20:])), uint64(binary.BigEndian.Uint32(tag[24:]))
		if from+size <= uint64(len(tag)) {
			units := make([]uint16, min(size, 400)/2)
			for i := range units {
				units[i] = binary.BigEndian.Uint16(tag[from+2*uint64(i):])
			}
			text = string(utf16.Decode(units))
		}
	}
	text, _, _ = strings.Cut(text, "\x00")
	runes := []rune(strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, text))
	return strings.TrimSpace(string(runes[:min(len(runes), 100)]))
}

// Description returns the profile's name: printable, at most 100 characters, possibly "".
func (p *Profile) Description() string { return p.description }

// Space returns the space of the profile's device values: RGB, Gray or CMYK.
func (p *Profile) Space() Space { return p.space }

func (p *Profile) channelCount() int { return [...]int{RGB: 3, Gray: 1, CMYK: 4}[p.space] }

// convertToXYZ returns the colour of a device value (one number for each channel, 0 to 1) as XYZ relative to D50.
func (p *Profile) convertToXYZ(device []float64) [3]float64 {
	if p.table != nil {
		out := p.table.eval(device)
		if p.labPCS {
			return labToXYZ(out)
		}
		return out
	}
	if p.space == Gray {
		v := p.curves[0].eval(device[0])
		if p.labPCS {
			return labToXYZ([3]float64{100 * v, 0, 0})
		}
		return [3]float64{d50[0] * v, d50[1] * v, d50[2] * v}
	}
	var linear [3]float64
	for i := range linear {
		linear[i] = p.curves[i].eval(device[i])
	}
	return multiply(p.matrix, linear)
}

// readS15Fixed16 reads an s15Fixed16Number.
func readS15Fixed16(b []byte) float64 { return float64(int32(binary.BigEndian.Uint32(b))) / 65536 }
