package rendition

import "cmp"

// Limits are the limits of one job. A zero value means the default.
type Limits struct {
	MaxPixels int64 `json:"max_pixels,omitempty"` // width × height of a source or a rendition
	MaxSide   int   `json:"max_side,omitempty"`   // longer side of a source in pixels
	Memory    int64 `json:"memory,omitempty"`     // maximum estimated memory of a job in bytes
}

// The defaults of Limits. 120 megapixels are enough for all cameras and most scans. Decoding more needs gigabytes of memory.
const (
	DefaultMaxPixels = 120_000_000
	DefaultMaxSide   = 30_000
	DefaultMemory    = 1_500_000_000
)

// fixedMemory is the memory in bytes that each job needs for encoders and small pictures, besides the decoded source.
const fixedMemory = 150_000_000

// withDefaults returns the limits with the defaults in place of zeros.
func (l Limits) withDefaults() Limits {
	return Limits{cmp.Or(l.MaxPixels, DefaultMaxPixels), cmp.Or(l.MaxSide, DefaultMaxSide), cmp.Or(l.Memory, DefaultMemory)}
}

// Header is what ReadHeader finds in the first bytes of a picture.
type Header struct {
	MimeType string
	Width    int   // pixels as stored, before the EXIF rotation
	Height   int   // pixels as stored
	Memory   int64 // estimated memory of a job in bytes
}

func (h Header) pixels() int64 { return int64(h.Width) * int64(h.Height) }

// check returns an error for a picture that exceeds the limits, or has no pixels.
func (l Limits) check(h Header) error {
	l = l.withDefaults()
	switch {
	case h.Width <= 0 || h.Height <= 0:
		return ErrUnreadable.Becausef("%d x %d pixels", h.Width, h.Height)
	case max(h.Width, h.Height) > l.MaxSide:
		return ErrTooLarge.Becausef("%d x %d pixels, at most %d a side", h.Width, h.Height, l.MaxSide)
	case h.pixels() > l.MaxPixels:
		return ErrTooLarge.Becausef("%d x %d pixels, at most %d in all", h.Width, h.Height, l.MaxPixels)
	case h.Memory > l.Memory:
		return ErrTooLarge.Becausef("needs about %d bytes of memory, at most %d", h.Memory, l.Memory)
	}
	return nil
}
