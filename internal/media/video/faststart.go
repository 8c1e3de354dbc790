package video

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Faststart returns a reader of a changed copy of f, an MP4 or MOV file. In the copy, the index (moov box) precedes the frames (mdat
// boxes), so that browsers can play the video while they receive it. Faststart adjusts the offsets in the index and changes nothing else.
// The reader seeks in f, and holds only the index in memory.
//
// The result is nil if f does not need this: if the index precedes the frames already, for fragmented files (each fragment has an index of
// its own), and for WebM, which browsers can play from the beginning without an index.
func Faststart(f io.ReadSeeker) (io.Reader, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	var head [4]byte
	if err := readAt(f, head[:], 0); err != nil {
		return nil, err
	}
	if binary.BigEndian.Uint32(head[:]) == idEBML {
		return nil, nil
	}
	m, err := readBoxes(&pagedReader{file: f}, size)
	if err != nil {
		return nil, err
	}
	if m.fragmented || m.hasIndexFirst() {
		return nil, nil
	}
	insertAt := int64(0) // the index is inserted at the start of the file or, if there is an ftyp box, directly after that box
	if first := m.boxes[0]; first.kind == "ftyp" {
		insertAt = first.size
	}
	index, err := m.buildMovedIndex(insertAt)
	if err != nil {
		return nil, err
	}
	indexEnd := m.moov.at + m.moov.size
	return io.MultiReader(
		&section{f: f, at: 0, left: insertAt},
		bytes.NewReader(index),
		&section{f: f, at: insertAt, left: m.moov.at - insertAt},
		&section{f: f, at: indexEnd, left: size - indexEnd},
	), nil
}

// buildMovedIndex returns the index as it will be at the offset insertAt of the file, with new offsets of the frames. These offsets depend
// on the length of the index, and this length grows if an offset needs 64 bits instead of 32.
func (m *mp4) buildMovedIndex(insertAt int64) ([]byte, error) {
	// shiftFor returns the function that converts an old offset to the new one, for a new index of this length.
	shiftFor := func(length int64) func(uint64) (uint64, error) {
		return func(offset uint64) (uint64, error) {
			if offset > math.MaxInt64-maxIndex*2 {
				return 0, fmt.Errorf("%w: frames at %d", ErrUnreadable, offset)
			}
			switch at := int64(offset); {
			case at < insertAt:
				return offset, nil
			case at < m.moov.at:
				return offset + uint64(length), nil
			default:
				return offset + uint64(length) - uint64(m.moov.size), nil
			}
		}
	}
	body := m.index[m.moov.headerLength:]
	err := adjustOffsets(body, "moov", shiftFor(m.moov.size), false) // false: only check whether all new offsets fit
	if err == nil {
		err = adjustOffsets(body, "moov", shiftFor(m.moov.size), true /* write the new offsets */)
		if m.moov.headerLength == 8 { // the size may have been 0, which means "up to the end of the file"
			binary.BigEndian.PutUint32(m.index, uint32(m.moov.size)) // at most 64 MB
		}
		return m.index, err
	}
	if !errors.Is(err, errNeeds64Bits) {
		return nil, err
	}
	length := m.moov.size
	// The first round finds the length of the index with 64-bit offsets. The second round computes the offsets for that length.
	for range 3 {
		index, err := widenOffsets(body, "moov", shiftFor(length))
		if err != nil {
			return nil, err
		}
		if int64(len(index)) == length {
			return index, nil
		}
		length = int64(len(index))
	}
	return nil, fmt.Errorf("%w: its index has no stable length", ErrUnreadable)
}

// adjustOffsets changes every offset in body, the content of a box of that kind, without changing the length of body. If write
// is false, it only checks whether that is possible. The error is errNeeds64Bits if a 32-bit field cannot hold its new offset.
func adjustOffsets(body []byte, kind string, change func(uint64) (uint64, error), write bool) error {
	switch {
	case kind == "cmov":
		return errCompressed
	case offsetContainers[kind] != nil:
		parts, _, err := listChildren(body)
		if err != nil {
			return err
		}
		for _, p := range parts {
			if !slices.Contains(offsetContainers[kind], p.kind) {
				continue
			}
			if err := adjustOffsets(p.body, p.kind, change, write); err != nil {
				return err
			}
		}
	case kind == "stco", kind == "co64":
		count, width, err := checkOffsetTable(body, kind)
		if err != nil {
			return err
		}
		for entry := body[8:]; count > 0; count, entry = count-1, entry[width:] {
			offset, err := change(readOffset(entry, width))
			switch {
			case err != nil:
				return err
			case width == 4 && offset > math.MaxUint32:
				return errNeeds64Bits
			case !write:
			case width == 4:
				binary.BigEndian.PutUint32(entry, uint32(offset))
			default:
				binary.BigEndian.PutUint64(entry, offset)
			}
		}
	}
	return nil
}

// checkOffsetTable checks a table of chunk offsets (§8.7.5). It returns the number of offsets and the width of one in bytes.
func checkOffsetTable(body []byte, kind string) (count, width int, err error) {
	width = 4
	if kind == "co64" {
		width = 8
	}
	if len(body) < 8 || uint64(binary.BigEndian.Uint32(body[4:]))*uint64(width) > uint64(len(body)-8) {
		return 0, 0, fmt.Errorf("%w: a table of offsets breaks off", ErrUnreadable)
	}
	return int(binary.BigEndian.Uint32(body[4:])), width, nil
}

// readOffset reads an offset of 4 or 8 bytes (width).
func readOffset(b []byte, width int) uint64 {
	if width == 8 {
		return binary.BigEndian.Uint64(b)
	}
	return uint64(binary.BigEndian.Uint32(b))
}

var (
	errNeeds64Bits = errors.New("an offset needs more than 32 bits")
	errCompressed  = fmt.Errorf("%w: a compressed index", ErrUnreadable)
)

// offsetContainers maps each box on the way to the tables of offsets to the boxes inside it that lead there (§8.1.1). Boxes with
// these names in other places are ignored, which limits the depth of the recursion.
var offsetContainers = map[string][]string{"moov": {"trak", "cmov"}, "trak": {"mdia"}, "mdia": {"minf"}, "minf": {"stbl"}, "stbl": {"stco", "co64"}}

// widenOffsets returns the box of that kind and content with every offset in it changed and stored in 64 bits.
func widenOffsets(body []byte, kind string, change func(uint64) (uint64, error)) ([]byte, error) {
	out := make([]byte, 8, len(body)+8)
	switch {
	case kind == "cmov":
		return nil, errCompressed
	case offsetContainers[kind] != nil:
		parts, rest, err := listChildren(body)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if !slices.Contains(offsetContainers[kind], p.kind) {
				out = append(binary.BigEndian.AppendUint32(out, uint32(len(p.body)+8)), p.kind...) // the index has at most 64 MB
				out = append(out, p.body...)
				continue
			}
			changed, err := widenOffsets(p.body, p.kind, change)
			if err != nil {
				return nil, err
			}
			out = append(out, changed...)
		}
		out = append(out, rest...)
	default: // stco or co64
		count, width, err := checkOffsetTable(body, kind)
		if err != nil {
			return nil, err
		}
		kind = "co64"
		out = append(out, body[:8]...)
		for i := range count {
			offset, err := change(readOffset(body[8+i*width:], width))
			if err != nil {
				return nil, err
			}
			out = binary.BigEndian.AppendUint64(out, offset)
		}
	}
	binary.BigEndian.PutUint32(out, uint32(len(out))) // the index has at most 64 MB, with wider offsets twice that
	copy(out[4:], kind)
	return out, nil
}

// section is a reader of a part of f: the next left bytes, from offset at. It seeks before each read, because other sections move
// the position of f.
type section struct {
	f        io.ReadSeeker
	at, left int64
}

func (s *section) Read(p []byte) (int, error) {
	if s.left <= 0 {
		return 0, io.EOF
	}
	if _, err := s.f.Seek(s.at, io.SeekStart); err != nil {
		return 0, err
	}
	n, err := s.f.Read(p[:min(int64(len(p)), s.left)])
	s.at += int64(n)
	s.left -= int64(n)
	if errors.Is(err, io.EOF) && s.left > 0 {
		err = fmt.Errorf("%w: ends at %d", ErrUnreadable, s.at)
	}
	return n, err
}
