package metadata

// readTIFF reads the metadata of a TIFF file, which has the structure of an EXIF block. The creator and the rights in its tags count only
// if XMP and IPTC have none. They are therefore stored as author and copyright, which readInfo uses last.
func readTIFF(s *source) Info {
	tags := Info{Orientation: 1}
	b := readEXIF(s, &tags)
	b.author, b.copyright = tags.Creator, tags.Rights
	info := b.readInfo()
	info.Orientation = tags.Orientation
	info.HasLocation = info.HasLocation || tags.HasLocation
	info.HasSerial = info.HasSerial || tags.HasSerial
	return info
}
