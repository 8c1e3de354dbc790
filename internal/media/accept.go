package media

import (
	"mime"
	"strconv"
	"strings"

	"atelie/internal/files"
	"atelie/internal/media/rendition"
)

// This file chooses the format of a rendition (a picture in another size or format) from the requested format and the header Accept (RFC 9110 §12.5.1).

// formatsFor returns the formats in which a request can be served, the best first. source is the MIME type of the picture; alpha says
// whether the picture has transparency. If the request names a format, it is the only one. Otherwise the list is AVIF, if Accept names
// it, and then WebP, if Accept names it, or else the format of compatibleFormat. If no rendition exists in any of them, the caller makes one
// in the last format, because making AVIF takes long.
func (t *transform) formatsFor(accept, source string, alpha bool) []rendition.Format {
	switch t.Format {
	case "avif", "webp", "jpeg":
		return []rendition.Format{rendition.Format(t.Format)}
	case "origin": // the format of the uploaded picture
		if source == files.WebP.MIME {
			return []rendition.Format{rendition.WebP}
		}
		return []rendition.Format{compatibleFormat(source, alpha)}
	}
	avif, webp := acceptedFormats(accept)
	fallback := compatibleFormat(source, alpha)
	if webp {
		fallback = rendition.WebP
	}
	if avif {
		return []rendition.Format{rendition.AVIF, fallback}
	}
	return []rendition.Format{fallback}
}

// compatibleFormat returns the format that every client can show: PNG for PNG, GIF and pictures with transparency, otherwise JPEG.
func compatibleFormat(source string, alpha bool) rendition.Format {
	if source == files.PNG.MIME || source == files.GIF.MIME || alpha && source != files.JPEG.MIME {
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
			if q, ok := params["q"]; ok {
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
