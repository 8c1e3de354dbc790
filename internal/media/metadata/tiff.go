package metadata

// readTIFF reads the metadata of a TIFF file. The file has the structure of EXIF. The creator and rights in its tags are used only if XMP
// and IPTC have none: readInfo uses author and copyright last.
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
