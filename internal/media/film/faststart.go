package film

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
)

// Faststart returns a reader of the MP4 or MOV f with the index moved to the front, before the pictures, so that browsers
// can play the film while they receive it. Everything else is unchanged, except the offsets in the index. The result is nil
// if the index precedes the pictures already, and for formats without an index. The reader seeks in f, and holds only the
// index in memory, at most maxIndex bytes.
func Faststart(f io.ReadSeeker) (io.Reader, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	var head [4]byte
	if err := readAt(f, head[:], 0); err != nil {
		return nil, err
	}
	if binary.BigEndian.Uint32(head[:]) == ebmlHeader {
		return nil, nil
	}
	m, err := readBoxes(&pagedReader{f: f}, size)
	if err != nil {
		return nil, err
	}
	if m.fragmented || m.inFront() {
		return nil, nil
	}
	insert := int64(0)
	if first := m.boxes[0]; first.kind == "ftyp" {
		insert = first.size
	}
	index, err := m.movedIndex(insert)
	if err != nil {
		return nil, err
	}
	end := m.moov.at + m.moov.size
	return io.MultiReader(
		&section{f: f, at: 0, left: insert},
		bytes.NewReader(index),
		&section{f: f, at: insert, left: m.moov.at - insert},
		&section{f: f, at: end, left: size - end},
	), nil
}

// movedIndex returns the index with adjusted offsets of the pictures, for its new place in the file at the offset insert. The
// offsets depend on the length of the index, and this length grows if an offset needs 64 bits instead of 32.
func (m *mp4) movedIndex(insert int64) ([]byte, error) {
	to := func(length int64) func(uint64) (uint64, error) {
		return func(offset uint64) (uint64, error) {
			switch at := int64(offset); { // the first case rejects offsets that overflow int64
			case offset > math.MaxInt64-maxIndex*2:
				return 0, fmt.Errorf("%w: pictures at %d", ErrUnreadable, offset)
			case at < insert:
				return offset, nil
			case at < m.moov.at:
				return offset + uint64(length), nil
			default:
				return offset + uint64(length) - uint64(m.moov.size), nil
			}
		}
	}
	body := m.index[m.moov.headerLength:]
	err := inPlace(body, "moov", to(m.moov.size), false)
	if err == nil {
		err = inPlace(body, "moov", to(m.moov.size), true)
		if m.moov.headerLength == 8 { // the size may have been 0, which means "up to the end of the file"
			binary.BigEndian.PutUint32(m.index, uint32(m.moov.size)) // at most 64 MB
		}
		return m.index, err
	}
	if !errors.Is(err, errNarrow) {
		return nil, err
	}
	length := m.moov.size
	for range 3 { // the length changes in the first round only
		index, err := rewrite(body, "moov", to(length))
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

// inPlace changes every offset in body, without changing the length of body. If write is false, it only checks whether that is
// possible; the error is errNarrow if an offset needs more than 32 bits.
func inPlace(body []byte, kind string, change func(uint64) (uint64, error), write bool) error {
	switch {
	case kind == "cmov":
		return errCompressed
	case within[kind] != nil:
		parts, _, err := children(body)
		if err != nil {
			return err
		}
		for _, p := range parts {
			if !slices.Contains(within[kind], p.kind) {
				continue
			}
			if err := inPlace(p.body, p.kind, change, write); err != nil {
				return err
			}
		}
	case kind == "stco", kind == "co64":
		count, width, err := table(body, kind)
		if err != nil {
			return err
		}
		for entry := body[8:]; count > 0; count, entry = count-1, entry[width:] {
			offset, err := change(entryOf(entry, width))
			switch {
			case err != nil:
				return err
			case width == 4 && offset > math.MaxUint32:
				return errNarrow
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

// table checks a table of chunk offsets (§8.7.5) and returns their number and their width in bytes.
func table(body []byte, kind string) (count, width int, err error) {
	width = 4
	if kind == "co64" {
		width = 8
	}
	if len(body) < 8 || uint64(binary.BigEndian.Uint32(body[4:]))*uint64(width) > uint64(len(body)-8) {
		return 0, 0, fmt.Errorf("%w: a table of offsets breaks off", ErrUnreadable)
	}
	return int(binary.BigEndian.Uint32(body[4:])), width, nil
}

func entryOf(b []byte, width int) uint64 {
	if width == 8 {
		return binary.BigEndian.Uint64(b)
	}
	return uint64(binary.BigEndian.Uint32(b))
}

var (
	errNarrow     = errors.New("an offset needs more than 32 bits")
	errCompressed = fmt.Errorf("%w: a compressed index", ErrUnreadable)
)

// within lists, by parent, the boxes that lead to the tables of offsets (§8.1.1). Boxes with these names in other places are
// ignored, which limits the depth of the recursion.
var within = map[string][]string{"moov": {"trak", "cmov"}, "trak": {"mdia"}, "mdia": {"minf"}, "minf": {"stbl"}, "stbl": {"stco", "co64"}}

// rewrite returns a box of a kind, with every offset in it changed and stored in 64 bits.
func rewrite(body []byte, kind string, change func(uint64) (uint64, error)) ([]byte, error) {
	out := make([]byte, 8, len(body)+8)
	switch {
	case kind == "cmov":
		return nil, errCompressed
	case within[kind] != nil:
		parts, rest, err := children(body)
		if err != nil {
			return nil, err
		}
		for _, p := range parts {
			if !slices.Contains(within[kind], p.kind) {
				out = append(binary.BigEndian.AppendUint32(out, uint32(len(p.body)+8)), p.kind...) // as below
				out = append(out, p.body...)
				continue
			}
			changed, err := rewrite(p.body, p.kind, change)
			if err != nil {
				return nil, err
			}
			out = append(out, changed...)
		}
		out = append(out, rest...)
	default: // stco or co64
		count, width, err := table(body, kind)
		if err != nil {
			return nil, err
		}
		kind = "co64"
		out = append(out, body[:8]...)
		for i := range count {
			offset, err := change(entryOf(body[8+i*width:], width))
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

// section reads the left bytes of f from offset at. It seeks before each read, because other sections move the position of f.
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
