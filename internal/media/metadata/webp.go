package metadata

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// This file reads the metadata of WebP files, and plans copies of them without private metadata. A plan lists the parts of the file and the
// new bytes that make up the copy.

// Flags of the VP8X chunk (RFC 9649 §2.7): the file contains a chunk with this metadata.
const (
	webpICC  = 1 << 5
	webpEXIF = 1 << 3
	webpXMP  = 1 << 2
)

// webpFile contains the parts of a WebP that a copy without metadata keeps.
type webpFile struct {
	extended []byte // data of the VP8X chunk, with which a file of the extended form begins; nil for the simple form
	body     plan   // the chunks of the picture or the animation
}

// scanWebP reads the metadata in the chunks (parts of a WebP file), and plans a copy with only the chunks of the picture or the animation.
func scanWebP(s *source) (b blocks, file webpFile) {
	const headerSize = 12 // "RIFF", the file's size (4 bytes), "WEBP"
	head := s.readStart(headerSize, "WebP", func(head []byte) bool {
		return string(head[:4]) == "RIFF" && string(head[8:]) == "WEBP"
	})
	end := 8 + int64(binary.LittleEndian.Uint32(head[4:]))
	if end > s.size {
		s.fail(errTruncated)
	}
	for s.err == nil && s.pos+8 <= end {
		from := s.pos
		kind, size := s.readChunkHead(end)
		after := min(s.pos+size+size&1, end) // size&1, because a chunk is padded to an even length
		if file.extended == nil && kind != "VP8X" {
			// A file of the simple form has one chunk, the picture. Bytes after it are ignored.
			if kind != "VP8 " && kind != "VP8L" {
				s.fail(damagedError("its first chunk is not a picture"))
			}
			file.body.keepPadded(from, s.pos+size)
			return b, file
		}
		switch kind {
		case "VP8X":
			if size != 10 || file.extended != nil {
				s.fail(damagedError("its VP8X chunk is wrong"))
			}
			file.extended = s.readBytes(size)
		case "ICCP":
			s.readBlock(&b.icc, size, maxProfile)
		case "EXIF":
			s.readBlock(&b.exif, size, maxBlock)
		case "XMP ":
			s.readBlock(&b.xmp, size, maxBlock)
		case "ANMF":
			file.body.keepFrame(s, size)
		case "VP8 ", "VP8L", "ALPH", "ANIM":
			file.body.keepPadded(from, s.pos+size)
		}
		s.skip(after - s.pos)
	}
	return b, file
}

// readChunkHead reads the name and the size of a chunk. It fails if the chunk reaches beyond end.
func (s *source) readChunkHead(end int64) (kind string, size int64) {
	head := s.readHead(8)
	size = int64(binary.LittleEndian.Uint32(head[4:]))
	if size > end-s.pos {
		s.fail(errTruncated)
	}
	return string(head[:4]), size
}

// readBlock reads a block of metadata into *to. It ignores a block that is longer than limit, and a second block of a kind.
func (s *source) readBlock(to *[]byte, size, limit int64) {
	if *to == nil && size <= limit {
		*to = s.readBytes(size)
	}
}

// keepPadded adds a chunk to the copy and pads it to an even length.
func (p *plan) keepPadded(from, to int64) {
	p.keep(from, to)
	if (to-from)&1 == 1 {
		p.add([]byte{0})
	}
}

// keepFrame adds a frame of an animation to the copy, without the unknown chunks in it.
func (p *plan) keepFrame(s *source, size int64) {
	end := s.pos + size
	if size < 16 {
		s.fail(damagedError("a frame is too short"))
	}
	head := s.readHead(16)
	inner := plan{}
	for s.err == nil && s.pos+8 <= end {
		from := s.pos
		kind, size := s.readChunkHead(end)
		if kind == "VP8 " || kind == "VP8L" || kind == "ALPH" {
			inner.keepPadded(from, s.pos+size)
		}
		s.skip(min(size+size&1, end-s.pos))
	}
	start := binary.LittleEndian.AppendUint32([]byte("ANMF"), uint32(16+inner.size()))
	p.add(append(start, head...))
	p.append(inner...)
}

// stripWebP plans a copy of a WebP without private metadata.
func stripWebP(s *source) plan {
	b, file := scanWebP(s)
	if len(file.body) == 0 {
		s.fail(damagedError("it has no picture"))
	}
	body := file.body
	if file.extended != nil {
		info := b.readInfo()
		extended := bytes.Clone(file.extended)
		extended[0] &^= webpICC | webpEXIF | webpXMP | 0xc1 // and the reserved flags
		extended[1], extended[2], extended[3] = 0, 0, 0
		before, after := plan{}, plan{}
		chunk := func(to *plan, flag byte, kind string, data []byte) {
			if data != nil {
				extended[0] |= flag
				head := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data)))
				to.add(slices.Concat(head, data, make([]byte, len(data)&1)))
			}
		}
		chunk(&before, webpICC, "ICCP", info.Profile)
		chunk(&after, webpEXIF, "EXIF", makeEXIF(info.Orientation, info.Creator, info.Rights))
		chunk(&after, webpXMP, "XMP ", makeXMP(&info))
		header := plan{}
		chunk(&header, 0, "VP8X", extended)
		body = slices.Concat(header, before, file.body, after)
	}
	head := append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+body.size())), "WEBP"...)
	return append(plan{{data: head}}, body...)
}
