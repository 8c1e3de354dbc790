package media

import (
	"context"
	"encoding/json"
	"strings"

	"atelie/internal/files"
	"atelie/internal/media/film"
)

// description is what a page needs to know about a picture or a film before the browser has loaded the file. Sizes are in
// pixels.
type description struct {
	Version   string       `json:"v,omitempty"` // version of the content; URLs of renditions contain it, so caches may keep them for ever
	Kind      string       `json:"kind"`        // image or video
	Width     int          `json:"width"`
	Height    int          `json:"height"`
	Thumbhash []byte       `json:"thumbhash,omitempty"` // a tiny placeholder picture
	Color     string       `json:"color,omitempty"`     // dominant colour, #rrggbb
	Widths    []int        `json:"widths,omitempty"`    // widths of the available renditions
	Tiles     *bool        `json:"tiles,omitempty"`     // true if there are also tiles of the full size
	Focus     *[2]float64  `json:"focus,omitempty"`     // the point that crops keep visible, as fractions of width and height from the top left
	Duration  *float64     `json:"duration,omitempty"`  // seconds
	Codec     *string      `json:"codec,omitempty"`
	Plays     *bool        `json:"plays,omitempty"`  // true if every current browser plays the film
	Poster    string       `json:"poster,omitempty"` // URL of the film's still, the picture shown in place of the film
	Still     *description `json:"still,omitempty"`
	Details   *details     `json:"details,omitempty"`
}

// details are for the owner: how a picture's renditions were made. File sizes are in bytes.
type details struct {
	State    string        `json:"state"`
	Reason   string        `json:"reason,omitempty"` // code of a failure (reason.go)
	Engine   string        `json:"engine,omitempty"` // atelie or vips
	Original int64         `json:"original"`         // size of the file as it was uploaded
	Public   int64         `json:"public"`           // size of the public file
	Ladder   map[int]int64 `json:"ladder"`           // sizes of the WebP renditions, by width
	DeltaE   float64       `json:"delta_e"`          // colour difference between file and rendition (rendition.Facts)
	Profile  string        `json:"profile,omitempty"`
	Wide     bool          `json:"wide"` // renditions are in Display P3
	Creator  string        `json:"creator,omitempty"`
	Rights   string        `json:"rights,omitempty"`
}

// Describe returns descriptions of the files at public URLs, as JSON by URL. URLs of unknown files are left out.
// If detailed is true, the descriptions include details, which only the owner may see.
func (s *Service) Describe(ctx context.Context, urls []string, detailed bool) (map[string]json.RawMessage, error) {
	names := map[string]objectName{}
	var wanted []objectName
	for _, publicURL := range urls {
		b, name, ok := files.ParsePublicURL(publicURL)
		if !ok {
			continue
		}
		names[publicURL] = objectName{b, name}
		wanted = append(wanted, names[publicURL])
		if still, ok := files.StillOf(name); ok {
			wanted = append(wanted, objectName{b, still})
		}
	}
	out := map[string]json.RawMessage{}
	if len(wanted) == 0 {
		return out, nil
	}
	known, err := listMediaObjects(ctx, s.db, wanted)
	if err != nil {
		return nil, err
	}
	var ladders map[string]map[int]int64
	if detailed {
		ids := make([]string, 0, len(known))
		for _, k := range known {
			ids = append(ids, k.ObjectID)
		}
		if ladders, err = listLadders(ctx, s.db, ids); err != nil {
			return nil, err
		}
	}
	for publicURL, name := range names {
		k, ok := known[name]
		// About a film that cannot be read, visitors get only its still.
		d := description{Kind: "video"}
		read := ok && (detailed || k.Kind != "video" || k.Codec != nil)
		if read {
			d = describe(k)
		}
		if !d.poster(publicURL, name, known) && !read {
			continue
		}
		if read && detailed {
			d.Details = k.details(ladders[k.ObjectID])
		}
		if out[publicURL], err = json.Marshal(d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func describe(s mediaObject) description {
	f := s.Facts
	d := description{Kind: s.Kind, Width: f.Width, Height: f.Height, Color: f.Color, Duration: s.Duration, Codec: s.Codec}
	if s.Kind != "image" {
		plays := s.Codec != nil && film.Info{Codec: *s.Codec}.Plays()
		d.Version, d.Plays = version(s.Object), &plays
		return d
	}
	has := tiled(f.Width, f.Height)
	d.Version, d.Thumbhash, d.Widths, d.Tiles = version(s.Object), f.Thumbhash, widths(f.Width, f.Height), &has
	if s.FocusX != nil && s.FocusY != nil {
		d.Focus = &[2]float64{*s.FocusX, *s.FocusY}
	}
	return d
}

// poster adds the still to the description of the film at a URL. It reports whether there is one.
func (d *description) poster(at string, name objectName, known map[objectName]mediaObject) bool {
	still, isFilm := files.StillOf(name.Name)
	k, ok := known[objectName{name.Bucket, still}]
	if !isFilm || d.Kind != "video" || !ok || k.media == nil || k.Kind != "image" || k.State == stateFailed {
		return false
	}
	at, _, _ = strings.Cut(at, "#")
	at, _, _ = strings.Cut(at, "?")
	if d.Poster, ok = files.StillOf(at); ok { // also right for a URL with percent-escapes, because an extension has none
		picture := describe(k)
		d.Still = &picture
		if d.Width == 0 {
			d.Width, d.Height = picture.Width, picture.Height
		}
	}
	return ok
}

func (s mediaObject) details(ladder map[int]int64) *details {
	d := &details{
		State: s.State, Reason: s.Reason, Engine: s.Engine, Original: s.Size, Public: s.Size, Ladder: ladder, DeltaE: s.Facts.DeltaE,
		Profile: s.Facts.Profile, Wide: s.Facts.Wide, Creator: s.Facts.Creator, Rights: s.Facts.Rights,
	}
	if s.Original != nil {
		d.Original = s.Original.Size
	}
	if d.Ladder == nil {
		d.Ladder = map[int]int64{}
	}
	return d
}

// SetFocus saves the focus point of the picture at a public URL: x and y are parts of its width and height. It returns
// false if there is no picture.
func (s *Service) SetFocus(ctx context.Context, at string, x, y float64) (bool, error) {
	b, name, ok := files.ParsePublicURL(at)
	if !ok {
		return false, nil
	}
	return setFocus(ctx, s.db, b, name, x, y, s.now())
}
