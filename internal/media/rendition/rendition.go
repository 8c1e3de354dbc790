// Package rendition makes renditions of a picture: copies in other sizes, shapes and formats. Each job runs in a worker process of its own,
// so that a hostile file can crash only that process. Two engines make renditions: the library libvips, if it is installed, and this
// package's own engine.
package rendition

// MainWidths are the widths in pixels of the most used renditions. The first width is the smallest in which the gallery shows a complete
// picture. Package media decides which of these widths a picture gets.
var MainWidths = [...]int{320, 640, 1024, 1600, 2560}

// ExtraWidths are further widths in pixels. With the widths between the main widths, browsers need not load a rendition that is more than
// 1.3 times as wide as it is shown. The widths from 64 to 256 are for portraits and thumbnails in lists.
var ExtraWidths = [...]int{64, 128, 192, 256, 400, 512, 800, 1280, 2048}

// Format is how a rendition is encoded.
type Format string

// The formats. AVIF needs libvips. JPEG and PNG are always in sRGB, because programs that show them may ignore colour profiles.
const (
	WebP Format = "webp"
	JPEG Format = "jpeg"
	AVIF Format = "avif"
	PNG  Format = "png"
)

// alwaysSRGB reports whether renditions of the format are always in sRGB.
func (f Format) alwaysSRGB() bool { return f == JPEG || f == PNG }

// Fit says how a picture is fitted into the size of an Order (its Width and Height).
type Fit string

// The values of Fit. Supabase's transforms have the first three values too.
const (
	Contain Fit = "contain" // the whole picture, within the size
	Cover   Fit = "cover"   // fills the size; crops the parts of the picture that do not fit
	Fill    Fit = "fill"    // exactly the size; may distort the picture
	Frame   Fit = "frame"   // exactly the size: the whole picture on a background of its dominant colour; for link previews
)

// Rect is a part of a picture in pixels as shown, after the EXIF rotation.
type Rect struct{ X, Y, Width, Height int }

// Order describes a rendition to be made. Only Frame and Fill enlarge a picture.
type Order struct {
	Width   int    `json:"width,omitempty"`   // pixels; 0 means in proportion to Height; if both are 0, the size of the picture or Crop
	Height  int    `json:"height,omitempty"`  // pixels; 0 means in proportion to Width
	Fit     Fit    `json:"fit,omitempty"`     // "" means Contain
	Quality int    `json:"quality,omitempty"` // 1 to 100; 0 means the engine's default
	Format  Format `json:"format"`
	Crop    Rect   `json:"crop,omitzero"` // the part of the picture to render, such as a tile for zooming in; empty means the whole picture
}

// Job lists the renditions to make of one picture file, its source. The source is decoded once for all renditions.
type Job struct {
	Source     string  `json:"source"`          // path of the file
	Folder     string  `json:"folder"`          // the folder in which the result's files are created; it must exist
	NeedsFacts bool    `json:"facts,omitempty"` // the result must contain Facts
	Orders     []Order `json:"orders,omitempty"`
	// Urgent is set if somebody waits for the result. The job then does not count towards Config.Workers, pauses the jobs that are not
	// urgent, and gets more processor time than they do.
	Urgent bool `json:"urgent,omitempty"`
}

// MadeFile is the file of a finished rendition. Width and Height are in pixels.
type MadeFile struct {
	Order  Order  `json:"order"`
	File   string `json:"file"` // path
	Width  int    `json:"width"`
	Height int    `json:"height"`
	Size   int64  `json:"size"`         // bytes
	P3     bool   `json:"p3,omitempty"` // the colours are in Display P3, not sRGB
}

// Facts describe a source: the picture file of a job.
type Facts struct {
	MimeType  string  `json:"mime_type"`
	Width     int     `json:"width"`               // pixels as shown
	Height    int     `json:"height"`              // pixels as shown
	Alpha     bool    `json:"alpha,omitempty"`     // the picture has transparent pixels
	Thumbhash []byte  `json:"thumbhash,omitempty"` // the placeholder: a blurred picture in about 21 bytes
	Color     string  `json:"color,omitempty"`     // dominant colour, #rrggbb in sRGB
	Profile   string  `json:"profile,omitempty"`   // the description that the colour profile contains; "" if there is no profile
	Wide      bool    `json:"wide,omitempty"`      // has colours so far outside sRGB that renditions are in P3 where the format allows
	Creator   string  `json:"creator,omitempty"`
	Rights    string  `json:"rights,omitempty"`
	DeltaE    float64 `json:"delta_e,omitempty"` // mean CIEDE2000 difference between the source and the rendition of deltaEOrder
}

// Result is the result of a job.
type Result struct {
	Engine string     `json:"engine"` // "atelie" or "vips"
	Facts  Facts      `json:"facts"`
	Made   []MadeFile `json:"made,omitempty"`
}
