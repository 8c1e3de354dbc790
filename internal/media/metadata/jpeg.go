package metadata

import (
	"bytes"
	"encoding/binary"
	"slices"
)

// This file reads the metadata of JPEG files, and plans copies of them without private metadata. A plan lists the parts of the file and the
// new bytes that make up the copy.

// The markers of JPEG (ITU T.81 table B.1) that this file uses. A JPEG is a list of segments. Each segment begins with 0xff and a marker.
const (
	markerTEM  = 0x01 // for temporary use by encoders
	markerSOI  = 0xd8 // start of the picture
	markerEOI  = 0xd9 // end of the picture
	markerSOS  = 0xda // start of a scan
	markerCOM  = 0xfe // a comment
	markerAPP0 = 0xe0 // application segments: APP0 to APPF
	markerAPP1 = 0xe1
	markerAPP2 = 0xe2
	markerAPPD = 0xed
	markerAPPE = 0xee
	markerAPPF = 0xef
)

// The names with which the contents of application segments begin.
var (
	headEXIF = []byte("Exif\x00\x00")
	headXMP  = []byte("http://ns.adobe.com/xap/1.0/\x00")
	headICC  = []byte("ICC_PROFILE\x00")
	headJFIF = []byte("JFIF\x00")
)

// maxProfileChunk is how many bytes of a profile fit into an APP2 segment. A segment has at most 65535 bytes. It also contains its length
// (2 bytes), headICC (12), the number of the chunk (1) and the number of all chunks (1).
const maxProfileChunk = 65535 - 2 - 12 - 2

// jpegFile contains the parts of a JPEG that a copy without metadata keeps.
type jpegFile struct {
	jfif, adobe []byte // contents of the application segments of JFIF and Adobe; nil if missing
	body        plan   // tables, frame and scans
}

// scanJPEG reads the segments up to the first scan (the compressed pixels) or, if whole is true, to the end of the picture. It skips bytes
// between segments, as decoders do.
func scanJPEG(s *source, whole bool) (b blocks, file jpegFile) {
	s.readStart(2, "JPEG", func(head []byte) bool { return head[0] == 0xff && head[1] == markerSOI })
	chunks := &profileChunks{}
	defer func() { b.icc = chunks.join() }()
	afterFirstScan := false
	scanStart := int64(-1) // offset of the current scan; -1 outside of a scan
	for marker := s.nextMarker(); s.err == nil; marker = s.nextMarker() {
		from := s.pos - 2 // offset of the marker
		if scanStart >= 0 {
			file.body.keep(scanStart, from)
			scanStart = -1
		}
		switch marker {
		case markerEOI:
			file.body.keep(from, s.pos)
			return b, file
		case markerSOI, markerTEM: // these markers have no content
			continue
		}
		size := int64(binary.BigEndian.Uint16(s.readHead(2))) - 2
		switch {
		case size < 0:
			s.fail(damagedError("a segment is shorter than its own length"))
		case marker >= markerAPP0 && marker <= markerAPPF:
			if data := s.readBytes(size); !afterFirstScan { // decoders ignore application segments after the first scan
				file.readApplicationSegment(marker, data, &b, chunks)
			}
			continue
		}
		switch s.skip(size); {
		case marker == markerSOS && !whole:
			return b, file
		case marker == markerSOS:
			afterFirstScan, scanStart = true, from
		case whole && marker != markerCOM:
			file.body.keep(from, s.pos)
		}
	}
	return b, file
}

// readApplicationSegment stores the data of an application segment in f, b or chunks, or ignores it. Except for profiles and
// Adobe's segment, the first segment of a kind counts.
func (f *jpegFile) readApplicationSegment(marker byte, data []byte, b *blocks, chunks *profileChunks) {
	switch {
	case marker == markerAPP0 && bytes.HasPrefix(data, headJFIF) && len(data) >= 14 && f.jfif == nil:
		f.jfif = append(data[:12:12], 0, 0) // the last two bytes: no thumbnail
	case marker == markerAPP1 && bytes.HasPrefix(data, headEXIF) && b.exif == nil:
		b.exif = data
	case marker == markerAPP1 && bytes.HasPrefix(data, headXMP) && b.xmp == nil:
		b.xmp = data[len(headXMP):]
	case marker == markerAPP2 && bytes.HasPrefix(data, headICC) && len(data) > 14:
		chunks.add(data[12], data[13], data[14:])
	case marker == markerAPPD && b.iptc == nil:
		b.iptc = findIPTC(data)
	case marker == markerAPPE && bytes.HasPrefix(data, []byte("Adobe")) && len(data) >= 12:
		f.adobe = data[:12:12]
	}
}

// profileChunks collects the chunks of a profile that is split over several APP2 segments, by number (ICC.1:2022 annex B.4).
type profileChunks struct {
	chunks [256][]byte
	count  byte
	size   int
	broken bool // the chunks contradict each other, or are too long
}

func (c *profileChunks) add(number, count byte, data []byte) {
	if c.count == 0 {
		c.count = count
	}
	c.size += len(data)
	if number == 0 || number > count || count != c.count || c.chunks[number] != nil || c.size > maxProfile {
		c.broken = true
		return
	}
	c.chunks[number] = data
}

// join returns the whole profile; nil if a chunk is missing.
func (c *profileChunks) join() []byte {
	if c.broken {
		return nil
	}
	var all []byte
	for _, chunk := range c.chunks[1 : int(c.count)+1] {
		if chunk == nil {
			return nil
		}
		all = append(all, chunk...)
	}
	return all
}

// stripJPEG plans a copy of a JPEG without private metadata.
func stripJPEG(s *source) plan {
	b, file := scanJPEG(s, true) // true: to the end of the picture
	info := b.readInfo()
	out := plan{}
	out.add([]byte{0xff, markerSOI})
	segment := func(marker byte, head, data []byte) {
		if data != nil {
			start := binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(head)+len(data)+2))
			out.add(slices.Concat(start, head, data))
		}
	}
	segment(markerAPP0, nil, file.jfif)
	segment(markerAPP1, headEXIF, makeEXIF(info.Orientation, info.Creator, info.Rights))
	segment(markerAPP1, headXMP, makeXMP(&info))
	chunks := slices.Collect(slices.Chunk(info.Profile, maxProfileChunk))
	for i, part := range chunks {
		segment(markerAPP2, append(bytes.Clone(headICC), byte(i+1), byte(len(chunks))), part)
	}
	segment(markerAPPE, nil, file.adobe)
	return append(out, file.body...)
}
