package metadata

import "io"

// Clean writes the picture to dst without what does not show: no places, serial numbers, maker notes, thumbnails,
// comments, further pictures, unknown blocks or bytes after the end. Kept are the pixels as they are encoded, the colour
// profile, the orientation, and creator and rights, which are written anew. The same file gives the same bytes, and a
// clean file itself. Content Credentials (C2PA) go too, because their signature would not hold for a changed file; they
// stay in the untouched original. Memory is bounded. Types other than JPEG, PNG, WebP and GIF give ErrNoCleaner, files
// that do not follow their format ErrDamaged; dst may hold a part then.
func Clean(dst io.Writer, f io.ReadSeeker, mimeType string) error {
	s, err := newSource(f)
	if err != nil {
		return err
	}
	var out plan
	switch mimeType {
	case "image/jpeg":
		out, err = cleanJPEG(s)
	case "image/png":
		out, err = cleanPNG(s)
	case "image/webp":
		out, err = cleanWebP(s)
	case "image/gif":
		out, err = cleanGIF(s)
	default:
		return ErrNoCleaner
	}
	if err != nil {
		return err
	}
	return out.write(dst, s)
}
