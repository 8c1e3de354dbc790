package metadata

import "io"

// Strip writes a copy of the picture f without private metadata to dst. The copy of a copy equals the first copy.
//   - The copy has the encoded pixels, the colour profile, the orientation, the creator and the rights.
//   - It has no locations, serial numbers, thumbnails, comments or unknown blocks. It also has no Content Credentials (C2PA, a signed
//     history of the picture), because their signature is not valid for a changed file.
//
// The error is ErrCannotStrip for types other than JPEG, PNG, WebP and GIF. It wraps ErrDamaged for files that do not follow their
// format. After an error, dst may contain a part of the copy.
func Strip(dst io.Writer, f io.ReadSeeker, mimeType string) error {
	strip := map[string]func(*source) plan{
		"image/jpeg": stripJPEG, "image/png": stripPNG, "image/webp": stripWebP, "image/gif": stripGIF,
	}[mimeType]
	if strip == nil {
		return ErrCannotStrip
	}
	s := newSource(f)
	copyPlan := strip(s) // the ranges of f and the new bytes that make up the copy
	if s.err != nil {
		return s.err
	}
	return copyPlan.write(dst, s)
}
