package metadata

import "io"

// Strip writes a copy of the picture f without private metadata to dst. The copy has the encoded pixels, the colour profile, the
// orientation, the creator and the rights. It has no locations, serial numbers, maker notes, thumbnails, comments, further pictures,
// unknown blocks or bytes after the end. Content Credentials (C2PA) are removed too, because their signature is not valid for a changed
// file.
//
// The same file always gives the same copy, and the copy of a copy equals the first copy. The use of memory is limited. The
// error is ErrCannotStrip for types other than JPEG, PNG, WebP and GIF. It wraps ErrDamaged for files that do not follow their
// format. After an error, dst may contain a part of the copy.
func Strip(dst io.Writer, f io.ReadSeeker, mimeType string) error {
	planCopy := map[string]func(*source) plan{
		"image/jpeg": stripJPEG, "image/png": stripPNG, "image/webp": stripWebP, "image/gif": stripGIF,
	}[mimeType]
	if planCopy == nil {
		return ErrCannotStrip
	}
	s := newSource(f)
	out := planCopy(s)
	if s.err != nil {
		return s.err
	}
	return out.write(dst, s)
}
