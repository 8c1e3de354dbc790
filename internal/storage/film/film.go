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

// ErrCut is the ErrUnreadable of an MP4 or MOV whose pictures or index are announced and not all there: its end is missing.
var ErrCut = fmt.Errorf("%w: its end is missing", ErrUnreadable)

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

// Probe reads an MP4, MOV or WebM. It reads a few kilobytes and the index, never the pictures. A file whose parts lie
// in more than maxGlances places is refused: where the file is far away, each place is a request.
func Probe(file io.ReadSeeker) (Info, error) {
	f := &glances{f: file}
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

const (
	glance     = 64 << 10 // bytes that are read at once
	maxGlances = 500
)

// glances reads a file here and there: what lies close together comes with one read.
type glances struct {
	f      io.ReadSeeker
	at     int64
	page   []byte
	pageAt int64
	read   int
}

func (g *glances) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		var err error
		g.at, err = g.f.Seek(offset, whence)
		return g.at, err
	}
	g.at = offset // readAt and layOut count from the start
	return g.at, nil
}

func (g *glances) Read(p []byte) (int, error) {
	if inside := g.at - g.pageAt; inside >= 0 && inside < int64(len(g.page)) {
		n := copy(p, g.page[inside:])
		g.at += int64(n)
		return n, nil
	}
	if g.read++; g.read > maxGlances {
		return 0, fmt.Errorf("%w: in more than %d places", ErrUnreadable, maxGlances)
	}
	if _, err := g.f.Seek(g.at, io.SeekStart); err != nil {
		return 0, err
	}
	if len(p) >= glance { // the index
		n, err := io.ReadFull(g.f, p)
		g.at += int64(n)
		return n, atEnd(n, err)
	}
	if g.page == nil {
		g.page = make([]byte, glance)
	}
	n, err := io.ReadFull(g.f, g.page[:glance])
	g.page, g.pageAt = g.page[:n], g.at
	if err = atEnd(n, err); err != nil || n == 0 {
		return 0, err
	}
	n = copy(p, g.page)
	g.at += int64(n)
	return n, nil
}

// atEnd takes a file that ends within a read for what it is.
func atEnd(n int, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) && n > 0 {
		return nil
	}
	return err
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
