package storage

import (
	"context"
	"encoding/json"
	"strings"

	"atelie/internal/storage/film"
)

// description is what pages know of a picture or a film before it is there. Version belongs into addresses of
// renditions: with it they can be kept for ever. Widths are those that can be had, in pixels; Tiles says that there are
// tiles of the full size too; Focus is the point that must stay in sight, in parts of width and height from the top
// left corner. Duration is in seconds; Plays says that every browser can be expected to play the film, Poster is the
// address of its still, and Still what is known of that.
type description struct {
	Version   string       `json:"v,omitempty"`
	Kind      string       `json:"kind"`
	Width     int          `json:"width"`
	Height    int          `json:"height"`
	Thumbhash []byte       `json:"thumbhash,omitempty"`
	Color     string       `json:"color,omitempty"`
	Widths    []int        `json:"widths,omitempty"`
	Tiles     *bool        `json:"tiles,omitempty"`
	Focus     *[2]float64  `json:"focus,omitempty"`
	Duration  *float64     `json:"duration,omitempty"`
	Codec     *string      `json:"codec,omitempty"`
	Plays     *bool        `json:"plays,omitempty"`
	Poster    string       `json:"poster,omitempty"`
	Still     *description `json:"still,omitempty"`
	Details   *details     `json:"details,omitempty"`
}

// details are for the owner: how a picture's renditions came about. Reason is a code (see reason.go). Sizes are in bytes: of the file as it was uploaded,
// of the public one, and of the rungs of the ladder in WebP by width.
type details struct {
	State    string        `json:"state"`
	Reason   string        `json:"reason,omitempty"`
	Engine   string        `json:"engine,omitempty"`
	Original int64         `json:"original"`
	Public   int64         `json:"public"`
	Ladder   map[int]int64 `json:"ladder"`
	DeltaE   float64       `json:"delta_e"`
	Profile  string        `json:"profile,omitempty"`
	Wide     bool          `json:"wide"`
	Creator  string        `json:"creator,omitempty"`
	Rights   string        `json:"rights,omitempty"`
}

// placeOf gives the bucket and name at a public address.
func placeOf(at string) (bucket, name string, ok bool) {
	full, ok := objectOf(at)
	bucket, name, cut := strings.Cut(full, "/")
	return bucket, name, ok && cut && storable(full)
}

// Describe gives what is known of the files at public addresses, as JSON by address; others are left out. detailed adds what
// only the owner sees.
func (s *Service) Describe(ctx context.Context, addresses []string, detailed bool) (map[string]json.RawMessage, error) {
	names := map[string]address{}
	var wanted []address
	for _, a := range addresses {
		b, name, ok := placeOf(a)
		if !ok {
			continue
		}
		names[a] = address{b, name}
		wanted = append(wanted, names[a])
		if still, ok := stillOf(name); ok {
			wanted = append(wanted, address{b, still})
		}
	}
	out := map[string]json.RawMessage{}
	if len(wanted) == 0 {
		return out, nil
	}
	known, err := listShown(ctx, s.db, wanted)
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
	for a, name := range names {
		k, ok := known[name]
		// Of a film that cannot be read visitors learn nothing but the still that its owner chose.
		d := description{Kind: "video"}
		read := ok && (detailed || k.Kind != "video" || k.Codec != nil)
		if read {
			d = describe(k)
		}
		if !d.poster(a, name, known) && !read {
			continue
		}
		if read && detailed {
			d.Details = k.details(ladders[k.ObjectID])
		}
		if out[a], err = json.Marshal(d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func describe(s shown) description {
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

// poster adds the still of a film, at the address that the film's own gives, and tells whether there is one.
func (d *description) poster(at string, name address, known map[address]shown) bool {
	still, isFilm := stillOf(name.Name)
	k, ok := known[address{name.Bucket, still}]
	if !isFilm || d.Kind != "video" || !ok || k.media == nil || k.Kind != "image" || k.State == failed {
		return false
	}
	at, _, _ = strings.Cut(at, "#")
	at, _, _ = strings.Cut(at, "?")
	if d.Poster, ok = stillOf(at); ok { // also of an address that is escaped: nothing in an ending ever is
		picture := describe(k)
		d.Still = &picture
		if d.Width == 0 {
			d.Width, d.Height = picture.Width, picture.Height
		}
	}
	return ok
}

func (s shown) details(ladder map[int]int64) *details {
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

// SetFocus notes the point of a picture that must stay in sight; false when there is no picture at the address.
func (s *Service) SetFocus(ctx context.Context, at string, x, y float64) (bool, error) {
	b, name, ok := placeOf(at)
	if !ok {
		return false, nil
	}
	return setFocus(ctx, s.db, b, name, x, y, s.now())
}
