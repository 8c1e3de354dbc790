package metadata

import (
	"bytes"
	"encoding/binary"
	"strings"
)

// This file reads IPTC-IIM, a format of metadata in JPEG and TIFF files. It is older than XMP.

// The numbers of the data sets that are read. An IPTC-IIM block is a list of data sets. Each data set has a record number and a number
// within the record. The record number of these data sets is 2.
const (
	iptcByline      = 80
	iptcCity        = 90
	iptcSublocation = 92
	iptcState       = 95
	iptcCountryCode = 100
	iptcCountry     = 101
	iptcCopyright   = 116
)

// findIPTC returns the IPTC block in a JPEG's APP13 segment, or nil if there is none. The segment contains a list of Photoshop resources.
func findIPTC(resources []byte) []byte {
	rest, ok := bytes.CutPrefix(resources, []byte("Photoshop 3.0\x00"))
	for ok && len(rest) >= 12 && string(rest[:4]) == "8BIM" {
		// A resource: "8BIM", id (2 bytes), name with its length (padded to an even size), size (4 bytes), data (padded).
		nameSize := 1 + int(rest[6])
		nameSize += nameSize & 1
		if len(rest) < 6+nameSize+4 {
			return nil
		}
		id := binary.BigEndian.Uint16(rest[4:])
		size := int64(binary.BigEndian.Uint32(rest[6+nameSize:]))
		rest = rest[6+nameSize+4:]
		if size > int64(len(rest)) {
			return nil
		}
		if id == 0x0404 { // IPTC-IIM
			return rest[:size]
		}
		rest = rest[min(size+size&1, int64(len(rest))):]
	}
	return nil
}

// readIPTC reads the data sets of an IPTC-IIM block into info.
func readIPTC(block []byte, info *Info) {
	var creators valueList
	for len(block) >= 5 && block[0] == 0x1c { // a data set: marker, record, number, size (2 bytes), value
		size := int(binary.BigEndian.Uint16(block[3:]))
		if size >= 0x8000 || size > len(block)-5 { // 0x8000 and more mean an extended size, which only pictures inside IPTC need
			break
		}
		value := string(block[5 : 5+size])
		if block[1] == 2 {
			switch block[2] {
			case iptcByline:
				creators.add(value)
			case iptcCopyright:
				info.setRights(value)
			case iptcCity, iptcSublocation, iptcState, iptcCountryCode, iptcCountry:
				info.HasLocation = true
			}
		}
		block = block[5+size:]
	}
	info.setCreator(strings.Join(creators.items, "; "))
}
