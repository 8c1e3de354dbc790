package rendition

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// This file reads the size of HEIC and AVIF pictures, which the program's own engine cannot decode.

// readAnyHeader is ReadHeader for the engine with libvips: it also reads the header of HEIC and AVIF.
func readAnyHeader(r io.ReadSeeker) (Header, error) {
	h, err := ReadHeader(r)
	if !errors.Is(err, ErrNeedsVips) {
		return h, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return h, ErrUnreadable.Because(err)
	}
	if h.Width, h.Height, err = HEIFSize(r); err != nil {
		return h, ErrUnreadable.Because(err)
	}
	if h.Width == 0 || h.Height == 0 {
		return h, ErrUnreadable.Becausef("no size in the first megabyte")
	}
	const bytesPerPixel = 16 // estimate of the memory that a job takes for each pixel
	h.Memory = int64(bytesPerPixel*float64(h.Width)*float64(h.Height)) + fixedMemory
	return h, nil
}

// HEIFSize returns the size in pixels of a HEIC or AVIF, or 0 x 0 if the first megabyte does not contain it. The file has several boxes
// ispe (ISO/IEC 23008-12 §6.5.3): one with the size of the picture, and others with the sizes of its tiles. HEIFSize returns the largest
// width and the largest height, because a tile is not larger than the picture.
func HEIFSize(r io.Reader) (width, height int, err error) {
	head, err := io.ReadAll(io.LimitReader(r, 1<<20))
	const contentSize = 12 // version and flags, width, height
	for {
		_, after, found := bytes.Cut(head, []byte("ispe"))
		if !found || len(after) < contentSize {
			return width, height, err
		}
		// The mask keeps the sizes positive where int has 32 bits.
		width = max(width, int(binary.BigEndian.Uint32(after[4:])&(1<<31-1)))
		height = max(height, int(binary.BigEndian.Uint32(after[8:])&(1<<31-1)))
		head = after[contentSize:]
	}
}
