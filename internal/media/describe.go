package media

import (
	"context"
	"encoding/json"
	"strings"

	"atelie/internal/files"
	"atelie/internal/media/video"
)

// This file describes pictures and videos for the pages, as JSON, and saves the focus points of pictures. A rendition is a resized copy of
// a picture.

// description is what a page needs to know about a picture or a video before the browser has loaded the file. Sizes are in pixels.
type description struct {
	Version   string       `json:"v,omitempty"` // version of the content; URLs of renditions contain it, so that caches may keep renditions for ever
	Kind      string       `json:"kind"`        // image or video
	Width     int          `json:"width"`
	Height    int          `json:"height"`
	Thumbhash []byte       `json:"thumbhash,omitempty"` // ThumbHash: a blurred placeholder picture in about 21 bytes
	Color     string       `json:"color,omitempty"`     // dominant colour, #rrggbb
	Widths    []int        `json:"widths,omitempty"`    // widths of the available renditions
	Tiles     *bool        `json:"tiles,omitempty"`     // whether the full size is available as tiles (squares, for zooming in); nil for videos
	Focus     *[2]float64  `json:"focus,omitempty"`     // the point that crops keep visible, as fractions of width and height from the top left corner
	Duration  *float64     `json:"duration,omitempty"`  // seconds; nil for pictures
	Codec     *string      `json:"codec,omitempty"`     // codec of a video, such as avc1; nil for pictures
	Plays     *bool        `json:"plays,omitempty"`     // whether every current browser can play the video's codec; nil for pictures
	Poster    string       `json:"poster,omitempty"`    // URL of the video's still (a frame that is stored as a picture), shown before the video plays
	Still     *description `json:"still,omitempty"`     // description of the still; nil if there is none
	Details   *details     `json:"details,omitempty"`   // only for owners
}

// details is what only the owner sees: how a picture's renditions were made. File sizes are in bytes.
type details struct {
	State    string        `json:"state"`             // waiting, ready or failed
	Reason   string        `json:"reason,omitempty"`  // a code: why the state is failed
	Engine   string        `json:"engine,omitempty"`  // what made the renditions: atelie (this program) or vips
	Original int64         `json:"original"`          // size of the file as it was uploaded
	Public   int64         `json:"public"`            // size of the public file
	Ladder   map[int]int64 `json:"ladder"`            // sizes of the WebP renditions in the standard widths, by width in pixels
	DeltaE   float64       `json:"delta_e"`           // difference between the colours of file and rendition (CIEDE2000; 1 is just visible)
	Profile  string        `json:"profile,omitempty"` // name of the file's colour profile
	Wide     bool          `json:"wide"`              // renditions are in Display P3, a colour space that is wider than sRGB
	Creator  string        `json:"creator,omitempty"` // Creator and Rights are from the file's metadata
	Rights   string        `json:"rights,omitempty"`
}

// Describe maps each public URL in urls to the description of its file, as JSON. It leaves out the URLs of unknown files. If detailed is
// true, the descriptions include details, which only the owner may see.
func (s *Service) Describe(ctx context.Context, urls []string, detailed bool) (map[string]json.RawMessage, error) {
	nameByURL := map[string]objectName{}
	var wanted []objectName
	for _, publicURL := range urls {
		bucket, name, ok := files.ParsePublicURL(publicURL)
		if !ok {
			continue
		}
		nameByURL[publicURL] = objectName{bucket, name}
		wanted = append(wanted, nameByURL[publicURL])
		if still, ok := files.StillOf(name); ok {
			wanted = append(wanted, objectName{bucket, still})
		}
	}
	out := map[string]json.RawMessage{}
	if len(wanted) == 0 {
		return out, nil
	}
	objects, err := listMediaObjects(ctx, s.db, wanted)
	if err != nil {
		return nil, err
	}
	var ladders map[string]map[int]int64
	if detailed {
		ids := make([]string, 0, len(objects))
		for _, object := range objects {
			ids = append(ids, object.ObjectID)
		}
		if ladders, err = listLadders(ctx, s.db, ids); err != nil {
			return nil, err
		}
	}
	for publicURL, name := range nameByURL {
		object, ok := objects[name]
		// Visitors get only the still of a video that cannot be read.
		d := description{Kind: "video"}
		described := ok && (detailed || object.Kind != "video" || object.Codec != nil)
		if described {
			d = describe(object)
		}
		if !d.addStill(publicURL, name, objects) && !described {
			continue
		}
		if described && detailed {
			d.Details = object.newDetails(ladders[object.ObjectID])
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
		plays := s.Codec != nil && video.Info{Codec: *s.Codec}.Plays()
		d.Version, d.Plays = urlVersion(s.Object), &plays
		return d
	}
	tiles := hasTiles(f.Width, f.Height)
	d.Version, d.Thumbhash, d.Widths, d.Tiles = urlVersion(s.Object), f.Thumbhash, widths(f.Width, f.Height), &tiles
	if s.FocusX != nil && s.FocusY != nil {
		d.Focus = &[2]float64{*s.FocusX, *s.FocusY}
	}
	return d
}

// addStill adds the still to the description of the video at a URL. It reports whether the video has a still.
func (d *description) addStill(publicURL string, name objectName, known map[objectName]mediaObject) bool {
	still, isVideo := files.StillOf(name.Name)
	k, ok := known[objectName{name.Bucket, still}]
	canBeShown := ok && k.media != nil && k.Kind == "image" && k.State != stateFailed
	if !isVideo || d.Kind != "video" || !canBeShown {
		return false
	}
	publicURL, _, _ = strings.Cut(publicURL, "#")
	publicURL, _, _ = strings.Cut(publicURL, "?")
	if d.Poster, ok = files.StillOf(publicURL); ok { // StillOf is for names, but only reads the extension, which has no percent-escapes
		picture := describe(k)
		d.Still = &picture
		if d.Width == 0 {
			d.Width, d.Height = picture.Width, picture.Height
		}
	}
	return ok
}

func (s mediaObject) newDetails(ladder map[int]int64) *details {
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

// SetFocus saves the focus point of the picture at a public URL. x and y are fractions of its width and height. SetFocus returns
// false if there is no picture.
func (s *Service) SetFocus(ctx context.Context, publicURL string, x, y float64) (bool, error) {
	b, name, ok := files.ParsePublicURL(publicURL)
	if !ok {
		return false, nil
	}
	return setFocus(ctx, s.db, b, name, x, y, s.now())
}
