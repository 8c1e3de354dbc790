package media

import (
	"mime"
	"strconv"
	"strings"

	"atelie/internal/files"
	"atelie/internal/media/rendition"
)

// This file chooses the format of a rendition from the requested format and the header Accept (RFC 9110 §12.5.1).

// formatsFor returns the formats in which a request can be served, the best first. source is the MIME type of the picture; alpha says
// whether the picture has transparency. If the request names a format, only that is in the list. Otherwise the list begins with AVIF if
// Accept names AVIF, and ends with WebP if Accept names WebP, or else with the picture's own format. If no rendition exists in any of these
// formats, one is made in the last format of the list, so that no request waits for an AVIF only because Accept names AVIF.
func (t *transform) formatsFor(accept, source string, alpha bool) []rendition.Format {
	switch t.Format {
	case "avif", "webp", "jpeg":
		return []rendition.Format{rendition.Format(t.Format)}
	case "origin": // the format of the uploaded picture
		if source == files.WebP.MIME {
			return []rendition.Format{rendition.WebP}
		}
		return []rendition.Format{ownFormat(source, alpha)}
	}
	avif, webp := acceptedFormats(accept)
	fallback := ownFormat(source, alpha)
	if webp {
		fallback = rendition.WebP
	}
	if avif {
		return []rendition.Format{rendition.AVIF, fallback}
	}
	return []rendition.Format{fallback}
}

// ownFormat returns the format of a picture's renditions for clients that may not know WebP: PNG or JPEG.
func ownFormat(source string, alpha bool) rendition.Format {
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
