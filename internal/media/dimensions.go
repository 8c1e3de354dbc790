package media

import (
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/tiff"

	"atelie/internal/files"
	"atelie/internal/media/rendition"
)

// This file reads the size of a picture from the header of its file.

// Limits of the size of a picture, in pixels. The longer side is limited too, because a long thin picture can cost more than its area
// suggests.
const (
	maxPixels = 120_000_000
	maxSide   = 30_000
)

// sizeOf returns a picture's width and height in pixels as stored, before any rotation. It reads only the header, because decoding a
// hostile file of a few hundred kilobytes can take gigabytes of memory. It returns an error for pictures that are too large or have a
// broken header.
func sizeOf(f io.ReadSeeker, t *files.Type) (w, h int, err error) {
	var c image.Config
	switch t {
	case files.JPEG:
		c, err = jpeg.DecodeConfig(f)
	case files.PNG:
		c, err = png.DecodeConfig(f)
	case files.GIF:
		c, err = gif.DecodeConfig(f)
	case files.TIFF:
		// The struct hides the method ReadAt of f. The decoder would use ReadAt to read from the start of the file, not from the current
		// position.
		c, err = tiff.DecodeConfig(struct{ io.Reader }{f})
	case files.WebP:
		c.Width, c.Height, err = webpDimensions(f)
	default: // HEIC and AVIF
		c.Width, c.Height, err = rendition.HEIFSize(f)
	}
	w, h = c.Width, c.Height
	switch {
	case err != nil:
		return 0, 0, errUnreadableImage.Because(err)
	case w <= 0 || h <= 0:
		return 0, 0, errUnreadableImage.Becausef("%d x %d pixels", w, h)
	case w > maxSide || h > maxSide || w*h > maxPixels:
		return 0, 0, errTooManyPixels(w, h)
	}
	return w, h, nil
}

// errWebP is the error for a file that does not begin with valid WebP chunks.
var errWebP = errors.New("not a WebP header")

// webpDimensions returns the size of the picture in a WebP file (RFC 9649 §2). For a file of the extended form, this is the size of the
// canvas in the first chunk. The file must also contain a picture that fits into the canvas.
func webpDimensions(f io.ReadSeeker) (width, height int, err error) {
	const headerSize = 12 // "RIFF", the file's size (4 bytes), "WEBP"
	if _, err := f.Seek(headerSize, io.SeekStart); err != nil {
		return 0, 0, err
	}
	hasCanvas := false
	for range 10_000 { // far more chunks than a real file has before its picture
		var head [8]byte
		if _, err := io.ReadFull(f, head[:]); err != nil {
			return 0, 0, err
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		paddedSize := size + size%2 // chunks have an even length
		var w, h int
		switch string(head[:4]) {
		case "VP8X": // flags (1 byte), reserved (3); width-1 and height-1 of the canvas (3 each)
			var b [10]byte
			if _, err := io.ReadFull(f, b[:]); err != nil || hasCanvas || size != 10 {
				return 0, 0, errors.Join(errWebP, err)
			}
			width, height, hasCanvas = 1+uint24(b[4:]), 1+uint24(b[7:]), true
			continue
		case "VP8 ": // lossy: frame tag (3 bytes; bit 0 is 0 for a key frame), start code (3); width and height (14 bits each)
			var b [10]byte
			if _, err := io.ReadFull(f, b[:]); err != nil || size < 10 || b[0]&1 != 0 || b[3] != 0x9d || b[4] != 0x01 || b[5] != 0x2a {
				return 0, 0, errors.Join(errWebP, err)
			}
			w, h = int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff)
		case "VP8L": // lossless: signature (1 byte); width-1 and height-1 (14 bits each)
			var b [5]byte
			if _, err := io.ReadFull(f, b[:]); err != nil || size < 5 || b[0] != 0x2f {
				return 0, 0, errors.Join(errWebP, err)
			}
			bits := binary.LittleEndian.Uint32(b[1:])
			w, h = 1+int(bits&0x3fff), 1+int(bits>>14&0x3fff)
		case "ANMF": // a frame of an animation: position (6 bytes); width-1 and height-1 (3 each)
			var b [16]byte
			if _, err := io.ReadFull(f, b[:]); err != nil || size < 16 || !hasCanvas {
				return 0, 0, errors.Join(errWebP, err)
			}
			w, h = 1+uint24(b[6:]), 1+uint24(b[9:])
		default:
			if !hasCanvas {
				return 0, 0, errWebP
			}
			if _, err := f.Seek(paddedSize, io.SeekCurrent); err != nil {
				return 0, 0, err
			}
			continue
		}
		if hasCanvas && (w > width || h > height) {
			return 0, 0, errWebP
		}
		if hasCanvas {
			return width, height, nil
		}
		return w, h, nil
	}
	return 0, 0, errWebP
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }
