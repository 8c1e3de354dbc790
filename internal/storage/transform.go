package storage

import (
	"encoding/json"
	"math"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/storage/rendition"
)

// maxTransform is the largest side in pixels that can be asked for; more counts as this, as in the reference (there 2000).
const maxTransform = 2560

// transform is what a request wants of a picture, by the names of the client's TransformOptions. 0 and "" are absent.
// Tile is column and row in a grid of 1024 pixels of the full size.
type transform struct {
	Width   int    `json:"width,omitempty"`
	Height  int    `json:"height,omitempty"`
	Resize  string `json:"resize,omitempty"`
	Format  string `json:"format,omitempty"`
	Quality int    `json:"quality,omitempty"`
	tile    *[2]int
}

var (
	resizes = []string{"cover", "contain", "fill"}
	formats = []string{"origin", "avif", "webp", "jpeg"}
)

// readTransform reads the parameters of an address.
func readTransform(q url.Values) (t transform, err error) {
	for _, n := range []struct {
		name string
		to   *int
	}{{"width", &t.Width}, {"height", &t.Height}, {"quality", &t.Quality}} {
		text := q.Get(n.name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return t, errInvalidParameter(n.name + " must be a whole number")
		}
		*n.to = int(v)
	}
	t.Resize, t.Format = q.Get("resize"), q.Get("format")
	if text := q.Get("tile"); text != "" {
		column, row, _ := strings.Cut(text, ",")
		c, errC := strconv.ParseUint(column, 10, 16)
		r, errR := strconv.ParseUint(row, 10, 16)
		if errC != nil || errR != nil {
			return t, errInvalidParameter("tile must be a column and a row, such as 0,2")
		}
		t.tile = &[2]int{int(c), int(r)}
	}
	return t, t.check()
}

// decodeTransform reads what a request for a signature wants; nil when it wants nothing.
func decodeTransform(text json.RawMessage) (*transform, error) {
	var t *transform
	if len(text) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(text, &t); err != nil {
		return nil, errInvalidParameter("transform must be an object with width, height, resize, quality and format").Because(err)
	}
	if t == nil || *t == (transform{}) {
		return nil, nil
	}
	return t, t.check()
}

func (t *transform) check() error {
	switch {
	case t.Width < 0 || t.Height < 0:
		return errInvalidParameter("width and height must not be negative")
	case t.Quality != 0 && (t.Quality < 20 || t.Quality > 100):
		return errInvalidParameter("quality must be from 20 to 100")
	case t.Format != "" && !slices.Contains(formats, t.Format):
		return errInvalidParameter("format must be one of " + strings.Join(formats, ", "))
	case t.Resize == "frame":
		if t.Width != shareWidth || t.Height != shareHeight || t.Format != "jpeg" || t.Quality != 0 {
			return errInvalidParameter("resize=frame is made as width=1200&height=630&format=jpeg alone")
		}
	case t.Resize != "" && !slices.Contains(resizes, t.Resize):
		return errInvalidParameter("resize must be one of " + strings.Join(resizes, ", "))
	}
	if t.tile != nil && (t.Width != 0 || t.Height != 0 || t.Resize != "" || t.Quality != 0 || t.Format != "" && t.Format != "webp") {
		return errInvalidParameter("a tile has its own size, in WebP")
	}
	return nil
}

// order turns a wish into what is made of a picture of that size, without the format. free sizes are made as they were asked for;
// others are snapped to the picture's widths and the engine's own quality.
func (t *transform) order(width, height int, free bool) rendition.Order {
	if t.Resize == "frame" {
		return shareOrder()
	}
	available := widths(width, height)
	most := max(maxTransform, available[len(available)-1])
	w, h := min(t.Width, most), min(t.Height, most)
	o := rendition.Order{Fit: rendition.Contain}
	if free && t.Quality != 0 {
		o.Quality = min(100, (t.Quality+2)/5*5)
	}
	if t.Resize == "contain" || w == 0 || h == 0 {
		switch byHeight := int(math.Round(float64(h) * float64(width) / float64(height))); {
		case w == 0 && h == 0:
			w = available[len(available)-1]
		case w == 0, h != 0 && byHeight < w:
			w = byHeight
		}
		if o.Width = max(1, min(w, width, most, maxSideWebP*width/height)); !free {
			o.Width = snap(available, o.Width)
		}
		return o
	}
	if o.Fit = rendition.Cover; t.Resize == "fill" {
		o.Fit = rendition.Fill
	}
	if o.Width, o.Height = w, h; !free {
		shape := nearestShape(w, h)
		o.Width = snap(available, w)
		o.Height = max(1, int(math.Round(float64(o.Width)*shape)))
	}
	return o
}

// formatsFor lists what may be answered, the best first: what was asked for, or what Accept (RFC 9110 §12.5.1) takes.
// AVIF stands there for the case that it exists already: nobody waits for it who has not asked for it.
func (t *transform) formatsFor(accept, source string) []rendition.Format {
	switch t.Format {
	case "avif":
		return []rendition.Format{rendition.AVIF}
	case "webp":
		return []rendition.Format{rendition.WebP}
	case "jpeg":
		return []rendition.Format{rendition.JPEG}
	case "origin":
		if source == "image/jpeg" || source == "image/tiff" || source == "image/heic" {
			return []rendition.Format{rendition.JPEG}
		}
		return []rendition.Format{rendition.WebP} // PNG and GIF too: nothing here writes them, and WebP keeps what shows through
	}
	avif, webp := accepted(accept)
	switch {
	case avif && webp:
		return []rendition.Format{rendition.AVIF, rendition.WebP}
	case webp:
		return []rendition.Format{rendition.WebP}
	}
	return []rendition.Format{rendition.JPEG}
}

// accepted reads an Accept header. Only who names AVIF gets it; who takes any picture, or says nothing, gets WebP.
func accepted(accept string) (avif, webp bool) {
	if strings.TrimSpace(accept) == "" {
		return false, true
	}
	refused := false
	for part := range strings.SplitSeq(accept, ",") {
		name, params, err := mime.ParseMediaType(part)
		if err != nil {
			continue
		}
		no := false
		if q, ok := params["q"]; ok {
			weight, err := strconv.ParseFloat(q, 64)
			no = err != nil || weight <= 0
		}
		switch name {
		case "image/avif":
			avif = !no
		case "image/webp":
			webp, refused = webp || !no, no
		case "image/*", "*/*":
			webp = webp || !no
		}
	}
	return avif, webp && !refused
}

var mediaTypes = map[rendition.Format]string{rendition.WebP: "image/webp", rendition.JPEG: "image/jpeg", rendition.AVIF: "image/avif"}
