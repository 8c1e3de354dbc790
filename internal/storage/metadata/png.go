package metadata

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"

	"atelie/internal/storage/rendition/colour"
)

const pngSignature = "\x89PNG\r\n\x1a\n"

// keptChunks are the chunks of PNG (third edition) that a picture needs to be shown as it is meant.
var keptChunks = map[string]bool{
	"IHDR": true, "PLTE": true, "tRNS": true, "gAMA": true, "cHRM": true, "sRGB": true, "iCCP": true, "cICP": true,
	"mDCV": true, "cLLI": true, "sBIT": true, "pHYs": true, "bKGD": true, "IDAT": true, "IEND": true,
	"acTL": true, "fcTL": true, "fdAT": true,
}

const pngXMP = "XML:com.adobe.xmp"

// scanPNG reads the chunks, and plans the picture without those that do not show; the first piece is signature and
// IHDR.
func scanPNG(s *source, whole bool) (p parts, out plan, err error) {
	if _, err := s.start(8, "PNG", func(head []byte) bool { return string(head) == pngSignature }); err != nil {
		return p, nil, err
	}
	numbers := pngColour{}
	defer func() {
		if icc, ok := numbers.profile(p.icc); ok {
			p.icc = icc
		}
	}()
	for first := true; ; first = false {
		from := s.pos
		head, err := s.bytes(8)
		if err != nil {
			return p, out, err
		}
		size, kind := int64(binary.BigEndian.Uint32(head)), string(head[4:])
		if first != (kind == "IHDR") || size > 1<<31-1 {
			return p, out, damaged("its header is not where it should be")
		}
		keep := keptChunks[kind]
		switch kind {
		case "IHDR":
			if size != 13 {
				return p, out, damaged("its header has the wrong length")
			}
			from = 0
		case "iCCP":
			keep = false
			if p.icc == nil && size <= maxProfile {
				data, err := s.bytes(size)
				if err != nil {
					return p, out, err
				}
				if _, packed, ok := bytes.Cut(data, []byte{0}); ok && len(packed) > 1 && packed[0] == 0 {
					p.icc = inflate(packed[1:], maxProfile)
				}
				keep, size = p.icc != nil, 0
			}
		case "cICP", "sRGB", "gAMA", "cHRM":
			if size <= 32 {
				data, err := s.bytes(size)
				if err != nil {
					return p, out, err
				}
				numbers[kind] = data
				size = 0
			}
		case "eXIf", "tEXt", "zTXt", "iTXt":
			if size <= maxBlock {
				data, err := s.bytes(size)
				if err != nil {
					return p, out, err
				}
				p.pngBlock(kind, data)
				size = 0
			}
		}
		if err := s.skip(size + 4); err != nil {
			return p, out, err
		}
		if keep {
			if err := out.keep(from, s.pos); err != nil {
				return p, out, err
			}
		}
		if kind == "IHDR" {
			out.add([]byte{}) // what is written anew goes here
		}
		if kind == "IEND" {
			return p, out, nil
		}
	}
}

// pngColour are the chunks that tell the colour space in numbers.
type pngColour map[string][]byte

// profile gives the profile that a browser would use: cICP goes before iCCP, that before sRGB, and that before gamma
// and gamut, which count only together. It is false when the profile of iCCP stays.
func (c pngColour) profile(icc []byte) ([]byte, bool) {
	// H.273: primaries 12 are P3's and 1 sRGB's, transfer 13 is sRGB's, matrix 0 is RGB, 1 is full range.
	switch string(c["cICP"]) {
	case "\x0c\x0d\x00\x01":
		return colour.DisplayP3Profile, true
	case "\x01\x0d\x00\x01":
		return nil, true
	}
	if icc != nil || c["sRGB"] != nil || len(c["gAMA"]) != 4 || len(c["cHRM"]) != 32 {
		return nil, false
	}
	number := func(b []byte, i int) float64 { return float64(binary.BigEndian.Uint32(b[4*i:])) / 100_000 }
	xy := func(i int) [2]float64 { return [2]float64{number(c["cHRM"], i), number(c["cHRM"], i+1)} }
	return colour.GammaProfile(colour.Gamut{White: xy(0), Red: xy(2), Green: xy(4), Blue: xy(6)}, 1/number(c["gAMA"], 0)), true
}

func (p *parts) pngBlock(kind string, data []byte) {
	if kind == "eXIf" {
		p.exif = data
		return
	}
	name, value, ok := bytes.Cut(data, []byte{0})
	if !ok {
		return
	}
	switch kind {
	case "zTXt":
		if len(value) < 1 || value[0] != 0 {
			return
		}
		value = inflate(value[1:], maxBlock)
	case "iTXt":
		if len(value) < 2 {
			return
		}
		packed := value[0] == 1
		_, rest, _ := bytes.Cut(value[2:], []byte{0}) // the language
		_, value, _ = bytes.Cut(rest, []byte{0})      // the translated keyword
		if packed {
			value = inflate(value, maxBlock)
		}
	}
	switch string(name) {
	case "Author":
		p.author = string(value)
	case "Copyright":
		p.copyright = string(value)
	case pngXMP:
		p.xmp = value
	}
}

// inflate gives nil for what is no zlib stream or is longer than limit bytes.
func inflate(packed []byte, limit int64) []byte {
	r, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil
	}
	out, err := io.ReadAll(io.LimitReader(r, limit+1))
	if err != nil || int64(len(out)) > limit {
		return nil
	}
	return out
}

func cleanPNG(s *source) (plan, error) {
	p, out, err := scanPNG(s, true)
	if err != nil {
		return nil, err
	}
	info := p.info()
	anew := []byte{}
	chunk := func(kind string, parts ...string) {
		data := kind + strings.Join(parts, "")
		anew = binary.BigEndian.AppendUint32(anew, uint32(len(data)-4))
		anew = append(anew, data...)
		anew = binary.BigEndian.AppendUint32(anew, crc32.ChecksumIEEE([]byte(data)))
	}
	text := func(name, value string) {
		if value != "" {
			chunk("iTXt", name, "\x00\x00\x00\x00\x00", value)
		}
	}
	if block := exifBlock(info.Orientation, info.Creator, info.Rights); block != nil {
		chunk("eXIf", string(block))
	}
	text("Author", info.Creator)
	text("Copyright", info.Rights)
	text(pngXMP, string(xmpPacket(&info)))
	for i := range out {
		if out[i].data != nil {
			out[i].data = anew
			break
		}
	}
	return out, nil
}
