package metadata

import (
	"encoding/binary"
	"io"
)

// This file reads and makes blocks of EXIF, the metadata that cameras write into pictures. It reads what the program needs to show a
// picture (orientation, colours and preview), who made it, and whether it has private data (a location or a serial number).

// Tags of EXIF (CIPA DC-008). An EXIF block has the structure of a TIFF file: it consists of directories, and a directory is a list of
// entries. The tag of an entry is a number that says what the entry contains. Two directories may use the same number differently. The main
// directory has entries whose value is the offset of another directory, in bytes from the beginning of the block.
const (
	// The main directory.
	tagOrientation = 0x0112
	tagArtist      = 0x013b
	tagXMP         = 0x02bc // a block of XMP, another format of metadata
	tagCopyright   = 0x8298
	tagIPTC        = 0x83bb // a block of IPTC, another format of metadata
	tagExif        = 0x8769 // offset of the Exif directory
	tagProfile     = 0x8773 // ICC profile
	tagGPS         = 0x8825 // offset of the GPS directory
	tagDNGSerial   = 0xc62f // serial number of the camera, in DNG

	// The Exif directory.
	tagColorSpace = 0xa001 // 1 means sRGB
	tagInterop    = 0xa005 // offset of the Interoperability directory
	tagBodySerial = 0xa431 // serial number of the camera
	tagLensSerial = 0xa435 // serial number of the lens

	// The GPS directory.
	tagLatitude     = 0x0002
	tagDestLatitude = 0x0014 // latitude of the destination point

	// The Interoperability directory.
	tagInteropKind = 0x0001 // "R03" means that the colours are Adobe RGB

	// The directory of the preview (a small JPEG of the picture).
	tagPreviewStart = 0x0201
	tagPreviewSize  = 0x0202
)

// maxEntries limits how many entries of a directory are read. Cameras write fewer than 100.
const maxEntries = 1000

// readEXIF reads the valid entries of an EXIF block or a TIFF file into info. It returns the blocks of other metadata (XMP, IPTC, ICC) that
// the entries contain.
func readEXIF(r io.ReaderAt, info *Info) (b blocks) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return b
	}
	// A TIFF file begins with II (numbers are little-endian) or MM (big-endian) and the number 42 in two bytes: '*' (42) and 0.
	var order binary.ByteOrder
	switch string(head[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return b
	}
	e := &exifReader{r: r, order: order, info: info, blocks: &b}
	e.readDirectory(int64(order.Uint32(head[4:])), directoryMain)
	info.Preview = readBytesAt(r, int64(e.previewStart), int64(e.previewSize), maxPreview)
	b.adobeRGB = b.adobeRGB && !e.saysSRGB // readDirectory sets adobeRGB for the value "R03", but the tag ColorSpace takes precedence
	return b
}

// The directories, each of which is read at most once.
const (
	directoryMain = iota
	directoryExif
	directoryInterop
	directoryGPS
	directoryPreview // follows the main directory, and describes a small JPEG of the picture
	directoryCount
)

// exifReader reads the directories of an EXIF block into info and blocks.
type exifReader struct {
	r        io.ReaderAt
	order    binary.ByteOrder
	info     *Info
	blocks   *blocks
	seen     [directoryCount]bool // directories that were read
	saysSRGB bool                 // the tag ColorSpace says sRGB

	previewStart, previewSize uint32 // offset and length of the preview in bytes; 0 if there is none
}

// readDirectory reads the directory at an offset, and the directories to which it refers.
func (e *exifReader) readDirectory(at int64, kind int) {
	var count [2]byte
	if _, err := e.r.ReadAt(count[:], at); err != nil || e.seen[kind] {
		return
	}
	e.seen[kind] = true
	entries := min(int64(e.order.Uint16(count[:])), maxEntries)
	for i := range entries {
		var entry [12]byte
		if _, err := e.r.ReadAt(entry[:], at+2+12*i); err != nil {
			return
		}
		tag := e.order.Uint16(entry[:])
		switch {
		case tag == tagBodySerial || tag == tagLensSerial || tag == tagDNGSerial:
			e.info.HasSerial = true
		case kind == directoryExif && tag == tagColorSpace:
			e.saysSRGB = e.order.Uint16(entry[8:]) == 1
		case kind == directoryExif && tag == tagInterop:
			e.readDirectory(int64(e.order.Uint32(entry[8:])), directoryInterop)
		case kind == directoryInterop && tag == tagInteropKind:
			e.blocks.adobeRGB = string(e.readValue(entry, 4)) == "R03\x00"
		case kind == directoryGPS && (tag == tagLatitude || tag == tagDestLatitude):
			e.info.HasLocation = true // some cameras write an empty directory
		case kind == directoryPreview && tag == tagPreviewStart:
			e.previewStart = e.order.Uint32(entry[8:])
		case kind == directoryPreview && tag == tagPreviewSize:
			e.previewSize = e.order.Uint32(entry[8:])
		case kind != directoryMain:
		case tag == tagOrientation:
			if v := e.order.Uint16(entry[8:]); e.order.Uint16(entry[2:]) == 3 && v >= 1 && v <= 8 {
				e.info.Orientation = int(v)
			}
		case tag == tagArtist:
			e.info.setCreator(string(e.readValue(entry, maxBlock)))
		case tag == tagCopyright:
			e.info.setRights(string(e.readValue(entry, maxBlock)))
		case tag == tagXMP:
			e.blocks.xmp = e.readValue(entry, maxBlock)
		case tag == tagIPTC:
			e.blocks.iptc = e.readValue(entry, maxBlock)
		case tag == tagProfile:
			e.blocks.icc = e.readValue(entry, maxProfile)
		case tag == tagExif:
			e.readDirectory(int64(e.order.Uint32(entry[8:])), directoryExif)
		case tag == tagGPS:
			e.readDirectory(int64(e.order.Uint32(entry[8:])), directoryGPS)
		}
	}
	var next [4]byte
	if kind != directoryMain {
		return
	}
	if _, err := e.r.ReadAt(next[:], at+2+12*entries); err == nil && next != [4]byte{} {
		e.readDirectory(int64(e.order.Uint32(next[:])), directoryPreview)
	}
}

// readBytesAt returns size bytes at an offset. It returns nil if size is 0 or more than limit, or if the bytes cannot be read.
func readBytesAt(r io.ReaderAt, at, size, limit int64) []byte {
	if size <= 0 || size > limit {
		return nil
	}
	out := make([]byte, size)
	if _, err := r.ReadAt(out, at); err != nil {
		return nil
	}
	return out
}

// readValue returns the bytes of an entry's value. It returns nil if there are more than limit, or if they cannot be read.
func (e *exifReader) readValue(entry [12]byte, limit int64) []byte {
	var width int64 = 1
	switch e.order.Uint16(entry[2:]) {
	case 1, 2, 6, 7, 129: // types with one byte for each value
	case 4: // many programs wrongly declare IPTC as longs
		width = 4
	default:
		return nil
	}
	size := width * int64(e.order.Uint32(entry[4:]))
	if size <= 4 {
		return append([]byte(nil), entry[8:8+size]...)
	}
	return readBytesAt(e.r, int64(e.order.Uint32(entry[8:])), size, limit)
}

// RightsEXIF returns an EXIF block with only Artist and Copyright; nil if both are empty. In the APP1 segment of a JPEG,
// "Exif\x00\x00" must precede it, but not in the chunks of WebP and PNG.
func RightsEXIF(creator, rights string) []byte { return makeEXIF(1 /* no rotation */, creator, rights) }

// makeEXIF returns an EXIF block with the orientation, creator and rights; nil if the orientation is 1 and both texts are empty.
func makeEXIF(orientation int, creator, rights string) []byte {
	type entry struct {
		tag, kind uint16
		count     int
		value     []byte
	}
	var entries []entry
	if orientation != 1 {
		entries = append(entries, entry{tagOrientation, 3, 1, []byte{0, byte(orientation), 0, 0}})
	}
	for _, text := range []entry{{tag: tagArtist, value: []byte(creator)}, {tag: tagCopyright, value: []byte(rights)}} {
		if n := len(text.value); n > 0 {
			entries = append(entries, entry{text.tag, 2, n + 1, append(text.value, 0)})
		}
	}
	if entries == nil {
		return nil
	}
	big := binary.BigEndian
	out := big.AppendUint16([]byte("MM\x00*\x00\x00\x00\x08"), uint16(len(entries)))
	end := len(out) + 12*len(entries)
	rest := []byte{0, 0, 0, 0} // no further directory
	for _, e := range entries {
		out = big.AppendUint32(big.AppendUint16(big.AppendUint16(out, e.tag), e.kind), uint32(e.count))
		if n := len(e.value); n <= 4 {
			out = append(append(out, e.value...), make([]byte, 4-n)...)
			continue
		}
		out = big.AppendUint32(out, uint32(end+len(rest)))
		rest = append(rest, e.value...)
		rest = append(rest, make([]byte, len(rest)&1)...)
	}
	return append(out, rest...)
}
