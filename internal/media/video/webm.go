package video

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
	"strings"
	"time"
)

// This file reads the headers of WebM files. Such a file consists of nested EBML elements, each with an id, a size and a content.

// The ids of the EBML elements (RFC 9559) that this file reads.
const (
	idEBML          = 0x1A45DFA3
	idDocType       = 0x4282
	idSegment       = 0x18538067
	idSegmentInfo   = 0x1549A966
	idTimestampUnit = 0x2AD7B1
	idDuration      = 0x4489
	idTracks        = 0x1654AE6B
	idTrackEntry    = 0xAE
	idTrackType     = 0x83
	idCodec         = 0x86
	idVideo         = 0xE0
	idPixelWidth    = 0xB0
	idPixelHeight   = 0xBA
	idCluster       = 0x1F43B675
)

const (
	maxElements     = 10_000  // maximum number of elements before the first frames; real files have a dozen
	maxElementBytes = 1 << 20 // maximum size in bytes of an element that is read into memory
)

// element is an EBML element (RFC 8794 §4-6).
type element struct {
	id       uint64
	at, size int64 // offset and size of the content; size is -1 if it is unknown, as in live recordings
}

// readElement reads the header of the element at an offset. end is the offset of the end of the parent.
func readElement(f io.ReadSeeker, at, end int64) (element, error) {
	head := make([]byte, min(12, end-at)) // an id has at most 4 bytes, a size at most 8
	if err := readAt(f, head, at); err != nil {
		return element{}, err
	}
	id, idLength := readNumber(head, 4, false) // false: ids include the bit that marks their length
	if idLength == 0 {
		return element{}, fmt.Errorf("%w: no element at %d", ErrUnreadable, at)
	}
	size, sizeLength := readNumber(head[idLength:], 8, true) // true: sizes do not include that bit
	if sizeLength == 0 {
		return element{}, fmt.Errorf("%w: an element without a size at %d", ErrUnreadable, at)
	}
	e := element{id: id, at: at + int64(idLength+sizeLength), size: -1}
	if size != 1<<(7*sizeLength)-1 { // if all bits are set, the size is unknown
		if size > uint64(end-e.at) {
			return element{}, fmt.Errorf("%w: cut off in the element at %d", ErrUnreadable, at)
		}
		e.size = int64(size) // at most the file's size
	}
	return e, nil
}

// readNumber reads an integer of variable size, of at most longest bytes. If clearMarker is true, the bit that marks the length is
// removed from the value. length is 0 if b does not begin with such an integer.
func readNumber(b []byte, longest int, clearMarker bool) (value uint64, length int) {
	if len(b) == 0 {
		return 0, 0
	}
	length = bits.LeadingZeros8(b[0]) + 1
	if length > longest || length > len(b) {
		return 0, 0
	}
	value = uint64(b[0])
	if clearMarker {
		value &= 1<<(8-length) - 1
	}
	for _, c := range b[1:length] {
		value = value<<8 | uint64(c)
	}
	return value, length
}

func probeWebM(f io.ReadSeeker, size int64) (Info, error) {
	info := Info{IndexFirst: true} // players need no index to begin playing a WebM
	for at, end, n := int64(0), size, 0; at < end && n < maxElements; n++ {
		e, err := readElement(f, at, end)
		if err != nil {
			return Info{}, err
		}
		switch e.id {
		case idSegment: // continue with the elements inside the segment
			at = e.at
			if e.size >= 0 {
				end = e.at + e.size
			}
			continue
		case idCluster: // pictures begin, so all headers were read
			at = end
			continue
		case idEBML, idSegmentInfo, idTracks:
			if e.size < 0 || e.size > maxElementBytes {
				return Info{}, fmt.Errorf("%w: a header of %d bytes", ErrUnreadable, e.size)
			}
			content := make([]byte, e.size)
			if err := readAt(f, content, e.at); err != nil {
				return Info{}, err
			}
			if err := readHeader(e.id, content, &info); err != nil {
				return Info{}, err
			}
		}
		if e.size < 0 {
			return Info{}, fmt.Errorf("%w: an element of unknown size at %d", ErrUnreadable, at)
		}
		at = e.at + e.size
	}
	if info.Codec == "" {
		return Info{}, fmt.Errorf("%w: no pictures in it", ErrUnreadable)
	}
	return info, nil
}

// visitElements calls visit for each element in content.
func visitElements(content []byte, visit func(id uint64, body []byte) error) error {
	f := bytes.NewReader(content)
	for at, end := int64(0), int64(len(content)); at < end; {
		e, err := readElement(f, at, end)
		if err != nil {
			return err
		}
		if e.size < 0 {
			return fmt.Errorf("%w: an element of unknown size", ErrUnreadable)
		}
		if err := visit(e.id, content[e.at:e.at+e.size]); err != nil {
			return err
		}
		at = e.at + e.size
	}
	return nil
}

func readHeader(id uint64, content []byte, info *Info) error {
	unit, length := uint64(time.Millisecond), 0.0
	err := visitElements(content, func(child uint64, body []byte) error {
		switch {
		case id == idEBML && child == idDocType:
			if kind := strings.TrimRight(string(body), "\x00"); kind != "webm" {
				return fmt.Errorf("%w: %.20q", ErrUnreadable, kind)
			}
		case id == idSegmentInfo && child == idTimestampUnit:
			unit = parseUnsigned(body)
		case id == idSegmentInfo && child == idDuration:
			length = parseFloat(body)
		case id == idTracks && child == idTrackEntry:
			return readTrackEntry(body, info)
		}
		return nil
	})
	if nanoseconds := length * float64(unit); nanoseconds > 0 && nanoseconds < float64(maxDuration) {
		info.Duration = time.Duration(nanoseconds).Round(time.Millisecond)
	}
	return err
}

func readTrackEntry(entry []byte, info *Info) error {
	var kind uint64
	var track Info
	err := visitElements(entry, func(id uint64, body []byte) error {
		switch id {
		case idTrackType:
			kind = parseUnsigned(body)
		case idCodec:
			track.Codec = strings.TrimRight(string(body), "\x00")
		case idVideo:
			return visitElements(body, func(id uint64, body []byte) error {
				switch id {
				case idPixelWidth:
					track.Width = int(min(parseUnsigned(body), 1<<16))
				case idPixelHeight:
					track.Height = int(min(parseUnsigned(body), 1<<16))
				}
				return nil
			})
		}
		return nil
	})
	switch {
	case err != nil:
		return err
	case kind == 2:
		info.Audio = true
	case kind == 1 && info.Codec == "" && strings.HasPrefix(track.Codec, "V_"):
		info.Codec, info.Width, info.Height = track.Codec[2:], track.Width, track.Height
	}
	return nil
}

func parseUnsigned(b []byte) (v uint64) {
	for _, c := range b[:min(len(b), 8)] {
		v = v<<8 | uint64(c)
	}
	return v
}

func parseFloat(b []byte) float64 {
	switch len(b) {
	case 4:
		return float64(math.Float32frombits(binary.BigEndian.Uint32(b)))
	case 8:
		return math.Float64frombits(binary.BigEndian.Uint64(b))
	}
	return 0
}
