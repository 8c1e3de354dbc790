// Package metadata reads the metadata of picture files (EXIF, XMP, IPTC), and writes copies of pictures without the metadata that only the
// owner should see, such as locations. It limits the use of memory and time, because the files are untrusted.
package metadata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"atelie/internal/media/rendition/colour"
)

// Errors of Read and Strip.
var (
	// ErrDamaged is wrapped by each error for a file that does not follow its format. The wrapping error states the reason.
	ErrDamaged = errors.New("the picture file is damaged")
	// ErrCannotStrip is returned by Strip for a type of file that Strip does not support.
	ErrCannotStrip = errors.New("this type of file cannot be stripped of its metadata without re-encoding it")
)

// Limits of the metadata that is read.
const (
	maxProfile = 4 << 20  // bytes of an ICC profile
	maxBlock   = 1 << 20  // bytes of a block of EXIF, XMP or IPTC
	maxText    = 1000     // characters of a text in a block
	maxPreview = 64 << 10 // bytes of a preview; a segment of a JPEG has no room for more
)

// Info is the metadata of a file.
type Info struct {
	Orientation int // EXIF orientation, 1 to 8; 1 if it is missing
	// Profile is the ICC profile of the file: what the numbers in the pixels mean as colours. Only its length and header are checked.
	// If the file describes its colour space in another way, such as by numbers in a PNG, Profile is made from that description. Profile
	// is nil for sRGB without a profile.
	Profile []byte
	// Creator and Rights are plain text. Each is from XMP or, if XMP lacks it, from IPTC, or else from EXIF. Several creators are
	// separated by "; ".
	Creator     string
	Rights      string
	HasLocation bool // the file contains GPS coordinates or names of places
	HasSerial   bool // the file contains the serial number of a camera or a lens
	// Preview is the small JPEG of the picture in EXIF, or nil. It is neither checked nor rotated, and it can have black bars: many
	// cameras add them to get 160 x 120 pixels.
	Preview []byte

	otherRights [len(rightsProperties)]string // values of rightsProperties in XMP; Strip keeps them
}

// blocks are the blocks of metadata in a file, as the file stores them. A missing block is nil.
type blocks struct {
	exif, xmp, iptc, icc []byte
	author, copyright    string // from text chunks of PNG or tags of TIFF; used if the blocks have no creator or rights
	adobeRGB             bool   // EXIF names Adobe RGB, a colour space of cameras (DCF 2.0) that is recorded without a profile
}

// Read returns the metadata of a file. It leaves out metadata that is damaged or beyond the limits. For GIF and unknown types it returns no
// metadata. If f does not follow the format, the error wraps ErrDamaged. Otherwise it is an error of reading f.
func Read(f io.ReadSeeker, mimeType string) (Info, error) {
	s := newSource(f)
	info := Info{Orientation: 1}
	switch mimeType {
	case "image/jpeg":
		b, _ := scanJPEG(s, false) // false: only up to the first scan
		info = b.readInfo()
	case "image/png":
		b, _ := scanPNG(s)
		info = b.readInfo()
	case "image/webp":
		b, _ := scanWebP(s)
		info = b.readInfo()
	case "image/tiff":
		info = readTIFF(s)
	case "image/heic", "image/heif", "image/avif":
		info = readHEIF(s)
	}
	if s.err != nil && !errors.Is(s.err, errTruncated) { // a truncated file still has the metadata before its end
		return Info{}, s.err
	}
	return info, nil
}

// readInfo parses the blocks in the order of preference: the first creator and the first rights that are not empty are used.
func (b *blocks) readInfo() Info {
	info := Info{Orientation: 1}
	if len(b.icc) >= 132 && string(b.icc[36:40]) == "acsp" {
		info.Profile = b.icc
	}
	if len(b.xmp) > 0 {
		readXMP(b.xmp, &info)
	}
	if len(b.iptc) > 0 {
		readIPTC(b.iptc, &info)
	}
	if len(b.exif) > 0 {
		inEXIF := readEXIF(bytes.NewReader(bytes.TrimPrefix(b.exif, headEXIF)), &info)
		if inEXIF.adobeRGB && info.Profile == nil {
			info.Profile = colour.AdobeRGBProfile
		}
	}
	info.setCreator(b.author)
	info.setRights(b.copyright)
	return info
}

// setCreator sets Creator unless it is set already. The text may have several names, separated by semicolons.
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

// setRights sets Rights unless it is set already.
func (i *Info) setRights(text string) {
	if i.Rights == "" {
		i.Rights = tidy(text)
	}
}

// tidy returns a text in one line, printable and of at most maxText characters. Text that is not UTF-8 is read as Latin-1,
// which old programs wrote.
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

// damagedError returns an error that wraps ErrDamaged with a reason.
func damagedError(format string, args ...any) error {
	return fmt.Errorf("%w: %s", ErrDamaged, fmt.Sprintf(format, args...))
}

// errTruncated wraps ErrDamaged. It is for a file that ends too early.
var errTruncated = fmt.Errorf("%w: it ends too early", ErrDamaged)
