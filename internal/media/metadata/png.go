package metadata

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"io"
	"strings"

	"atelie/internal/media/rendition/colour"
)

// This file reads the metadata of PNG files, and plans copies of them without private metadata. A plan lists the parts of the file and the
// new bytes that make up the copy.

// pngSignature is how each PNG file begins.
const pngSignature = "\x89PNG\r\n\x1a\n"

// keptChunks are the chunks that decide how a picture looks, by the third edition of PNG. A chunk is a part of a PNG file. A copy without
// metadata keeps only these chunks.
var keptChunks = map[string]bool{
	"IHDR": true, "PLTE": true, "tRNS": true, "gAMA": true, "cHRM": true, "sRGB": true, "iCCP": true, "cICP": true,
	"mDCV": true, "cLLI": true, "sBIT": true, "pHYs": true, "bKGD": true, "IDAT": true, "IEND": true,
	"acTL": true, "fcTL": true, "fdAT": true,
}

// pngXMP is the keyword of an iTXt chunk with XMP.
const pngXMP = "XML:com.adobe.xmp"

// scanPNG reads the metadata in the chunks, and plans a copy with only keptChunks. The first piece of the plan is the signature and IHDR
// (the header). The second piece is empty: stripPNG puts the new metadata there.
func scanPNG(s *source) (b blocks, out plan) {
	s.readStart(8, "PNG", func(head []byte) bool { return string(head) == pngSignature })
	colours := colourChunks{}
	for kind := ""; s.err == nil && kind != "IEND"; {
		from, isFirst := s.pos, kind == ""
		head := s.readHead(8)
		size := int64(binary.BigEndian.Uint32(head))
		kind = string(head[4:])
		if isFirst != (kind == "IHDR") { // IHDR must be the first chunk, and no other one
			s.fail(damagedError("its header is not where it should be"))
		}
		if size > 1<<31-1 { // the maximum length that PNG allows
			s.fail(damagedError("a part of it is too long"))
		}
		// read returns the chunk's data and sets size to 0, so that the data is not skipped below. If the chunk is longer than limit,
		// read reads nothing and returns nil.
		read := func(limit int64) (data []byte) {
			if size <= limit {
				data, size = s.readBytes(size), 0
			}
			return data
		}
		keep := keptChunks[kind]
		switch kind {
		case "IHDR":
			if size != 13 { // width and height (4 bytes each), and five bytes about the format
				s.fail(damagedError("its header has the wrong length"))
			}
			from = 0 // keep the signature too
		case "iCCP":
			keep = false // the chunk is dropped unless its profile can be read
			if b.icc == nil {
				// The chunk contains: name, 0, compression method (0 is zlib), compressed profile.
				if _, packed, ok := bytes.Cut(read(maxProfile), []byte{0}); ok && len(packed) > 1 && packed[0] == 0 {
					b.icc = inflate(packed[1:], maxProfile)
				}
				keep = b.icc != nil
			}
		case "cICP", "sRGB", "gAMA", "cHRM":
			if data := read(32); data != nil { // cHRM, the longest, has 32 bytes
				colours[kind] = data
			}
		case "eXIf", "tEXt", "zTXt", "iTXt":
			if data := read(maxBlock); data != nil {
				b.readPNGBlock(kind, data)
			}
		}
		if s.skip(size + 4); keep { // 4 is for the checksum
			out.keep(from, s.pos)
		}
		if kind == "IHDR" {
			out.add([]byte{})
		}
	}
	b.icc = colours.profile(b.icc)
	return b, out
}

// colourChunks holds the data of the chunks that define the colour space by numbers; the keys are the names of the chunks.
type colourChunks map[string][]byte

// profile returns the profile that a browser would use. The first of these that is present decides: cICP, iCCP (icc), sRGB, gAMA
// together with cHRM. profile returns nil for sRGB.
func (c colourChunks) profile(icc []byte) []byte {
	// H.273: primaries 12 are P3's and 1 sRGB's, transfer 13 is sRGB's, matrix 0 is RGB, 1 is full range.
	switch string(c["cICP"]) {
	case "\x0c\x0d\x00\x01":
		return colour.DisplayP3Profile
	case "\x01\x0d\x00\x01":
		return nil
	}
	if icc != nil || c["sRGB"] != nil || len(c["gAMA"]) != 4 || len(c["cHRM"]) != 32 {
		return icc
	}
	number := func(b []byte, i int) float64 { return float64(binary.BigEndian.Uint32(b[4*i:])) / 100_000 }
	xy := func(i int) [2]float64 { return [2]float64{number(c["cHRM"], i), number(c["cHRM"], i+1)} }
	return colour.GammaProfile(colour.Gamut{White: xy(0), Red: xy(2), Green: xy(4), Blue: xy(6)}, 1/number(c["gAMA"], 0))
}

// readPNGBlock reads the data of an EXIF or text chunk.
func (b *blocks) readPNGBlock(kind string, data []byte) {
	if kind == "eXIf" {
		b.exif = data
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
		b.author = string(value)
	case "Copyright":
		b.copyright = string(value)
	case pngXMP:
		b.xmp = value
	}
}

// inflate decompresses a zlib stream. It returns nil if the stream is invalid or has more than limit bytes.
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

// stripPNG plans a copy of a PNG without private metadata.
func stripPNG(s *source) plan {
	b, out := scanPNG(s)
	if s.err != nil {
		return nil
	}
	info := b.readInfo()
	var newChunks []byte
	if block := makeEXIF(info.Orientation, info.Creator, info.Rights); block != nil {
		newChunks = makeChunk("eXIf", string(block))
	}
	for _, text := range [][2]string{{"Author", info.Creator}, {"Copyright", info.Rights}, {pngXMP, string(makeXMP(&info))}} {
		if text[1] != "" {
			newChunks = append(newChunks, makeTextChunk(text[0], text[1])...)
		}
	}
	out[1].data = append(out[1].data, newChunks...)
	return out
}

// PNGText returns an iTXt chunk with an XMP packet.
func PNGText(xmp []byte) []byte { return makeTextChunk(pngXMP, string(xmp)) }

func makeTextChunk(name, value string) []byte {
	return makeChunk("iTXt", name, "\x00\x00\x00\x00\x00", value)
}

func makeChunk(kind string, parts ...string) []byte {
	data := kind + strings.Join(parts, "")
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)-4))
	out = append(out, data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE([]byte(data)))
}
