package storage

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/tiff"
)

// Limits of a picture (READING §3.27). The side keeps a thin strip from costing what its area does not tell.
const (
	maxImageBytes = 50 << 20
	maxPixels     = 120_000_000
	maxSide       = 30_000
)

// dimensions reads width and height from a picture's header alone: a decoder that begins to decode can be made to
// take gigabytes by a file of a few hundred kilobytes.
type dimensions func(f io.ReadSeeker) (width, height int, err error)

func jpegDimensions(f io.ReadSeeker) (int, int, error) { return side(jpeg.DecodeConfig(f)) }
func pngDimensions(f io.ReadSeeker) (int, int, error)  { return side(png.DecodeConfig(f)) }
func gifDimensions(f io.ReadSeeker) (int, int, error)  { return side(gif.DecodeConfig(f)) }

func tiffDimensions(f io.ReadSeeker) (int, int, error) { return side(tiff.DecodeConfig(onlyReader{f})) }

// onlyReader hides what else a file can, so that it is read from its start.
type onlyReader struct{ io.Reader }

func side(c image.Config, err error) (int, int, error) { return c.Width, c.Height, err }

var errWebP = errors.New("not a WebP header")

// heifDimensions takes the largest size that any picture of the file claims: its parts and the whole have a property
// each (ISO/IEC 23008-12 §6.5.3), near the start.
func heifDimensions(f io.ReadSeeker) (width, height int, err error) {
	head, err := io.ReadAll(io.LimitReader(f, 1<<20))
	if err != nil {
		return 0, 0, err
	}
	for {
		at := bytes.Index(head, []byte("ispe"))
		if at < 0 || len(head) < at+16 {
			return width, height, nil
		}
		w, h := int(binary.BigEndian.Uint32(head[at+8:])&(1<<31-1)), int(binary.BigEndian.Uint32(head[at+12:])&(1<<31-1))
		if w > width || h > height {
			width, height = max(w, width), max(h, height)
		}
		head = head[at+16:]
	}
}

// webpDimensions reads the container's chunks (RFC 9649 §2). An extended file tells its canvas first and must hold a
// picture that fits it.
func webpDimensions(f io.ReadSeeker) (width, height int, err error) {
	if _, err := f.Seek(12, io.SeekStart); err != nil {
		return 0, 0, err
	}
	canvas := false
	for range 10_000 { // far more chunks than a real file has before its picture
		var head [8]byte
		if _, err := io.ReadFull(f, head[:]); err != nil {
			return 0, 0, err
		}
		size := int64(binary.LittleEndian.Uint32(head[4:]))
		rest := size + size%2
		var w, h int
		switch string(head[:4]) {
		case "VP8X":
			var b [10]byte
			if _, err := io.ReadFull(f, b[:]); err != nil || canvas || size != 10 {
				return 0, 0, errors.Join(errWebP, err)
			}
			width, height, canvas = 1+uint24(b[4:]), 1+uint24(b[7:]), true
			continue
		case "VP8 ":
			var b [10]byte
			if _, err := io.ReadFull(f, b[:]); err != nil || size < 10 || b[0]&1 != 0 || b[3] != 0x9d || b[4] != 0x01 || b[5] != 0x2a {
				return 0, 0, errors.Join(errWebP, err)
			}
			w, h = int(binary.LittleEndian.Uint16(b[6:])&0x3fff), int(binary.LittleEndian.Uint16(b[8:])&0x3fff)
		case "VP8L":
			var b [5]byte
			if _, err := io.ReadFull(f, b[:]); err != nil || size < 5 || b[0] != 0x2f {
				return 0, 0, errors.Join(errWebP, err)
			}
			bits := binary.LittleEndian.Uint32(b[1:])
			w, h = 1+int(bits&0x3fff), 1+int(bits>>14&0x3fff)
		case "ANMF":
			var b [16]byte
			if _, err := io.ReadFull(f, b[:]); err != nil || size < 16 || !canvas {
				return 0, 0, errors.Join(errWebP, err)
			}
			w, h = 1+uint24(b[6:]), 1+uint24(b[9:])
		default:
			if !canvas {
				return 0, 0, errWebP
			}
			if _, err := f.Seek(rest, io.SeekCurrent); err != nil {
				return 0, 0, err
			}
			continue
		}
		if canvas && (w > width || h > height) {
			return 0, 0, errWebP
		}
		if canvas {
			return width, height, nil
		}
		return w, h, nil
	}
	return 0, 0, errWebP
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// sizeOf gives a picture's width and height as stored, and refuses one whose header cannot be read or that is too large
// to work with.
func sizeOf(f io.ReadSeeker, t *fileType) (width, height int, err error) {
	w, h, err := t.dimensions(f)
	switch {
	case err != nil:
		return 0, 0, errBroken.Because(err)
	case w <= 0 || h <= 0:
		return 0, 0, errBroken.Becausef("%d x %d pixels", w, h)
	case w > maxSide || h > maxSide || w*h > maxPixels:
		return 0, 0, errTooManyPixels(w, h)
	}
	return w, h, nil
}
