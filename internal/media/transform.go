package media

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"atelie/internal/files"
	"atelie/internal/httpx"
	"atelie/internal/media/rendition"
)

// This file reads the parameters of a request that describe the requested rendition (a copy of a picture in another size, shape or format),
// such as ?width=640&height=480&resize=cover&quality=80. accept.go reads the Accept header.

// maxRequestedSide is the limit for requested widths and heights in pixels (Supabase's limit is 2000). A larger width or height is reduced
// to this limit or, if that is more, to the width of the picture's widest rendition.
const maxRequestedSide = 2560

// transform is the requested rendition, with the fields of TransformOptions in supabase-js. Fields that are missing in the request are 0 or
// "". The token of a signed URL contains the transform as JSON.
type transform struct {
	Width   int     `json:"width,omitempty"`   // pixels
	Height  int     `json:"height,omitempty"`  // pixels
	Resize  string  `json:"resize,omitempty"`  // how the picture fits the size: one of resizeModes, or frameMode
	Format  string  `json:"format,omitempty"`  // format of the rendition: one of formats
	Quality int     `json:"quality,omitempty"` // 20 to 100; 0 means the engine's default
	tile    *[2]int // column and row of a tile (a square of 1024 pixels of the full size); nil for other renditions
}

// The allowed values of Resize and Format.
var (
	resizeModes = []string{"cover", "contain", "fill"}
	formats     = []string{"origin", "avif", "webp", "jpeg"}
)

// frameMode is the resize mode of the share picture (for link previews): the whole picture on a background. Supabase does not have it.
const frameMode = "frame"

// parseTransform reads a transform from the parameters of a URL and validates it.
func parseTransform(q url.Values) (t transform, err error) {
	for _, param := range []struct {
		name  string
		field *int
	}{{"width", &t.Width}, {"height", &t.Height}, {"quality", &t.Quality}} {
		text := q.Get(param.name)
		if text == "" {
			continue
		}
		v, err := strconv.ParseInt(text, 10, 32)
		if err != nil {
			return t, files.ErrInvalidParameter(param.name + " must be a whole number")
		}
		*param.field = int(v)
	}
	t.Resize, t.Format = q.Get("resize"), q.Get("format")
	if text := q.Get("tile"); text != "" {
		column, row, _ := strings.Cut(text, ",") // without a comma, row is "", and parsing it fails
		c, errC := strconv.ParseUint(column, 10, 16)
		r, errR := strconv.ParseUint(row, 10, 16)
		if errC != nil || errR != nil {
			return t, files.ErrInvalidParameter("tile must be a column and a row, such as 0,2")
		}
		t.tile = &[2]int{int(c), int(r)}
	}
	return t, t.validate()
}

// ReadTransform checks the transform in the body of a request to sign a URL, and returns it as the token contains it. The
// result is nil if the body has no transform or an empty one; the signed URL is then for the file itself.
func (s *Service) ReadTransform(text json.RawMessage) (json.RawMessage, error) {
	var t *transform
	if len(text) == 0 {
		return nil, nil
	}
	if err := httpx.UnmarshalLenient(text, &t); err != nil {
		return nil, files.ErrInvalidParameter("transform must be an object with width, height, resize, quality and format").Because(err)
	}
	if t == nil || *t == (transform{}) {
		return nil, nil
	}
	if err := t.validate(); err != nil {
		return nil, err
	}
	return json.Marshal(t)
}

// validate returns an error for values that are not allowed.
func (t *transform) validate() error {
	switch {
	case t.Width < 0 || t.Height < 0:
		return files.ErrInvalidParameter("width and height must not be negative")
	case t.Quality != 0 && (t.Quality < 20 || t.Quality > 100):
		return files.ErrInvalidParameter("quality must be from 20 to 100")
	case t.Format != "" && !slices.Contains(formats, t.Format):
		return files.ErrInvalidParameter("format must be one of " + strings.Join(formats, ", "))
	case t.Resize == frameMode:
		if t.Width != shareWidth || t.Height != shareHeight || t.Format != "jpeg" || t.Quality != 0 {
			return files.ErrInvalidParameter("resize=frame needs width=1200, height=630 and format=jpeg")
		}
	case t.Resize != "" && !slices.Contains(resizeModes, t.Resize):
		return files.ErrInvalidParameter("resize must be one of " + strings.Join(resizeModes, ", "))
	}
	if t.tile != nil && (t.Width != 0 || t.Height != 0 || t.Resize != "" || t.Quality != 0 || t.Format != "" && t.Format != "webp") {
		return files.ErrInvalidParameter("a tile has its own size, in WebP")
	}
	return nil
}

// order returns the order for a picture of that size, without the format. If exact is true, the order has the requested size,
// and the requested quality rounded to a multiple of 5. If exact is false, the size is snapped to the picture's widths, and the
// quality is the engine's default.
func (t *transform) order(width, height int, exact bool) rendition.Order {
	if t.Resize == frameMode {
		return shareOrder()
	}
	available := widths(width, height)
	limit := max(maxRequestedSide, available[len(available)-1])
	w, h := min(t.Width, limit), min(t.Height, limit)
	o := rendition.Order{Fit: rendition.Contain}
	if exact && t.Quality != 0 {
		o.Quality = min(100, (t.Quality+2)/5*5)
	}
	if t.Resize == "contain" || w == 0 || h == 0 {
		switch byHeight := int(math.Round(float64(h) * float64(width) / float64(height))); {
		case w == 0 && h == 0:
			w = available[len(available)-1]
		case w == 0, h != 0 && byHeight < w:
			w = byHeight
		}
		if o.Width = max(1, min(w, width, limit, maxSideWebP*width/height)); !exact {
			o.Width = snap(available, o.Width)
		}
		return o
	}
	if o.Fit = rendition.Cover; t.Resize == "fill" {
		o.Fit = rendition.Fill
	}
	if o.Width, o.Height = w, h; !exact {
		shape := nearestShape(w, h)
		o.Width = snap(available, w)
		o.Height = max(1, int(math.Round(float64(o.Width)*shape)))
	}
	return o
}

// transformationsHeader returns the value of Supabase's X-Transformations header for a rendition.
func (t *transform) transformationsHeader(o rendition.Order, exact bool) string {
	var out []string
	add := func(name string, value any) { out = append(out, fmt.Sprintf("%s:%v", name, value)) }
	if t.tile != nil {
		add("tile", fmt.Sprintf("%d:%d", t.tile[0], t.tile[1]))
	}
	if t.Width != 0 || t.Height != 0 {
		width, height := o.Width, o.Height
		if exact || t.Resize == frameMode {
			width, height = min(t.Width, max(maxRequestedSide, o.Width)), min(t.Height, max(maxRequestedSide, o.Height))
		}
		if height != 0 {
			add("height", height)
		}
		if width != 0 {
			add("width", width)
		}
		add("resizing_type", cmp.Or(resizingTypes[t.Resize], "fill"))
	}
	if o.Quality != 0 {
		add("quality", o.Quality)
	}
	if t.Format != "" && t.Format != "origin" {
		add("format", t.Format)
	}
	return strings.Join(out, ",")
}

// resizingTypes maps values of transform.Resize to those of resizing_type in X-Transformations; for all other values that is "fill".
var resizingTypes = map[string]string{"contain": "fit", "fill": "force", frameMode: "frame"}

// mediaTypes are the MIME types of the formats.
var mediaTypes = map[rendition.Format]string{
	rendition.WebP: files.WebP.MIME, rendition.JPEG: files.JPEG.MIME, rendition.AVIF: files.AVIF.MIME, rendition.PNG: files.PNG.MIME,
}
