package storage

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
)

// sniffLength is how many first bytes decide about a file's type.
const sniffLength = 4096

// fileType is a type that may be stored and served. dimensions is nil for videos. hidden pictures of the site are not
// served as they are, but to who may replace them: nothing here can clean them, so that others get renditions alone.
type fileType struct {
	mime       string
	extensions []string
	dimensions dimensions
	hidden     bool
}

func (t *fileType) isImage() bool { return t.dimensions != nil }

var (
	jpegType = &fileType{"image/jpeg", []string{"jpg", "jpeg", "jpe", "jfif"}, jpegDimensions, false}
	pngType  = &fileType{"image/png", []string{"png"}, pngDimensions, false}
	gifType  = &fileType{"image/gif", []string{"gif"}, gifDimensions, false}
	webpType = &fileType{"image/webp", []string{"webp"}, webpDimensions, false}
	tiffType = &fileType{"image/tiff", []string{"tif", "tiff"}, tiffDimensions, true}
	heicType = &fileType{"image/heic", []string{"heic", "heif"}, heifDimensions, true}
	avifType = &fileType{"image/avif", []string{"avif"}, heifDimensions, true}
	// Cameras name files of both kinds .mov and .mp4.
	mp4Type       = &fileType{"video/mp4", []string{"mp4", "m4v", "mov"}, nil, false}
	quickTimeType = &fileType{"video/quicktime", []string{"mov", "qt", "mp4"}, nil, false}
	webmType      = &fileType{"video/webm", []string{"webm", "mkv"}, nil, false}
	matroskaType  = &fileType{"video/x-matroska", []string{"mkv"}, nil, false}
)

var fileTypes = []*fileType{jpegType, pngType, gifType, webpType, tiffType, heicType, avifType, mp4Type, quickTimeType, webmType, matroskaType}

func mimeTypes(keep func(*fileType) bool) []string {
	var out []string
	for _, t := range fileTypes {
		if keep(t) {
			out = append(out, t.mime)
		}
	}
	return out
}

func servable(mime string) bool { return typeOf(mime) != nil }

// typeOf gives the type of that name, or nil.
func typeOf(mime string) *fileType {
	if i := slices.IndexFunc(fileTypes, func(t *fileType) bool { return t.mime == mime }); i >= 0 {
		return fileTypes[i]
	}
	return nil
}

// fits tells whether a name's extension, when it has one, belongs to the type (READING §3.26).
func (t *fileType) fits(name string) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	dot := strings.LastIndexByte(base, '.')
	return dot < 0 || dot == len(base)-1 || slices.Contains(t.extensions, strings.ToLower(base[dot+1:]))
}

// detect decides a file's type from its first bytes alone; nil means none that is accepted.
func detect(head []byte) *fileType {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return jpegType
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return pngType
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return gifType
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return webpType
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")):
		return tiffType
	case len(head) >= 16 && string(head[4:8]) == "ftyp":
		return detectISO(head)
	case bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")):
		return detectEBML(head)
	}
	return nil
}

// videoBrands are the brands of ISO base media files that hold films. The same box begins HEIC, AVIF, camera raw and
// audio files, so that what is not listed is refused.
var videoBrands = []string{"isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "mp71", "avc1", "hvc1", "hev1",
	"dash", "cmfc", "M4V ", "M4VH", "M4VP", "MSNV", "f4v ", "mmp4", "XAVC"}

// stillBrands are those of single pictures (ISO/IEC 23008-12 §10.2); "mif1" says no more than that there is one.
var stillBrands = map[string]*fileType{"heic": heicType, "heix": heicType, "heim": heicType, "heis": heicType, "avif": avifType}

var otherBrands = []string{"hevc", "hevx", "msf1", "avis", "crx ", "jp2 ", "jpm ", "jpx ", "M4A ", "M4B ", "M4P "}

// detectISO reads the ftyp box: the major brand decides, then the compatible ones (ISO/IEC 14496-12 §4.3).
func detectISO(head []byte) *fileType {
	size := int(min(binary.BigEndian.Uint32(head), uint32(len(head))))
	if size < 16 {
		return nil
	}
	major := string(head[8:12])
	switch {
	case major == "qt  ":
		return quickTimeType
	case stillBrands[major] != nil:
		return stillBrands[major]
	case major == "mif1", major == "mif2":
		for at := 16; at+4 <= size; at += 4 {
			if t := stillBrands[string(head[at:at+4])]; t != nil {
				return t
			}
		}
		return nil
	case slices.Contains(otherBrands, major):
		return nil
	case slices.Contains(videoBrands, major):
		return mp4Type
	}
	for at := 16; at+4 <= size; at += 4 {
		if slices.Contains(videoBrands, string(head[at:at+4])) {
			return mp4Type
		}
	}
	return nil
}

// detectEBML reads the document type of an EBML header (RFC 8794 §11.2.4): "webm" or "matroska".
func detectEBML(head []byte) *fileType {
	size, at, ok := ebmlNumber(head, 4)
	if !ok {
		return nil
	}
	end := at + int(min(size, uint64(len(head)-at)))
	for at < end {
		id := at
		_, next, ok := ebmlNumber(head[:end], at)
		if !ok {
			return nil
		}
		isDocType := bytes.Equal(head[id:next], []byte{0x42, 0x82})
		if size, at, ok = ebmlNumber(head[:end], next); !ok || size > uint64(end-at) {
			return nil
		}
		value := head[at : at+int(size)]
		at += int(size)
		if !isDocType {
			continue
		}
		switch string(bytes.TrimRight(value, "\x00")) {
		case "webm":
			return webmType
		case "matroska":
			return matroskaType
		}
		return nil
	}
	return nil
}

// ebmlNumber reads a number of variable length (RFC 8794 §4) and tells where it ends.
func ebmlNumber(b []byte, at int) (value uint64, next int, ok bool) {
	if at >= len(b) || b[at] == 0 {
		return 0, at, false
	}
	length := 1
	for mask := byte(0x80); b[at]&mask == 0; mask >>= 1 {
		length++
	}
	if at+length > len(b) {
		return 0, at, false
	}
	value = uint64(b[at]) & (1<<(8-length) - 1)
	for _, c := range b[at+1 : at+length] {
		value = value<<8 | uint64(c)
	}
	return value, at + length, true
}
