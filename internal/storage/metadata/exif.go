package metadata

import (
	"encoding/binary"
	"io"
)

// EXIF is a TIFF file in a block: directories of entries with numbers for names (CIPA DC-008).
const (
	tagXMP          = 700
	tagOrientation  = 0x0112
	tagArtist       = 0x013b
	tagIPTC         = 0x83bb
	tagCopyright    = 0x8298
	tagProfile      = 34675
	tagExif         = 0x8769
	tagGPS          = 0x8825
	tagLatitude     = 0x0002
	tagDestLatitude = 0x0014
	tagBodySerial   = 0xa431
	tagLensSerial   = 0xa435
	tagDNGSerial    = 0xc62f
	tagColorSpace   = 0xa001
	tagInterop      = 0xa005
	tagInteropKind  = 0x0001
)

// maxEntries bounds a directory; cameras write less than 100 entries.
const maxEntries = 1000

// readEXIF fills in what a TIFF structure says, as far as it can be read, and gives its blocks of other kinds.
func readEXIF(r io.ReaderAt, info *Info) (p parts) {
	var head [8]byte
	if _, err := r.ReadAt(head[:], 0); err != nil {
		return p
	}
	var order binary.ByteOrder
	switch string(head[:4]) {
	case "II*\x00":
		order = binary.LittleEndian
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return p
	}
	e := &exifReader{r: r, order: order, info: info, parts: &p}
	e.directory(int64(order.Uint32(head[4:])), directoryMain)
	p.adobeRGB = p.adobeRGB && !e.srgb
	return p
}

// The directories that are read, each at most once.
const (
	directoryMain = iota
	directoryExif
	directoryInterop
	directoryGPS
	directories
)

type exifReader struct {
	r     io.ReaderAt
	order binary.ByteOrder
	info  *Info
	parts *parts
	seen  [directories]bool
	srgb  bool // what ColorSpace says
}

func (e *exifReader) directory(at int64, kind int) {
	var count [2]byte
	if _, err := e.r.ReadAt(count[:], at); err != nil || e.seen[kind] {
		return
	}
	e.seen[kind] = true
	for i := range min(int64(e.order.Uint16(count[:])), maxEntries) {
		var entry [12]byte
		if _, err := e.r.ReadAt(entry[:], at+2+12*i); err != nil {
			return
		}
		name := e.order.Uint16(entry[:])
		switch {
		case name == tagBodySerial || name == tagLensSerial || name == tagDNGSerial:
			e.info.HasSerial = true
		case kind == directoryExif && name == tagColorSpace:
			e.srgb = e.order.Uint16(entry[8:]) == 1
		case kind == directoryExif && name == tagInterop:
			e.directory(int64(e.order.Uint32(entry[8:])), directoryInterop)
		case kind == directoryInterop && name == tagInteropKind:
			e.parts.adobeRGB = string(e.value(entry, 4)) == "R03\x00"
		case kind == directoryGPS && (name == tagLatitude || name == tagDestLatitude):
			e.info.HasLocation = true // some cameras write an empty directory
		case kind != directoryMain:
		case name == tagOrientation:
			if v := e.order.Uint16(entry[8:]); e.order.Uint16(entry[2:]) == 3 && v >= 1 && v <= 8 {
				e.info.Orientation = int(v)
			}
		case name == tagArtist:
			e.info.setCreator(string(e.value(entry, maxBlock)))
		case name == tagCopyright:
			e.info.setRights(string(e.value(entry, maxBlock)))
		case name == tagXMP:
			e.parts.xmp = e.value(entry, maxBlock)
		case name == tagIPTC:
			e.parts.iptc = e.value(entry, maxBlock)
		case name == tagProfile:
			e.parts.icc = e.value(entry, maxProfile)
		case name == tagExif:
			e.directory(int64(e.order.Uint32(entry[8:])), directoryExif)
		case name == tagGPS:
			e.directory(int64(e.order.Uint32(entry[8:])), directoryGPS)
		}
	}
}

// value gives an entry's bytes, nil when there are more than limit.
func (e *exifReader) value(entry [12]byte, limit int64) []byte {
	var width int64 = 1
	switch e.order.Uint16(entry[2:]) {
	case 1, 2, 6, 7, 129:
	case 4: // IPTC is wrongly declared as longs by many programs
		width = 4
	default:
		return nil
	}
	size := width * int64(e.order.Uint32(entry[4:]))
	if size > limit {
		return nil
	}
	if size <= 4 {
		return append([]byte(nil), entry[8:8+size]...)
	}
	out := make([]byte, size)
	if _, err := e.r.ReadAt(out, int64(e.order.Uint32(entry[8:]))); err != nil {
		return nil
	}
	return out
}

// RightsEXIF is an EXIF block with Artist and Copyright and nothing else, nil when both are empty. A JPEG's APP1 segment
// has "Exif\x00\x00" before it, a WebP's EXIF and a PNG's eXIf chunk have not.
func RightsEXIF(creator, rights string) []byte { return exifBlock(1, creator, rights) }

func exifBlock(orientation int, creator, rights string) []byte {
	var entries, texts []byte
	count := uint16(0)
	if orientation != 1 {
		count++
	}
	if creator != "" {
		count++
	}
	if rights != "" {
		count++
	}
	if count == 0 {
		return nil
	}
	start := 8 + 2 + 12*int(count) + 4
	big := binary.BigEndian
	entry := func(name, kind uint16, n int) {
		entries = big.AppendUint16(entries, name)
		entries = big.AppendUint16(entries, kind)
		entries = big.AppendUint32(entries, uint32(n))
	}
	text := func(name uint16, s string) {
		if s == "" {
			return
		}
		b := append([]byte(s), 0)
		entry(name, 2, len(b))
		if len(b) <= 4 {
			entries = append(append(entries, b...), make([]byte, 4-len(b))...)
			return
		}
		entries = big.AppendUint32(entries, uint32(start+len(texts)))
		texts = append(texts, b...)
		texts = append(texts, make([]byte, len(texts)&1)...)
	}
	if orientation != 1 {
		entry(tagOrientation, 3, 1)
		entries = append(entries, 0, byte(orientation), 0, 0)
	}
	text(tagArtist, creator)
	text(tagCopyright, rights)
	out := big.AppendUint16([]byte("MM\x00*\x00\x00\x00\x08"), count)
	out = append(out, entries...)
	out = append(out, 0, 0, 0, 0)
	return append(out, texts...)
}
