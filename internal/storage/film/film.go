// Package film reads what a film file says of itself and puts an MP4's index in front, so that it starts to play before
// all of it has arrived. It decodes and encodes nothing. It knows neither database nor HTTP.
package film

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxIndex is how large the index of an MP4 (its moov box) may be, in bytes; it is held in memory.
const maxIndex = 64 << 20

// ErrUnreadable says that a file is not the film that it claims to be, or breaks off.
var ErrUnreadable = errors.New("not a readable film")

// Info is what a file says of itself. Width and Height are pixels as shown, after the turn that phones write down.
// Duration is 0 when the file does not tell, as live recordings do. Codec is the video's own name: the sample entry's
// four letters in MP4 and MOV (avc1, hvc1, apch), the CodecID without "V_" in WebM (VP8, VP9, AV1).
type Info struct {
	Width, Height int
	Duration      time.Duration
	Codec         string
	Audio         bool
	// Indexed says that playing may begin with the first bytes: the index stands in front, or in every fragment.
	Indexed bool
}

// browserCodecs play in every browser of today. HEVC and ProRes do in some, or in none.
var browserCodecs = map[string]bool{"avc1": true, "avc3": true, "av01": true, "vp08": true, "vp09": true, "VP8": true, "VP9": true, "AV1": true}

// Plays tells whether every browser can be expected to play the film.
func (i Info) Plays() bool { return browserCodecs[i.Codec] }

// Probe reads an MP4, MOV or WebM. It reads a few kilobytes and the index, never the pictures.
func Probe(f io.ReadSeeker) (Info, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return Info{}, err
	}
	head := make([]byte, min(size, 12))
	if err := readAt(f, head, 0); err != nil {
		return Info{}, err
	}
	if len(head) >= 4 && binary.BigEndian.Uint32(head) == ebmlHeader {
		return probeWebM(f, size)
	}
	m, err := layOut(f, size)
	if err != nil {
		return Info{}, err
	}
	return m.info()
}

// readAt fills b from a place in the file. A file that ends before is no film.
func readAt(f io.ReadSeeker, b []byte, at int64) error {
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	_, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: ends at %d", ErrUnreadable, at)
	}
	return err
}
