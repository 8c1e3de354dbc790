package metadata

import (
	"bytes"
	"encoding/binary"
	"math"
)

// This file reads the metadata of HEIC and AVIF files. Both have the file format HEIF (ISO/IEC 23008-12): a list of boxes, which
// are parts with a type and a length. The box meta lists EXIF and XMP as items.

// readHEIF reads the metadata of a HEIC or AVIF file. Metadata that cannot be read is left out. In the result, Orientation is always 1 and
// Profile nil, because decoders of HEIF apply the file's orientation and profile themselves.
func readHEIF(s *source) Info {
	var b blocks
	for kind, body, next, ok := readHEIFBox(s, 0); ok; kind, body, next, ok = readHEIFBox(s, next) {
		if kind == "meta" {
			if content := readBytesAt(s, body, next-body, maxBlock); len(content) > 4 {
				b = readHEIFBlocks(s, content[4:]) // without version and flags (4 bytes)
			}
			break
		}
	}
	info := b.readInfo()
	info.Orientation, info.Profile = 1, nil
	return info
}

// readHEIFBox reads the header of the box at an offset. body is the offset of the box's content, and next the offset of the next box. ok is
// false if there is no valid box.
func readHEIFBox(s *source, at int64) (kind string, body, next int64, ok bool) {
	var head [16]byte
	rest := s.size - at
	if rest < 8 {
		return "", 0, 0, false
	}
	n := min(rest, 16)
	if _, err := s.ReadAt(head[:n], at); err != nil {
		return "", 0, 0, false
	}
	size, headerSize := int64(binary.BigEndian.Uint32(head[:])), int64(8)
	switch {
	case size == 0:
		size = rest
	case size == 1 && n == 16 && binary.BigEndian.Uint64(head[8:]) <= math.MaxInt64:
		size, headerSize = int64(binary.BigEndian.Uint64(head[8:])), 16 // at most MaxInt64, as the condition of the case says
	}
	if size < headerSize || size > rest {
		return "", 0, 0, false
	}
	return string(head[4:8]), at + headerSize, at + size, true
}

// The types of the items that contain metadata. If a file has several items of a type, the first one is read.
const (
	heifEXIF = "Exif"
	heifXMP  = "mime" // an item of this type is XMP only if its content type is application/rdf+xml
)

// readHEIFBlocks returns the EXIF and XMP blocks to which the content of a meta box refers.
func readHEIFBlocks(s *source, meta []byte) (b blocks) {
	items := map[string]uint32{}
	var iloc, idat []byte // contents of the boxes with these names
	visitHEIFBoxes(meta, func(kind string, body []byte) {
		switch kind {
		case "iinf":
			readHEIFItems(body, items)
		case "iloc":
			iloc = body
		case "idat":
			idat = body
		}
	})
	found := readHEIFLocations(iloc, items)
	read := func(kind string) (data []byte) {
		for _, e := range found[kind] {
			piece := []byte(nil)
			switch at, size := e.at, e.size; {
			case !e.inIDAT:
				piece = readBytesAt(s, at, size, maxBlock)
			case at >= 0 && size > 0 && at <= int64(len(idat)) && size <= int64(len(idat))-at:
				piece = idat[at : at+size]
			}
			if piece == nil || len(data)+len(piece) > maxBlock {
				return nil
			}
			data = append(data, piece...)
		}
		return data
	}
	// The item begins with a number of 4 bytes: how many bytes are between the number and the EXIF block.
	if block := read(heifEXIF); len(block) >= 4 {
		if skip := int64(binary.BigEndian.Uint32(block)); skip <= int64(len(block)-4) {
			b.exif = bytes.TrimPrefix(block[4+skip:], headEXIF)
		}
	}
	b.xmp = read(heifXMP)
	return b
}

// visitHEIFBoxes calls visit for each box in a box's content, up to the first invalid one.
func visitHEIFBoxes(content []byte, visit func(kind string, body []byte)) {
	for len(content) >= 8 {
		size := int64(binary.BigEndian.Uint32(content))
		if size < 8 || size > int64(len(content)) {
			return
		}
		visit(string(content[4:8]), content[8:size])
		content = content[size:]
	}
}

// readHEIFItems adds the ids of the items with metadata in an iinf box (ISO/IEC 14496-12 §8.11.6) to items, by type.
func readHEIFItems(iinf []byte, items map[string]uint32) {
	head := 6
	if len(iinf) > 0 && iinf[0] > 0 {
		head = 8
	}
	visitHEIFBoxes(iinf[min(head, len(iinf)):], func(kind string, entry []byte) {
		if kind != "infe" || len(entry) < 12 {
			return
		}
		var id uint32
		switch {
		case entry[0] == 2:
			id, entry = uint32(binary.BigEndian.Uint16(entry[4:])), entry[8:]
		case entry[0] == 3 && len(entry) >= 14:
			id, entry = binary.BigEndian.Uint32(entry[4:]), entry[10:]
		default:
			return
		}
		item := string(entry[:4])
		xmp := item == heifXMP && bytes.Contains(entry[4:], []byte("application/rdf+xml"))
		if _, known := items[item]; !known && (item == heifEXIF || xmp) {
			items[item] = id
		}
	})
}

// heifExtent is a piece of an item.
type heifExtent struct {
	at, size int64
	inIDAT   bool // at is an offset in the box idat inside the meta box, not in the file
}

// maxExtents limits the extents of a file. Real files have one for each tile of a large picture, which is far less.
const maxExtents = 100_000

// readHEIFLocations returns where the items lie, by type, from an iloc box (ISO/IEC 14496-12 §8.11.3).
func readHEIFLocations(body []byte, items map[string]uint32) map[string][]heifExtent {
	found := map[string][]heifExtent{}
	r := numberReader{b: body}
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
			extents = append(extents, heifExtent{at: int64(at), size: int64(size), inIDAT: method == 1}) // compared above
		}
		for kind, wanted := range items {
			if uint64(wanted) == id && method <= 1 && !r.over {
				found[kind] = extents
			}
		}
	}
	return found
}

// numberReader reads big-endian numbers of 0 to 8 bytes.
type numberReader struct {
	b    []byte
	over bool // b was too short
}

func (n *numberReader) next(size int) (v uint64) {
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
