package rendition

// Limits bound what one job may cost. Zero values take the defaults.
type Limits struct {
	MaxPixels int64 `json:"max_pixels,omitempty"` // width × height of a source or a rendition
	MaxSide   int   `json:"max_side,omitempty"`   // longer side of a source in pixels
	Memory    int64 `json:"memory,omitempty"`     // bytes a job is estimated to need at most
}

// The defaults: 120 megapixels hold every camera and most scans; a decoder asked for more takes gigabytes.
const (
	DefaultMaxPixels = 120_000_000
	DefaultMaxSide   = 30_000
	DefaultMemory    = 1_500_000_000
)

// reserve are the bytes that encoders and the small pictures take beside the decoded source.
const reserve = 150_000_000

func (l Limits) orDefaults() Limits {
	if l.MaxPixels <= 0 {
		l.MaxPixels = DefaultMaxPixels
	}
	if l.MaxSide <= 0 {
		l.MaxSide = DefaultMaxSide
	}
	if l.Memory <= 0 {
		l.Memory = DefaultMemory
	}
	return l
}

// Header is what the first bytes of a picture tell, before anything is decoded. Width and Height are pixels as stored,
// before the EXIF turn. Memory are the bytes that a job on it is estimated to need.
type Header struct {
	MimeType string
	Width    int
	Height   int
	Memory   int64
}

func (l Limits) check(h Header) error {
	l = l.orDefaults()
	switch {
	case h.Width <= 0 || h.Height <= 0:
		return ErrUnreadable.Becausef("%d x %d pixels", h.Width, h.Height)
	case max(h.Width, h.Height) > l.MaxSide:
		return ErrTooLarge.Becausef("%d x %d pixels, at most %d a side", h.Width, h.Height, l.MaxSide)
	case int64(h.Width)*int64(h.Height) > l.MaxPixels:
		return ErrTooLarge.Becausef("%d x %d pixels, at most %d in all", h.Width, h.Height, l.MaxPixels)
	case h.Memory > l.Memory:
		return ErrTooLarge.Becausef("needs about %d bytes of memory, at most %d", h.Memory, l.Memory)
	}
	return nil
}
