package rendition

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
)

// readAnyHeader is ReadHeader for the types that only libvips decodes, too.
func readAnyHeader(r io.ReadSeeker) (Header, error) {
	h, err := ReadHeader(r)
	if !errors.Is(err, ErrNeedsVips) {
		return h, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return h, ErrUnreadable.Because(err)
	}
	if h.Width, h.Height, err = heifSize(r); err != nil {
		return h, err
	}
	h.Memory = int64(16*float64(h.Width)*float64(h.Height)) + reserve
	return h, nil
}

// heifSize gives the largest size that any picture of a HEIF file claims: its tiles and the whole have a property each
// (ISO/IEC 23008-12 §6.5.3). They stand in the meta box, near the start.
func heifSize(r io.Reader) (width, height int, err error) {
	head, err := io.ReadAll(io.LimitReader(r, 1<<20))
	if err != nil {
		return 0, 0, ErrUnreadable.Because(err)
	}
	for {
		_, after, found := bytes.Cut(head, []byte("ispe"))
		if !found || len(after) < 12 {
			break
		}
		w, h := binary.BigEndian.Uint32(after[4:]), binary.BigEndian.Uint32(after[8:])
		if w > 1<<24 || h > 1<<24 {
			return 0, 0, ErrTooLarge.Becausef("%d x %d pixels", w, h)
		}
		if int64(w)*int64(h) > int64(width)*int64(height) {
			width, height = int(w), int(h)
		}
		head = after
	}
	if width == 0 || height == 0 {
		return 0, 0, ErrUnreadable.Becausef("no size in the first megabyte")
	}
	return width, height, nil
}
