package metadata

import (
	"bytes"
	"encoding/binary"
)

// The flags of WebP's VP8X chunk (RFC 9649 §2.7).
const (
	webpICC  = 1 << 5
	webpEXIF = 1 << 3
	webpXMP  = 1 << 2
)

// webpFile is what is kept of a WebP file: its VP8X chunk, when it has one, and its pictures.
type webpFile struct {
	extended []byte
	body     plan
}

func scanWebP(s *source) (p parts, file webpFile, err error) {
	head, err := s.start(12, "WebP", func(head []byte) bool {
		return string(head[:4]) == "RIFF" && string(head[8:]) == "WEBP"
	})
	if err != nil {
		return p, file, err
	}
	end := 8 + int64(binary.LittleEndian.Uint32(head[4:]))
	if end > s.size {
		return p, file, errTruncated
	}
	for s.pos+8 <= end {
		from := s.pos
		kind, size, err := chunkHead(s, end)
		if err != nil {
			return p, file, err
		}
		after := min(s.pos+size+size&1, end)
		if file.extended == nil && kind != "VP8X" {
			// The simple form is one chunk, the picture; nothing else counts in it.
			if kind != "VP8 " && kind != "VP8L" {
				return p, file, damaged("its first chunk is no picture")
			}
			return p, file, file.chunk(from, s.pos+size)
		}
		switch kind {
		case "VP8X":
			if size != 10 || file.extended != nil {
				return p, file, damaged("its VP8X chunk is wrong")
			}
			if file.extended, err = s.bytes(10); err != nil {
				return p, file, err
			}
		case "ICCP", "EXIF", "XMP ":
			limit := int64(maxBlock)
			if kind == "ICCP" {
				limit = maxProfile
			}
			if size > limit {
				break
			}
			data, err := s.bytes(size)
			if err != nil {
				return p, file, err
			}
			switch {
			case kind == "ICCP" && p.icc == nil:
				p.icc = data
			case kind == "EXIF" && p.exif == nil:
				p.exif = bytes.TrimPrefix(data, headEXIF)
			case kind == "XMP " && p.xmp == nil:
				p.xmp = data
			}
		case "ANMF":
			if err := file.frame(s, size); err != nil {
				return p, file, err
			}
		case "VP8 ", "VP8L", "ALPH", "ANIM":
			if err := file.chunk(from, s.pos+size); err != nil {
				return p, file, err
			}
		}
		if err := s.skip(after - s.pos); err != nil {
			return p, file, err
		}
	}
	return p, file, nil
}

func chunkHead(s *source, end int64) (kind string, size int64, err error) {
	head, err := s.bytes(8)
	if err != nil {
		return "", 0, err
	}
	size = int64(binary.LittleEndian.Uint32(head[4:]))
	if size > end-s.pos {
		return "", 0, errTruncated
	}
	return string(head[:4]), size, nil
}

// chunk keeps a range, evened out.
func (f *webpFile) chunk(from, to int64) error {
	if err := f.body.keep(from, to); err != nil {
		return err
	}
	if (to-from)&1 == 1 {
		f.body.add([]byte{0})
	}
	return nil
}

// frame keeps a frame of an animation without the unknown chunks in it.
func (f *webpFile) frame(s *source, size int64) error {
	end := s.pos + size
	if size < 16 {
		return damaged("a frame is too short")
	}
	head, err := s.bytes(16)
	if err != nil {
		return err
	}
	inner := webpFile{}
	for s.pos+8 <= end {
		from := s.pos
		kind, size, err := chunkHead(s, end)
		if err != nil {
			return err
		}
		to := s.pos + size
		if kind == "VP8 " || kind == "VP8L" || kind == "ALPH" {
			if err := inner.chunk(from, to); err != nil {
				return err
			}
		}
		if err := s.skip(min(to+size&1, end) - s.pos); err != nil {
			return err
		}
	}
	start := binary.LittleEndian.AppendUint32([]byte("ANMF"), uint32(16+inner.body.size()))
	if len(f.body)+len(inner.body) >= maxPieces {
		return damaged("it is in too many pieces")
	}
	f.body.add(append(start, head...))
	f.body = append(f.body, inner.body...)
	return nil
}

func cleanWebP(s *source) (plan, error) {
	p, file, err := scanWebP(s)
	if err != nil {
		return nil, err
	}
	if len(file.body) == 0 {
		return nil, damaged("it has no picture")
	}
	info := p.info()
	body := plan{}
	chunk := func(to *plan, kind string, data []byte) {
		head := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data)))
		head = append(head, data...)
		to.add(append(head, make([]byte, len(data)&1)...))
	}
	if file.extended == nil {
		body = file.body
	} else {
		extended := append([]byte(nil), file.extended...)
		extended[0] &^= webpICC | webpEXIF | webpXMP | 0xc1 // the reserved ones too
		extended[1], extended[2], extended[3] = 0, 0, 0
		exif, xmp := exifBlock(info.Orientation, info.Creator, info.Rights), xmpPacket(&info)
		if info.Profile != nil {
			extended[0] |= webpICC
		}
		if exif != nil {
			extended[0] |= webpEXIF
		}
		if xmp != nil {
			extended[0] |= webpXMP
		}
		chunk(&body, "VP8X", extended)
		if info.Profile != nil {
			chunk(&body, "ICCP", info.Profile)
		}
		body = append(body, file.body...)
		if exif != nil {
			chunk(&body, "EXIF", exif)
		}
		if xmp != nil {
			chunk(&body, "XMP ", xmp)
		}
	}
	out := plan{}
	out.add(append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(4+body.size())), "WEBP"...))
	return append(out, body...), nil
}
