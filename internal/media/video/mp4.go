package video

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"time"
)

// This file reads the structure of MP4 and MOV files. It also reads their index (the moov box), which says where the frames are in the
// file.

// box describes a box (ISO/IEC 14496-12 §4.2). An MP4 or MOV file consists of boxes, and a box can contain other boxes.
type box struct {
	kind         string // four letters
	at, size     int64  // at is the offset in the file or in the parent; size includes the header
	headerLength int64  // length of the header
}

// mp4 is the structure of a file as readBoxes returns it.
type mp4 struct {
	boxes      []box  // the boxes at the top level
	moov       box    // where the index is
	index      []byte // the bytes of the moov box, including its header
	fragmented bool   // the file contains fragments, each with an index of its own
}

// maxBoxes limits the number of boxes in a file and in a box. A real file has some dozens of boxes, and its index about a hundred per
// track.
const maxBoxes = 10_000

// readBoxes lists the boxes at the top level of a file of size bytes and reads the index. It stops when it has read the index and found a
// fragment (moof box), because the remaining boxes of a fragmented file are not needed.
func readBoxes(f io.ReadSeeker, size int64) (*mp4, error) {
	m := &mp4{}
	for at := int64(0); at < size; {
		var head [16]byte
		n := min(size-at, 16)
		if n < 8 {
			return nil, fmt.Errorf("%w: %d stray bytes", ErrUnreadable, n)
		}
		if err := readAt(f, head[:n], at); err != nil {
			return nil, err
		}
		b, err := parseBox(head[:n], at, size)
		if err != nil {
			return nil, err
		}
		if at == 0 && !firstBoxKinds[b.kind] {
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
		m.boxes = append(m.boxes, b)
		if len(m.boxes) > maxBoxes {
			return nil, fmt.Errorf("%w: more than %d boxes", ErrUnreadable, maxBoxes)
		}
		if m.index != nil && m.fragmented {
			return m, nil
		}
		at += b.size
	}
	if m.index == nil {
		return nil, fmt.Errorf("%w: no index", ErrUnreadable)
	}
	return m, nil
}

// firstBoxKinds are the boxes with which a file may begin. Old QuickTime files have no ftyp.
var firstBoxKinds = map[string]bool{"ftyp": true, "moov": true, "mdat": true, "free": true, "skip": true, "wide": true, "pnot": true}

// parseBox parses the header of a box at an offset. end is the offset of the end of the file or of the parent's content.
func parseBox(head []byte, at, end int64) (box, error) {
	b := box{kind: string(head[4:8]), at: at, size: int64(binary.BigEndian.Uint32(head)), headerLength: 8}
	switch {
	case b.size == 0: // the box extends to the end
		b.size = end - at
	case b.size == 1 && len(head) >= 16:
		large := binary.BigEndian.Uint64(head[8:])
		if large > math.MaxInt64 {
			return box{}, fmt.Errorf("%w: %q is larger than any file", ErrUnreadable, b.kind)
		}
		b.size, b.headerLength = int64(large), 16
	}
	if b.size > end-at && (b.kind == "mdat" || b.kind == "moov") {
		return box{}, fmt.Errorf("%w: %q of %d bytes, %d are left", ErrTruncated, b.kind, b.size, end-at)
	}
	if b.size < b.headerLength || b.size > end-at {
		return box{}, fmt.Errorf("%w: %q of %d bytes, %d are left", ErrUnreadable, b.kind, b.size, end-at)
	}
	return b, nil
}

// childBox is a box inside the index; body is its content.
type childBox struct {
	kind string
	body []byte
}

// listChildren lists the boxes in a container's body. rest is the bytes after the last box, which are too few for a box:
// QuickTime ends some containers with four zero bytes.
func listChildren(body []byte) (found []childBox, rest []byte, err error) {
	for end := int64(len(body)); end >= 8; end = int64(len(body)) {
		b, err := parseBox(body[:min(16, end)], 0, end)
		if err != nil {
			return nil, nil, err
		}
		if found = append(found, childBox{b.kind, body[b.headerLength:b.size]}); len(found) > maxBoxes {
			return nil, nil, fmt.Errorf("%w: more than %d boxes in one", ErrUnreadable, maxBoxes)
		}
		body = body[b.size:]
	}
	return found, body, nil
}

// findChild returns the body of the first box at a path of kinds, or nil if there is none.
func findChild(body []byte, path ...string) ([]byte, error) {
	for _, kind := range path {
		parts, _, err := listChildren(body)
		if err != nil {
			return nil, err
		}
		i := slices.IndexFunc(parts, func(p childBox) bool { return p.kind == kind })
		if i < 0 {
			return nil, nil
		}
		body = parts[i].body
	}
	return body, nil
}

func (m *mp4) readInfo() (Info, error) {
	parts, _, err := listChildren(m.index[m.moov.headerLength:])
	if err != nil {
		return Info{}, err
	}
	info := Info{IndexFirst: m.fragmented || m.hasIndexFirst()}
	for _, p := range parts {
		switch p.kind {
		case "cmov":
			return Info{}, errCompressed
		case "mvhd":
			info.Duration = max(info.Duration, movieDuration(p.body))
		case "mvex":
			if err := readFragmentsDuration(p.body, parts, &info); err != nil {
				return Info{}, err
			}
		case "trak":
			if err := readTrak(p.body, &info); err != nil {
				return Info{}, err
			}
		}
	}
	if info.Codec == "" {
		return Info{}, fmt.Errorf("%w: no pictures in it", ErrUnreadable)
	}
	return info, nil
}

// hasIndexFirst reports whether the index precedes the pictures.
func (m *mp4) hasIndexFirst() bool {
	return !slices.ContainsFunc(m.boxes, func(b box) bool { return b.kind == "mdat" && b.at < m.moov.at })
}

// movieDuration returns the duration in an mvhd box (§8.2.2), 0 if it is unknown.
func movieDuration(b []byte) time.Duration {
	switch {
	case len(b) >= 20 && b[0] == 0:
		return toDuration(uint64(binary.BigEndian.Uint32(b[16:])), binary.BigEndian.Uint32(b[12:]))
	case len(b) >= 32 && b[0] == 1:
		return toDuration(binary.BigEndian.Uint64(b[24:]), binary.BigEndian.Uint32(b[20:]))
	}
	return 0
}

// readFragmentsDuration reads the duration of a fragmented video, with all fragments, from an mvex box (mehd, §8.8.2). moov is the
// boxes of the index, which contain the time scale.
func readFragmentsDuration(mvex []byte, moov []childBox, info *Info) error {
	mehd, err := findChild(mvex, "mehd")
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
			info.Duration = max(info.Duration, toDuration(length, scale))
		}
	}
	return nil
}

// maxDuration is longer than any video of 2 GB. Longer durations are treated as unknown, because files write the largest
// number for that.
const maxDuration = 100 * time.Hour

// toDuration converts a duration in units of 1/scale second; 0 if it is unknown.
func toDuration(units uint64, scale uint32) time.Duration {
	if scale == 0 || units > uint64(scale)*uint64(maxDuration/time.Second) {
		return 0
	}
	return time.Duration(float64(units) / float64(scale) * float64(time.Second)).Round(time.Millisecond)
}

// readTrak reads a trak box into info. Only the first video track is used.
func readTrak(trak []byte, info *Info) error {
	handler, err := findChild(trak, "mdia", "hdlr")
	if err != nil || len(handler) < 12 {
		return err
	}
	kind := string(handler[8:12])
	info.Audio = info.Audio || kind == "soun"
	if kind != "vide" || info.Codec != "" {
		return nil
	}
	entries, err := findChild(trak, "mdia", "minf", "stbl", "stsd")
	if err != nil || len(entries) < 8 {
		return err
	}
	samples, _, err := listChildren(entries[8:])
	if err != nil {
		return err
	}
	if len(samples) == 0 || len(samples[0].body) < 28 {
		return nil
	}
	entry := samples[0]
	info.Codec = entry.kind
	info.Width, info.Height = int(binary.BigEndian.Uint16(entry.body[24:])), int(binary.BigEndian.Uint16(entry.body[26:]))
	head, err := findChild(trak, "tkhd")
	if err != nil {
		return err
	}
	readShownSize(head, info)
	return nil
}

// readShownSize reads the size on screen, in square pixels, and the rotation from a tkhd box (§8.3.2).
func readShownSize(tkhd []byte, info *Info) {
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
	// The matrix of a rotation by 90 degrees is zero on the diagonal.
	if binary.BigEndian.Uint32(tkhd[matrix:]) == 0 && binary.BigEndian.Uint32(tkhd[matrix+4:]) != 0 {
		info.Width, info.Height = info.Height, info.Width
	}
}
