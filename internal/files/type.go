package files

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"slices"
	"strings"
)

// This file lists the accepted types of files, and detects the type of a file by its first bytes. A new type needs a variable, an entry in
// Types and a case in Detect. web/src/lib/upload/sniff-type.ts detects types in the browser, before the upload.

// SniffLength is how many bytes from the beginning of a file Detect needs to find the file's type.
const SniffLength = 4096

// Type is a type of file that may be stored and served.
type Type struct {
	MIME       string
	Extensions []string // lower case, without the dot
	Image      bool     // true for pictures, false for videos
	// KeepsMetadata is true if the program cannot remove the metadata (such as where a picture was taken) from pictures of this type. Only
	// callers who may replace the file can download it. All others get renditions (copies in other sizes and formats).
	KeepsMetadata bool
}

// The accepted types.
var (
	JPEG = &Type{MIME: "image/jpeg", Extensions: []string{"jpg", "jpeg", "jpe", "jfif"}, Image: true}
	PNG  = &Type{MIME: "image/png", Extensions: []string{"png"}, Image: true}
	GIF  = &Type{MIME: "image/gif", Extensions: []string{"gif"}, Image: true}
	WebP = &Type{MIME: "image/webp", Extensions: []string{"webp"}, Image: true}
	TIFF = &Type{MIME: "image/tiff", Extensions: []string{"tif", "tiff"}, Image: true, KeepsMetadata: true}
	HEIC = &Type{MIME: "image/heic", Extensions: []string{"heic", "heif"}, Image: true, KeepsMetadata: true}
	AVIF = &Type{MIME: "image/avif", Extensions: []string{"avif"}, Image: true, KeepsMetadata: true}
	// Cameras write MP4 files with the extension .mov and QuickTime files with .mp4, so both types have both extensions.
	MP4       = &Type{MIME: "video/mp4", Extensions: []string{"mp4", "m4v", "mov"}}
	QuickTime = &Type{MIME: "video/quicktime", Extensions: []string{"mov", "qt", "mp4"}}
	WebM      = &Type{MIME: "video/webm", Extensions: []string{"webm", "mkv"}}
	Matroska  = &Type{MIME: "video/x-matroska", Extensions: []string{"mkv"}}
)

// Types lists all accepted types, in the order in which buckets list them.
var Types = []*Type{JPEG, PNG, GIF, WebP, TIFF, HEIC, AVIF, MP4, QuickTime, WebM, Matroska}

// TypeOf returns the accepted type with a MIME type, or nil if there is none.
func TypeOf(mimeType string) *Type {
	if i := slices.IndexFunc(Types, func(t *Type) bool { return t.MIME == mimeType }); i >= 0 {
		return Types[i]
	}
	return nil
}

// Fits reports whether a file name fits the type: it has an extension of the type, or none.
func (t *Type) Fits(name string) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	dot := strings.LastIndexByte(base, '.')
	return dot < 0 || dot == len(base)-1 || slices.Contains(t.Extensions, strings.ToLower(base[dot+1:]))
}

// Detect returns a file's type by its first SniffLength bytes, or nil if the type is not accepted.
func Detect(head []byte) *Type {
	switch {
	case bytes.HasPrefix(head, []byte("\xff\xd8\xff")):
		return JPEG
	case bytes.HasPrefix(head, []byte("\x89PNG\r\n\x1a\n")):
		return PNG
	case bytes.HasPrefix(head, []byte("GIF87a")), bytes.HasPrefix(head, []byte("GIF89a")):
		return GIF
	case len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP":
		return WebP
	case bytes.HasPrefix(head, []byte("II*\x00")), bytes.HasPrefix(head, []byte("MM\x00*")):
		return TIFF
	case len(head) >= 16 && string(head[4:8]) == "ftyp": // HEIC, AVIF, MP4 and QuickTime
		return detectISO(head)
	case bytes.HasPrefix(head, []byte("\x1a\x45\xdf\xa3")): // WebM and Matroska
		return detectEBML(head)
	}
	return nil
}

// videoBrands are the brands (four-letter codes in the ftyp box) of ISO base media files that hold videos. HEIC, AVIF, camera
// raw and audio files begin with the same box, so brands that are not listed are rejected.
var videoBrands = []string{"isom", "iso2", "iso3", "iso4", "iso5", "iso6", "iso7", "iso8", "iso9", "mp41", "mp42", "mp71", "avc1", "hvc1", "hev1",
	"dash", "cmfc", "M4V ", "M4VH", "M4VP", "MSNV", "f4v ", "mmp4", "XAVC"}

// pictureBrands are the brands of single pictures (ISO/IEC 23008-12 §10.2). "mif1" is not listed, because it does not
// determine the type of the picture.
var pictureBrands = map[string]*Type{"heic": HEIC, "heix": HEIC, "heim": HEIC, "heis": HEIC, "avif": AVIF}

// rejectedBrands are major brands of files that are rejected even if they list a video's brand as compatible: picture
// sequences, audio, camera raw, JPEG 2000.
var rejectedBrands = []string{"hevc", "hevx", "msf1", "avis", "crx ", "jp2 ", "jpm ", "jpx ", "M4A ", "M4B ", "M4P "}

// detectISO returns the type of an ISO base media file by its ftyp box (ISO/IEC 14496-12 §4.3). The major brand decides. If the
// major brand is not known, the compatible brands decide.
func detectISO(head []byte) *Type {
	size := int(min(binary.BigEndian.Uint32(head), uint32(len(head))))
	if size < 16 {
		return nil
	}
	major := string(head[8:12])
	switch {
	case major == "qt  ":
		return QuickTime
	case pictureBrands[major] != nil:
		return pictureBrands[major]
	case slices.Contains(rejectedBrands, major):
		return nil
	case slices.Contains(videoBrands, major):
		return MP4
	}
	isPicture := major == "mif1" || major == "mif2"
	for at := 16; at+4 <= size; at += 4 {
		switch brand := string(head[at : at+4]); {
		case isPicture && pictureBrands[brand] != nil:
			return pictureBrands[brand]
		case !isPicture && slices.Contains(videoBrands, brand):
			return MP4
		}
	}
	return nil
}

// detectEBML returns the type that the document type of an EBML header names (RFC 8794 §11.2.4): "webm" or "matroska".
func detectEBML(head []byte) *Type {
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
			return WebM
		case "matroska":
			return Matroska
		}
		return nil
	}
	return nil
}

// ebmlNumber reads the number of variable length (RFC 8794 §4) at b[at:]; next is the index after it.
func ebmlNumber(b []byte, at int) (value uint64, next int, ok bool) {
	if at >= len(b) || b[at] == 0 {
		return 0, at, false
	}
	length := bits.LeadingZeros8(b[at]) + 1
	if at+length > len(b) {
		return 0, at, false
	}
	value = uint64(b[at]) & (1<<(8-length) - 1)
	for _, c := range b[at+1 : at+length] {
		value = value<<8 | uint64(c)
	}
	return value, at + length, true
}
