package media

import (
	"mime"
	"strconv"
	"strings"

	"atelie/internal/files"
	"atelie/internal/media/rendition"
)

// This file chooses the format of a rendition (a copy of a picture in another size, shape or format) from the requested format and the
// Accept header (RFC 9110 §12.5.1).

// formatsFor returns the formats in which a request can be served, the best first. accept is the value of the Accept header. uploadType is
// the MIME type of the uploaded picture.
//   - If the request names a format (t.Format), the result is only this format.
//   - Otherwise the result is AVIF, if accept names AVIF, and a fallback. The fallback is WebP, if accept names WebP, or else a format that
//     every client can show.
//
// If the picture has no rendition in any of these formats, the caller makes one in the last format, because making AVIF takes long.
func (t *transform) formatsFor(accept, uploadType string, hasAlpha bool) []rendition.Format {
	switch t.Format {
	case "avif", "webp", "jpeg":
		return []rendition.Format{rendition.Format(t.Format)}
	case "origin": // the format of the uploaded picture
		if uploadType == files.WebP.MIME {
			return []rendition.Format{rendition.WebP}
		}
		return []rendition.Format{compatibleFormat(uploadType, hasAlpha)}
	}
	avif, webp := acceptedFormats(accept)
	fallback := compatibleFormat(uploadType, hasAlpha)
	if webp {
		fallback = rendition.WebP
	}
	if avif {
		return []rendition.Format{rendition.AVIF, fallback}
	}
	return []rendition.Format{fallback}
}

// compatibleFormat returns a format that every client can show: PNG for PNG, GIF and pictures with transparency (alpha), and JPEG for all
// other pictures.
func compatibleFormat(uploadType string, hasAlpha bool) rendition.Format {
	if uploadType == files.PNG.MIME || uploadType == files.GIF.MIME || (hasAlpha && uploadType != files.JPEG.MIME) {
		return rendition.PNG
	}
	return rendition.JPEG
}

// acceptedFormats reports whether an Accept header names AVIF and WebP. Wildcards such as image/* do not count, because they do not say
// which formats a browser can show.
func acceptedFormats(accept string) (avif, webp bool) {
	for part := range strings.SplitSeq(accept, ",") {
		name, _, hasParams := strings.Cut(part, ";")
		name = strings.ToLower(strings.TrimSpace(name))
		if name != files.AVIF.MIME && name != files.WebP.MIME {
			continue
		}
		accepted := true
		if hasParams {
			_, params, err := mime.ParseMediaType(part)
			if err != nil {
				continue
			}
			if q, ok := params["q"]; ok { // the weight; 0 means that the client does not accept the format
				weight, err := strconv.ParseFloat(q, 64)
				accepted = err == nil && weight > 0
			}
		}
		switch name {
		case "image/avif":
			avif = accepted
		case "image/webp":
			webp = accepted
		}
	}
	return avif, webp
}
