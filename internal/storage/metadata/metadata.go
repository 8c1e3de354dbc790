// Package metadata reads what a picture file says about itself, and writes the file anew without what nobody but its
// owner should see. Everything in it is bounded: the files come from strangers.
package metadata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelie/internal/storage/rendition/colour"
)

// The errors. ErrDamaged is wrapped with the reason.
var (
	ErrDamaged   = errors.New("the picture file is damaged")
	ErrNoCleaner = errors.New("this type of file cannot be cleaned without re-encoding it")
)

// Limits in bytes: a profile, a block of EXIF, XMP or IPTC, and a text in it.
const (
	maxProfile = 4 << 20
	maxBlock   = 1 << 20
	maxText    = 1000
)

// Info is what a file says about itself. Orientation is EXIF's, 1 to 8, 1 when it is not given. Profile is the ICC
// profile, not checked further than its length and header, or one that stands for what a camera or a PNG says in
// numbers; nil for sRGB without a profile. Creator and Rights are plain text, several creators with
// "; " between them. XMP is believed before IPTC, IPTC before EXIF.
type Info struct {
	Orientation int
	Profile     []byte
	Creator     string
	Rights      string
	HasLocation bool // GPS or names of places
	HasSerial   bool // of a camera or a lens

	more [len(rightsProperties)]string // further rights of XMP, which Clean keeps
}

// parts are the blocks of a file that hold metadata.
type parts struct {
	exif, xmp, iptc, icc []byte
	author, copyright    string // of PNG
	adobeRGB             bool   // of EXIF: the optional colour space of cameras (DCF 2.0), which comes without profile
}

// Read tells what the file of this type says. What is missing, damaged or beyond the limits is as if it were not there;
// the error is one of reading f, or ErrDamaged when f is not of the type.
func Read(f io.ReadSeeker, mimeType string) (Info, error) {
	s, err := newSource(f)
	if err != nil {
		return Info{}, err
	}
	var p parts
	switch mimeType {
	case "image/jpeg":
		p, _, err = scanJPEG(s, false)
	case "image/png":
		p, _, err = scanPNG(s, false)
	case "image/webp":
		p, _, err = scanWebP(s)
	case "image/tiff":
		return readTIFF(s)
	case "image/heic", "image/heif", "image/avif":
		return readHEIF(s)
	case "image/gif":
		return Info{Orientation: 1}, nil
	default:
		return Info{Orientation: 1}, nil
	}
	if err != nil && !errors.Is(err, errTruncated) {
		return Info{}, err
	}
	return p.info(), nil
}

func (p *parts) info() Info {
	info := Info{Orientation: 1}
	if len(p.icc) >= 132 && string(p.icc[36:40]) == "acsp" {
		info.Profile = p.icc
	}
	if len(p.xmp) > 0 {
		readXMP(p.xmp, &info)
	}
	if len(p.iptc) > 0 {
		readIPTC(p.iptc, &info)
	}
	if len(p.exif) > 0 {
		camera := readEXIF(bytes.NewReader(bytes.TrimPrefix(p.exif, headEXIF)), &info)
		if camera.adobeRGB && info.Profile == nil {
			info.Profile = colour.AdobeRGBProfile
		}
	}
	info.setCreator(p.author)
	info.setRights(p.copyright)
	return info
}

// setCreator and setRights take the first text that is not empty.
func (i *Info) setCreator(text string) {
	if i.Creator != "" {
		return
	}
	var names []string
	for name := range strings.SplitSeq(tidy(text), ";") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, name)
		}
	}
	i.Creator = tidy(strings.Join(names, "; "))
}

func (i *Info) setRights(text string) {
	if i.Rights == "" {
		i.Rights = tidy(text)
	}
}

// tidy makes a text printable, of one line and of limited length. What is not UTF-8 is taken as Latin-1, as old
// programs wrote it.
func tidy(text string) string {
	if len(text) > 4*maxText {
		text = text[:4*maxText]
		for i := 0; i < utf8.UTFMax && !utf8.ValidString(text); i++ { // the cut may have split a character
			text = text[:len(text)-1]
		}
	}
	if !utf8.ValidString(text) {
		runes := make([]rune, len(text))
		for i := range runes {
			runes[i] = rune(text[i])
		}
		text = string(runes)
	}
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if runes := []rune(text); len(runes) > maxText {
		text = strings.TrimSpace(string(runes[:maxText]))
	}
	return text
}

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// errTruncated is the end of the file where there should be more.
var errTruncated = fmt.Errorf("%w: it ends too early", ErrDamaged)
