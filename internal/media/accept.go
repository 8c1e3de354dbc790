package media

import (
	"mime"
	"strconv"
	"strings"

	"atelie/internal/files"
	"atelie/internal/media/rendition"
)

// This file chooses the format of a rendition from the requested format and the header Accept (RFC 9110 §12.5.1).

// formatsFor returns the formats in which a request can be served, the best first: the requested format, or the formats that the
// header Accept names (RFC 9110 §12.5.1), or, if it names neither WebP nor AVIF, the picture's own format. If no rendition exists
// in any of these formats, one is made in the last format of the list. So a client whose Accept names AVIF gets an AVIF only if it
// exists already; such a request does not wait until an AVIF is made.
func (t *transform) formatsFor(accept, source string, alpha bool) []rendition.Format {
	switch t.Format {
	case "avif", "webp", "jpeg":
		return []rendition.Format{rendition.Format(t.Format)}
	case "origin":
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

// ownFormat returns the format of a picture's renditions, JPEG or PNG, for clients that may know no newer one.
func ownFormat(source string, alpha bool) rendition.Format {
	if source == files.PNG.MIME || source == files.GIF.MIME || alpha && source != files.JPEG.MIME {
		return rendition.PNG
	}
	return rendition.JPEG
}

// acceptedFormats reports whether an Accept header names AVIF and WebP, as browsers do for pictures. Wildcards do not count.
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
