package metadata

// readTIFF reads a TIFF file, which is built as EXIF is.
func readTIFF(s *source) (Info, error) {
	info := Info{Orientation: 1}
	blocks := readEXIF(s, &info)
	if s.failed != nil {
		return info, s.failed
	}
	said := Info{Creator: info.Creator, Rights: info.Rights}
	info.Creator, info.Rights = "", ""
	p := parts{xmp: blocks.xmp, iptc: blocks.iptc, icc: blocks.icc, author: said.Creator, copyright: said.Rights}
	other := p.info()
	other.Orientation = info.Orientation
	other.HasLocation = other.HasLocation || info.HasLocation
	other.HasSerial = other.HasSerial || info.HasSerial
	return other, nil
}
