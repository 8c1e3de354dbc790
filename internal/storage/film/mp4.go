package film

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"time"
)

// box is a part of an MP4 or MOV file (ISO/IEC 14496-12 §4.2): at is where it begins in the file, or in its parent's
// bytes, head the length of its header. size counts the header too.
type box struct {
	kind     string
	at, size int64
	head     int64
}

// mp4 is a file's boxes and its index.
type mp4 struct {
	boxes      []box
	moov       box
	index      []byte // the moov box with its header
	fragmented bool
}

// A real file has a few dozen boxes, of which the index has a hundred for each track.
const maxBoxes = 10_000

// layOut finds the boxes of a file and reads its index. After that the first fragment ends the walk: from there on
// nothing can be behind what needs it.
func layOut(f io.ReadSeeker, size int64) (*mp4, error) {
	m := &mp4{}
	for at := int64(0); at < size; {
		b, err := boxAt(f, at, size)
		if err != nil {
			return nil, err
		}
		if at == 0 && !firstBox[b.kind] {
			return nil, fmt.Errorf("%w: begins with %q", ErrUnreadable, b.kind)
		}
		switch b.kind {
		case "moov":
			if m.index != nil {
				return nil, fmt.Errorf("%w: two indexes", ErrUnreadable)
			}
			if b.size > maxIndex {
				return nil, fmt.Errorf("%w: an index of %d bytes", ErrUnreadable, b.size)
			}
			m.moov, m.index = b, make([]byte, b.size)
			if err := readAt(f, m.index, at); err != nil {
				return nil, err
			}
		case "moof":
			m.fragmented = true
		}
		if m.boxes = append(m.boxes, b); len(m.boxes) > maxBoxes {
			return nil, fmt.Errorf("%w: more than %d boxes", ErrUnreadable, maxBoxes)
		}
		if at += b.size; m.index != nil && m.fragmented {
			return m, nil
		}
	}
	if m.index == nil {
		return nil, fmt.Errorf("%w: no index", ErrUnreadable)
	}
	return m, nil
}

// QuickTime files of old begin without ftyp.
var firstBox = map[string]bool{"ftyp": true, "moov": true, "mdat": true, "free": true, "skip": true, "wide": true, "pnot": true}

func boxAt(f io.ReadSeeker, at, end int64) (box, error) {
	var head [16]byte
	n := min(end-at, 16)
	if n < 8 {
		return box{}, fmt.Errorf("%w: %d bytes too many", ErrUnreadable, n)
	}
	if err := readAt(f, head[:n], at); err != nil {
		return box{}, err
	}
	return parseBox(head[:n], at, end)
}

func parseBox(head []byte, at, end int64) (box, error) {
	b := box{kind: string(head[4:8]), at: at, size: int64(binary.BigEndian.Uint32(head)), head: 8}
	switch {
	case b.size == 0: // up to the end
		b.size = end - at
	case b.size == 1 && len(head) >= 16:
		large := binary.BigEndian.Uint64(head[8:])
		if large > math.MaxInt64 {
			return box{}, fmt.Errorf("%w: %q is larger than any file", ErrUnreadable, b.kind)
		}
		b.size, b.head = int64(large), 16
	}
	if b.size > end-at && (b.kind == "mdat" || b.kind == "moov") {
		return box{}, fmt.Errorf("%w: %q of %d bytes, %d are left", ErrCut, b.kind, b.size, end-at)
	}
	if b.size < b.head || b.size > end-at {
		return box{}, fmt.Errorf("%w: %q of %d bytes, %d are left", ErrUnreadable, b.kind, b.size, end-at)
	}
	return b, nil
}

// part is a box inside of the index.
type part struct {
	kind string
	body []byte
}

// children are the boxes inside of a container's body. rest is what is too short for one: QuickTime ends some
// containers with four zero bytes.
func children(body []byte) (found []part, rest []byte, err error) {
	for end := int64(len(body)); end >= 8; end = int64(len(body)) {
		b, err := parseBox(body[:min(16, end)], 0, end)
		if err != nil {
			return nil, nil, err
		}
		if found = append(found, part{b.kind, body[b.head:b.size]}); len(found) > maxBoxes {
			return nil, nil, fmt.Errorf("%w: more than %d boxes in one", ErrUnreadable, maxBoxes)
		}
		body = body[b.size:]
	}
	return found, body, nil
}

// child gives the body of the first box at the end of a path, nil when there is none.
func child(body []byte, path ...string) ([]byte, error) {
	for _, kind := range path {
		parts, _, err := children(body)
		if err != nil {
			return nil, err
		}
		body = nil
		for _, p := range parts {
			if p.kind == kind {
				body = p.body
				break
			}
		}
		if body == nil {
			return nil, nil
		}
	}
	return body, nil
}

func (m *mp4) info() (Info, error) {
	parts, _, err := children(m.index[m.moov.head:])
	if err != nil {
		return Info{}, err
	}
	info := Info{Indexed: m.fragmented || m.inFront()}
	for _, p := range parts {
		switch p.kind {
		case "cmov":
			return Info{}, fmt.Errorf("%w: a compressed index", ErrUnreadable)
		case "mvhd":
			info.Duration = max(info.Duration, movieTime(p.body))
		case "mvex":
			if err := extended(p.body, parts, &info); err != nil {
				return Info{}, err
			}
		case "trak":
			if err := track(p.body, &info); err != nil {
				return Info{}, err
			}
		}
	}
	if info.Codec == "" {
		return Info{}, fmt.Errorf("%w: no pictures in it", ErrUnreadable)
	}
	return info, nil
}

// inFront tells whether the index stands before the pictures.
func (m *mp4) inFront() bool {
	for _, b := range m.boxes {
		if b.kind == "mdat" && b.at < m.moov.at {
			return false
		}
	}
	return true
}

// movieTime reads mvhd (§8.2.2).
func movieTime(b []byte) time.Duration {
	switch {
	case len(b) >= 20 && b[0] == 0:
		return lasting(uint64(binary.BigEndian.Uint32(b[16:])), binary.BigEndian.Uint32(b[12:]))
	case len(b) >= 32 && b[0] == 1:
		return lasting(binary.BigEndian.Uint64(b[24:]), binary.BigEndian.Uint32(b[20:]))
	}
	return 0
}

// extended reads mehd (§8.8.2): how long a fragmented film is altogether.
func extended(mvex []byte, moov []part, info *Info) error {
	mehd, err := child(mvex, "mehd")
	if err != nil || len(mehd) < 8 {
		return err
	}
	length := uint64(binary.BigEndian.Uint32(mehd[4:]))
	if mehd[0] == 1 && len(mehd) >= 12 {
		length = binary.BigEndian.Uint64(mehd[4:])
	}
	for _, p := range moov {
		if p.kind == "mvhd" && len(p.body) >= 24 {
			scale := binary.BigEndian.Uint32(p.body[12:])
			if p.body[0] == 1 {
				scale = binary.BigEndian.Uint32(p.body[20:])
			}
			info.Duration = max(info.Duration, lasting(length, scale))
		}
	}
	return nil
}

// maxDuration is more than any film of 2 GB lasts; files say "unknown" with the largest number.
const maxDuration = 100 * time.Hour

func lasting(units uint64, scale uint32) time.Duration {
	if scale == 0 || units > uint64(scale)*uint64(maxDuration/time.Second) {
		return 0
	}
	return time.Duration(float64(units) / float64(scale) * float64(time.Second)).Round(time.Millisecond)
}

// track reads one trak box: the first one with pictures counts.
func track(trak []byte, info *Info) error {
	handler, err := child(trak, "mdia", "hdlr")
	if err != nil || len(handler) < 12 {
		return err
	}
	switch string(handler[8:12]) {
	case "soun":
		info.Audio = true
		return nil
	case "vide":
	default:
		return nil
	}
	if info.Codec != "" {
		return nil
	}
	entries, err := child(trak, "mdia", "minf", "stbl", "stsd")
	if err != nil || len(entries) < 8 {
		return err
	}
	samples, _, err := children(entries[8:])
	if err != nil {
		return err
	}
	if len(samples) == 0 || len(samples[0].body) < 28 {
		return nil
	}
	entry := samples[0]
	info.Codec = entry.kind
	info.Width, info.Height = int(binary.BigEndian.Uint16(entry.body[24:])), int(binary.BigEndian.Uint16(entry.body[26:]))
	head, err := child(trak, "tkhd")
	if err != nil {
		return err
	}
	shown(head, info)
	return nil
}

// shown reads tkhd (§8.3.2): the size on screen, which counts pixels that are not square, and the turn.
func shown(tkhd []byte, info *Info) {
	matrix := 40
	if len(tkhd) > 0 && tkhd[0] == 1 {
		matrix = 52
	}
	if len(tkhd) < matrix+44 {
		return
	}
	size := tkhd[matrix+36:]
	if w, h := int(binary.BigEndian.Uint32(size)>>16), int(binary.BigEndian.Uint32(size[4:])>>16); w > 0 && h > 0 {
		info.Width, info.Height = w, h
	}
	// A quarter turn has its factors off the diagonal.
	if binary.BigEndian.Uint32(tkhd[matrix:]) == 0 && binary.BigEndian.Uint32(tkhd[matrix+4:]) != 0 {
		info.Width, info.Height = info.Height, info.Width
	}
}
