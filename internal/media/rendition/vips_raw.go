package rendition

import (
	"bufio"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"
	"os"

	"atelie/internal/media/rendition/colour"
)

// This file reads and changes raw pictures: files in libvips' own format (.v), in which libvips and this program exchange pixels.

// rawHeaderSize is the length in bytes of the header of a raw picture. The header is in the machine's byte order. After it come the pixels,
// row by row, and then XML with the metadata.
const rawHeaderSize = 64

var errRaw = errors.New("not a file of libvips' own format with 8 bits a channel")

// rawPicture is a raw picture in a file: RGB or RGBA, 8 bits per channel, not premultiplied by alpha. Each command of libvips except the
// encoders writes its result in this format. The next command maps the file into memory instead of reading it.
type rawPicture struct {
	path  string
	w, h  int // pixels
	bands int // number of channels, 3 or 4
}

// openRaw reads the header of a raw picture. For other files, the error wraps errRaw.
func openRaw(path string) (rawPicture, error) {
	f, err := os.Open(path)
	if err != nil {
		return rawPicture{}, err
	}
	defer func() { _ = f.Close() }() // the file was only read
	var head [rawHeaderSize]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return rawPicture{}, errors.Join(errRaw, err)
	}
	field := func(at int) int { return int(binary.NativeEndian.Uint32(head[at:])) }
	// The fields have 4 bytes. From 0: magic number, width, height, bands. From 20: type of the samples, coding, colour space.
	r := rawPicture{path: path, w: field(4), h: field(8), bands: field(12)}
	const magic, uchar, uncoded, srgb = 0x08f2a6b6, 0, 0, 22 // the numbers that libvips gives these values
	isKnown := field(0) == magic && field(20) == uchar && field(24) == uncoded && field(28) == srgb
	if !isKnown || (r.bands != 3 && r.bands != 4) || r.w <= 0 || r.h <= 0 {
		return rawPicture{}, fmt.Errorf("%w: %d bands of %d x %d", errRaw, r.bands, r.w, r.h)
	}
	return r, nil
}

// replaceMetadata removes all metadata of the picture, such as locations and serial numbers, and adds a profile and XMP unless
// they are empty.
func (r rawPicture) replaceMetadata(icc, xmp []byte) (err error) {
	f, err := os.OpenFile(r.path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	end := rawHeaderSize + int64(r.w)*int64(r.h)*int64(r.bands)
	if err := f.Truncate(end); err != nil {
		return err
	}
	xmlText := `<?xml version="1.0"?>` + "\n" + `<root xmlns="http://www.vips.ecs.soton.ac.uk/vips/8.13.0"><header><field type="VipsRefString" name="Hist"></field></header><meta>`
	addBlob := func(name string, content []byte) {
		if len(content) > 0 {
			xmlText += `<field type="VipsBlob" name="` + name + `">` + base64.StdEncoding.EncodeToString(content) + `</field>`
		}
	}
	addBlob("icc-profile-data", icc)
	addBlob("xmp-data", xmp)
	_, err = f.WriteAt([]byte(xmlText+"</meta></root>\n"), end)
	return err
}

// forEachRow calls fn for every row, from top to bottom.
func (r rawPicture) forEachRow(fn func(y int, row []byte)) error {
	f, err := os.Open(r.path)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	in := bufio.NewReaderSize(io.NewSectionReader(f, rawHeaderSize, int64(r.w)*int64(r.h)*int64(r.bands)), 1<<18)
	row := make([]byte, r.w*r.bands)
	for y := range r.h {
		if _, err := io.ReadFull(in, row); err != nil {
			return err
		}
		fn(y, row)
	}
	return nil
}

// inspection is the result of inspect.
type inspection struct {
	swatch  *image.NRGBA // at most 100 pixels a side, in the picture's own space
	opaque  bool         // no pixel is transparent
	outside float64      // share of pixels that sRGB cannot show; 0 without a profile
}

// inspect reads the picture once. Each pixel of the swatch is the mean of the pixels that it covers. profile may be nil.
func (r rawPicture) inspect(profile *colour.Profile) (inspection, error) {
	w, h := scaleSize(r.w, r.h, min(1, swatchSide/float64(max(r.w, r.h))))
	var (
		g    = inspection{swatch: image.NewNRGBA(image.Rect(0, 0, w, h)), opaque: true}
		sums = make([][5]uint64, w*h) // sums of R, G and B each times A, the sum of A, and the number of pixels
		wide = make([]byte, 4*r.w)
		n    = 0
	)
	err := r.forEachRow(func(y int, row []byte) {
		if r.bands == 3 && y%3 != 0 && h < r.h/6 { // a third of the rows is enough
			return
		}
		line := sums[y*h/r.h*w:][:w]
		for x := range r.w {
			p := row[x*r.bands:][:r.bands:r.bands]
			a := uint64(255)
			if r.bands == 4 {
				a = uint64(p[3])
				g.opaque = g.opaque && a == 255
			}
			s := &line[x*w/r.w]
			s[0], s[1], s[2], s[3], s[4] = s[0]+a*uint64(p[0]), s[1]+a*uint64(p[1]), s[2]+a*uint64(p[2]), s[3]+a, s[4]+1
			if profile != nil {
				copy(wide[4*x:], p[:3])
				wide[4*x+3] = uint8(a)
			}
		}
		if profile != nil {
			g.outside += profile.OutsideSRGB(wide)
			n++
		}
	})
	g.outside /= float64(max(n, 1))
	for i, s := range sums {
		if s[3] > 0 {
			for c := range 3 {
				g.swatch.Pix[4*i+c] = uint8((s[c] + s[3]/2) / s[3])
			}
		}
		g.swatch.Pix[4*i+3] = uint8(s[3] / max(s[4], 1))
	}
	return g, err
}

// readNRGBA reads the picture into memory.
func (r rawPicture) readNRGBA() (*image.NRGBA, error) {
	m := image.NewNRGBA(image.Rect(0, 0, r.w, r.h))
	err := r.forEachRow(func(y int, row []byte) {
		for x := range r.w {
			to := m.Pix[y*m.Stride+4*x:][:4]
			to[3] = 255
			copy(to, row[x*r.bands:][:r.bands])
		}
	})
	return m, err
}
