// Package rendition makes smaller pictures of a picture: a file in, files out. It knows neither database nor HTTP nor
// blobs, so that all of it can run in a process of its own, which a hostile file may kill.
package rendition

// Ladder are the widths in pixels that the site's own pages ask for. A source between two rungs adds its own width.
var Ladder = [...]int{320, 640, 1024, 1600, 2560}

// Steps are widths in pixels between the rungs and below the first, so that no page has to ask for a picture that is more
// than 1.3 times as wide as it is shown there: 64 to 256 are faces and lists.
var Steps = [...]int{64, 128, 192, 256, 400, 512, 800, 1280, 2048}

// Format is how a rendition is encoded.
type Format string

// The formats. AVIF needs libvips.
const (
	WebP Format = "webp"
	JPEG Format = "jpeg"
	AVIF Format = "avif"
)

// Fit says how a picture takes the place it is given.
type Fit string

// The fits: the first three as Supabase's transforms name them. Frame shows the whole work on a ground of its own
// dominant colour, at exactly the size that was asked for: the share picture.
const (
	Contain Fit = "contain"
	Cover   Fit = "cover"
	Fill    Fit = "fill"
	Frame   Fit = "frame"
)

// Rect is a part of a picture in pixels of the picture as it is shown, that is after its EXIF turn.
type Rect struct{ X, Y, Width, Height int }

// Order asks for one rendition. Width and Height are pixels; 0 follows from the other one; both 0 keep the size. A
// picture is never enlarged, but for Frame and Fill. Quality is 1 to 100, 0 takes the engine's own. Crop, when not
// empty, is cut out first: a tile.
type Order struct {
	Width   int    `json:"width,omitempty"`
	Height  int    `json:"height,omitempty"`
	Fit     Fit    `json:"fit,omitempty"`
	Quality int    `json:"quality,omitempty"`
	Format  Format `json:"format"`
	Crop    Rect   `json:"crop,omitzero"`
}

// Job is one source and everything to be made of it in one decode. Folder must exist; the files of the result lie in
// it. Facts asks for the placeholder and the colours too.
type Job struct {
	Source string  `json:"source"`
	Folder string  `json:"folder"`
	Facts  bool    `json:"facts,omitempty"`
	Orders []Order `json:"orders,omitempty"`
}

// Made is one rendition. File is its path, Size in bytes; P3 says that its colours are Display P3 and not sRGB.
type Made struct {
	Order  Order  `json:"order"`
	File   string `json:"file"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Size   int64  `json:"size"`
	P3     bool   `json:"p3,omitempty"`
}

// Facts tell of a source what pages need before it is there. Width and Height are pixels as shown. Thumbhash is the
// placeholder (about 21 bytes), Color the dominant colour as #rrggbb in sRGB. Profile is the colour profile's own
// description, empty without one; Wide says that its colours leave sRGB so far that renditions are made in P3 where the
// format allows. DeltaE is the mean ΔE2000 between source and rendition, measured at the smallest rung of the ladder.
type Facts struct {
	MimeType  string  `json:"mime_type"`
	Width     int     `json:"width"`
	Height    int     `json:"height"`
	Alpha     bool    `json:"alpha,omitempty"`
	Thumbhash []byte  `json:"thumbhash,omitempty"`
	Color     string  `json:"color,omitempty"`
	Profile   string  `json:"profile,omitempty"`
	Wide      bool    `json:"wide,omitempty"`
	Creator   string  `json:"creator,omitempty"`
	Rights    string  `json:"rights,omitempty"`
	DeltaE    float64 `json:"delta_e,omitempty"`
}

// Result is what became of a job. Engine names who made it: "atelie" or "vips".
type Result struct {
	Engine string `json:"engine"`
	Facts  Facts  `json:"facts"`
	Made   []Made `json:"made,omitempty"`
}
