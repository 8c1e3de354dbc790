package metadata

import (
	"bytes"
	"encoding/binary"
	"math"
)

// readHEIF reads HEIC and AVIF (ISO/IEC 23008-12): EXIF and XMP are items of the file's meta box. Their orientation and
// profile are properties that decoders apply by themselves. What cannot be read is as if it were not there; only the
// file itself can fail.
func readHEIF(s *source) (Info, error) {
	var p parts
	for at := int64(0); at >= 0; {
		kind, body, next, ok := heifBox(s, at, s.size)
		if !ok {
			break
		}
		if kind == "meta" {
			if content := heifBytes(s, body, next-body); len(content) > 4 {
				p = heifParts(s, content[4:])
			}
			break
		}
		at = next
	}
	if s.failed != nil {
		return Info{Orientation: 1}, s.failed
	}
	info := p.info()
	info.Orientation, info.Profile = 1, nil
	return info, nil
}

// heifBox reads the head of a box: where its body begins and where the next one does.
func heifBox(s *source, at, end int64) (kind string, body, next int64, ok bool) {
	var head [16]byte
	if end-at < 8 {
		return "", 0, 0, false
	}
	n := min(end-at, 16)
	if _, err := s.ReadAt(head[:n], at); err != nil {
		return "", 0, 0, false
	}
	size, length := int64(binary.BigEndian.Uint32(head[:])), int64(8)
	switch {
	case size == 0:
		size = end - at
	case size == 1 && n == 16 && binary.BigEndian.Uint64(head[8:]) <= math.MaxInt64:
		size, length = int64(binary.BigEndian.Uint64(head[8:])), 16 // compared above
	}
	if size < length || size > end-at {
		return "", 0, 0, false
	}
	return string(head[4:8]), at + length, at + size, true
}

// heifBytes reads a part of the file that may not be larger than a block.
func heifBytes(s *source, at, size int64) []byte {
	if size <= 0 || size > maxBlock || at < 0 || at > s.size-size {
		return nil
	}
	b := make([]byte, size)
	if _, err := s.ReadAt(b, at); err != nil {
		return nil
	}
	return b
}

// Items that tell of the picture; a file has one of each.
const (
	heifEXIF = "Exif"
	heifXMP  = "mime"
)

func heifParts(s *source, meta []byte) (p parts) {
	items := map[string]uint32{}
	var places, inside []byte
	for len(meta) >= 8 {
		size := binary.BigEndian.Uint32(meta)
		if size < 8 || int64(size) > int64(len(meta)) {
			break
		}
		body := meta[8:size]
		switch string(meta[4:8]) {
		case "iinf":
			heifItems(body, items)
		case "iloc":
			places = body
		case "idat":
			inside = body
		}
		meta = meta[size:]
	}
	found := heifPlaces(places, items)
	read := func(kind string) (data []byte) {
		for _, e := range found[kind] {
			piece := []byte(nil)
			switch at, size := e.at, e.size; {
			case !e.inside:
				piece = heifBytes(s, at, size)
			case at >= 0 && size > 0 && at <= int64(len(inside)) && size <= int64(len(inside))-at:
				piece = inside[at : at+size]
			}
			if piece == nil || len(data)+len(piece) > maxBlock {
				return nil
			}
			data = append(data, piece...)
		}
		return data
	}
	// A number before the block says how far behind itself the block begins.
	if block := read(heifEXIF); len(block) >= 4 {
		if skip := int64(binary.BigEndian.Uint32(block)); skip <= int64(len(block)-4) {
			p.exif = bytes.TrimPrefix(block[4+skip:], headEXIF)
		}
	}
	p.xmp = read(heifXMP)
	return p
}

// heifItems notes the ids of the items in iinf (ISO/IEC 14496-12 §8.11.6).
func heifItems(body []byte, items map[string]uint32) {
	head := 6
	if len(body) > 0 && body[0] > 0 {
		head = 8
	}
	if len(body) < head {
		return
	}
	for body = body[head:]; len(body) >= 20; {
		size := binary.BigEndian.Uint32(body)
		if size < 20 || int64(size) > int64(len(body)) || string(body[4:8]) != "infe" {
			return
		}
		entry := body[8:size]
		var id uint32
		switch entry[0] {
		case 2:
			id, entry = uint32(binary.BigEndian.Uint16(entry[4:])), entry[8:]
		case 3:
			if len(entry) < 14 {
				return
			}
			id, entry = binary.BigEndian.Uint32(entry[4:]), entry[10:]
		default:
			body = body[size:]
			continue
		}
		kind := string(entry[:4])
		xmp := kind == heifXMP && bytes.Contains(entry[4:], []byte("application/rdf+xml"))
		if _, known := items[kind]; !known && (kind == heifEXIF || xmp) {
			items[kind] = id
		}
		body = body[size:]
	}
}

// heifExtent is a piece of an item: in the file, or inside of the meta box.
type heifExtent struct {
	at, size int64
	inside   bool
}

// maxExtents is far more than the few that files have, one for each tile of a large picture.
const maxExtents = 100_000

// heifPlaces finds where the items lie, by iloc (ISO/IEC 14496-12 §8.11.3).
func heifPlaces(body []byte, items map[string]uint32) map[string][]heifExtent {
	found := map[string][]heifExtent{}
	r := numbers{b: body}
	version := r.next(1)
	r.next(3)
	sizes := r.next(2)
	offset, length, base, index := int(sizes>>12&15), int(sizes>>8&15), int(sizes>>4&15), int(sizes&15)
	wide := 2
	if version >= 2 {
		wide = 4
	}
	if version == 0 {
		index = 0
	}
	total := 0
	for count := r.next(wide); count > 0 && !r.over; count-- {
		id, method := r.next(wide), uint64(0)
		if version > 0 {
			method = r.next(2) & 15
		}
		r.next(2)
		from := r.next(base)
		var extents []heifExtent
		for n := r.next(2); n > 0 && !r.over; n-- {
			r.next(index)
			at, size := from+r.next(offset), r.next(length)
			if at > math.MaxInt64 || size > math.MaxInt64 || total == maxExtents {
				return nil
			}
			total++
			extents = append(extents, heifExtent{at: int64(at), size: int64(size), inside: method == 1}) // compared above
		}
		for kind, wanted := range items {
			if uint64(wanted) == id && method <= 1 && !r.over {
				found[kind] = extents
			}
		}
	}
	return found
}

// numbers reads big-endian numbers of 0 to 8 bytes; over says that there were too few.
type numbers struct {
	b    []byte
	over bool
}

func (n *numbers) next(size int) (v uint64) {
	if size > 8 || size > len(n.b) {
		n.over = true
		return 0
	}
	for _, c := range n.b[:size] {
		v = v<<8 | uint64(c)
	}
	n.b = n.b[size:]
	return v
}
