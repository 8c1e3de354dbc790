package metadata

import (
	"bytes"
	"encoding/binary"
)

// The markers of JPEG (ITU T.81 table B.1) that matter here.
const (
	markerTEM  = 0x01
	markerSOI  = 0xd8
	markerEOI  = 0xd9
	markerSOS  = 0xda
	markerCOM  = 0xfe
	markerAPP0 = 0xe0
	markerAPP1 = 0xe1
	markerAPP2 = 0xe2
	markerAPPD = 0xed
	markerAPPE = 0xee
	markerAPPF = 0xef
)

var (
	headEXIF = []byte("Exif\x00\x00")
	headXMP  = []byte("http://ns.adobe.com/xap/1.0/\x00")
	headICC  = []byte("ICC_PROFILE\x00")
	headJFIF = []byte("JFIF\x00")
)

// profileChunk is what one APP2 segment holds of a profile; a segment's length has two bytes.
const profileChunk = 65535 - 2 - 12 - 2

// jpegFile is what is kept of a JPEG's application segments, and the rest of the file.
type jpegFile struct {
	jfif, adobe []byte
	body        plan
}

// scanJPEG reads the segments, up to the first scan or, for the whole, to the end of the picture.
func scanJPEG(s *source, whole bool) (p parts, file jpegFile, err error) {
	if _, err := s.start(2, "JPEG", func(head []byte) bool { return head[0] == 0xff && head[1] == markerSOI }); err != nil {
		return p, file, err
	}
	chunks := &profileChunks{}
	defer func() { p.icc = chunks.join() }()
	scanned := false
	// Bytes between segments are skipped, as decoders do.
	marker, err := s.toMarker()
	for ; err == nil; marker, err = s.toMarker() {
	again:
		switch marker {
		case markerEOI:
			return p, file, file.body.keep(s.pos-2, s.pos)
		case markerSOI, markerTEM: // stand alone, and say nothing
			continue
		}
		from := s.pos - 2
		length, err := s.bytes(2)
		if err != nil {
			return p, file, err
		}
		size := int64(binary.BigEndian.Uint16(length)) - 2
		if size < 0 {
			return p, file, damaged("a segment is shorter than its own length")
		}
		if marker >= markerAPP0 && marker <= markerAPPF {
			data, err := s.bytes(size)
			if err != nil {
				return p, file, err
			}
			if !scanned { // decoders look no further
				file.application(marker, data, &p, chunks)
			}
			continue
		}
		if err := s.skip(size); err != nil {
			return p, file, err
		}
		if marker == markerCOM {
			continue
		}
		if !whole {
			if marker == markerSOS {
				return p, file, nil
			}
			continue
		}
		if marker != markerSOS {
			if err := file.body.keep(from, s.pos); err != nil {
				return p, file, err
			}
			continue
		}
		scanned = true
		if marker, err = s.toMarker(); err != nil {
			return p, file, err
		}
		if err := file.body.keep(from, s.pos-2); err != nil {
			return p, file, err
		}
		goto again
	}
	return p, file, err
}

func (f *jpegFile) application(marker byte, data []byte, p *parts, chunks *profileChunks) {
	switch {
	case marker == markerAPP0 && bytes.HasPrefix(data, headJFIF) && len(data) >= 14 && f.jfif == nil:
		f.jfif = append(data[:12:12], 0, 0) // its last two bytes: a thumbnail of no size
	case marker == markerAPP1 && bytes.HasPrefix(data, headEXIF) && p.exif == nil:
		p.exif = data
	case marker == markerAPP1 && bytes.HasPrefix(data, headXMP) && p.xmp == nil:
		p.xmp = data[len(headXMP):]
	case marker == markerAPP2 && bytes.HasPrefix(data, headICC) && len(data) > 14:
		chunks.add(data[12], data[13], data[14:])
	case marker == markerAPPD && p.iptc == nil:
		p.iptc = photoshopIPTC(data)
	case marker == markerAPPE && bytes.HasPrefix(data, []byte("Adobe")) && len(data) >= 12:
		f.adobe = data[:12:12]
	}
}

// profileChunks are the parts of a profile by number (ICC.1:2022 annex B.4).
type profileChunks struct {
	parts  [256][]byte
	count  byte
	size   int
	broken bool // they contradict each other, or are too long
}

func (c *profileChunks) add(number, count byte, data []byte) {
	if c.count == 0 {
		c.count = count
	}
	c.size += len(data)
	if number == 0 || number > count || count != c.count || c.parts[number] != nil || c.size > maxProfile {
		c.broken = true
		return
	}
	c.parts[number] = data
}

// join gives the profile, nil when a part is missing.
func (c *profileChunks) join() []byte {
	if c.broken {
		return nil
	}
	var all []byte
	for _, part := range c.parts[1 : int(c.count)+1] {
		if part == nil {
			return nil
		}
		all = append(all, part...)
	}
	return all
}

func cleanJPEG(s *source) (plan, error) {
	p, file, err := scanJPEG(s, true)
	if err != nil {
		return nil, err
	}
	info := p.info()
	out := plan{}
	out.add([]byte{0xff, markerSOI})
	segment := func(marker byte, parts ...[]byte) {
		data := bytes.Join(parts, nil)
		head := []byte{0xff, marker, 0, 0}
		binary.BigEndian.PutUint16(head[2:], uint16(len(data)+2))
		out.add(append(head, data...))
	}
	if file.jfif != nil {
		segment(markerAPP0, file.jfif)
	}
	if block := exifBlock(info.Orientation, info.Creator, info.Rights); block != nil {
		segment(markerAPP1, headEXIF, block)
	}
	if packet := xmpPacket(&info); packet != nil {
		segment(markerAPP1, headXMP, packet)
	}
	count := (len(info.Profile) + profileChunk - 1) / profileChunk
	for i := range count {
		part := info.Profile[i*profileChunk : min((i+1)*profileChunk, len(info.Profile))]
		segment(markerAPP2, headICC, []byte{byte(i + 1), byte(count)}, part)
	}
	if file.adobe != nil {
		segment(markerAPPE, file.adobe)
	}
	return append(out, file.body...), nil
}
