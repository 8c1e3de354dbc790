package rendition

import (
	"errors"
	"image"
	"io"
	"os"

	"atelie/internal/media/metadata"
	"atelie/internal/media/rendition/colour"
)

// session is the state of one job in a worker process. ownSession and vipsSession, the sessions of the two engines, embed it.
type session struct {
	job       Job
	limits    Limits
	header    Header          // type and size of the source as stored
	info      metadata.Info   // metadata of the source
	profile   *colour.Profile // nil if the picture has no usable colour profile
	w, h      int             // size of the picture in pixels as shown
	wide      bool            // renditions are in Display P3 if their format allows it
	layouts   []layout        // one for each of job.Orders
	made      []MadeFile      // the finished renditions, one for each of job.Orders
	xmp, exif []byte          // blocks with creator and rights, to embed in the renditions
}

// layout says how the rendition of one order is made. The function Layout computes all fields except fromSource.
type layout struct {
	crop       Rect // part of the picture that the rendition shows
	w, h       int  // size of that part in the rendition, in pixels
	fromSource bool // own engine only: the reduced picture has too few pixels, so the rendition is made from the source
}

// scale returns the ratio of a rendition's width to the width of its crop, or the ratio of the heights if that is larger.
func (l layout) scale() float64 {
	return max(float64(l.w)/float64(l.crop.Width), float64(l.h)/float64(l.crop.Height))
}

func newSession(job Job, limits Limits) session {
	return session{job: job, limits: limits.withDefaults(), made: make([]MadeFile, len(job.Orders))}
}

// open opens the source, reads its header and metadata, and checks the limits. The caller closes the file.
func (s *session) open(readHeader func(io.ReadSeeker) (Header, error)) (*os.File, error) {
	f, err := os.Open(s.job.Source)
	if err != nil {
		return nil, err
	}
	if err := s.readSource(f, readHeader); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// readSource sets the fields that depend on the source alone.
func (s *session) readSource(f io.ReadSeeker, readHeader func(io.ReadSeeker) (Header, error)) (err error) {
	if s.header, err = readHeader(f); err != nil {
		return err
	}
	if err = s.limits.check(s.header); err != nil {
		return err
	}
	if s.info, err = metadata.Read(f, s.header.MimeType); err != nil {
		return ErrUnreadable.Because(err)
	}
	s.w, s.h = s.header.Width, s.header.Height
	if s.info.Orientation > 4 { // shown rotated by 90 degrees
		s.w, s.h = s.h, s.w
	}
	// Like browsers, this package treats a picture with an unusable profile as sRGB.
	if p, err := colour.Parse(s.info.Profile); err == nil {
		s.profile = p
	}
	s.xmp = metadata.RightsXMP(s.info.Creator, s.info.Rights)
	s.exif = metadata.RightsEXIF(s.info.Creator, s.info.Rights)
	return nil
}

// isSRGB reports whether the profile, which must not be nil, is equal to sRGB within rounding.
func (s *session) isSRGB() bool {
	t, err := colour.NewTransform(s.profile, colour.SRGB)
	return err == nil && t.Identity()
}

// profileToEmbed returns the colour profile for a file in Display P3; nil for sRGB, which needs none.
func profileToEmbed(p3 bool) []byte {
	if p3 {
		return colour.DisplayP3Profile
	}
	return nil
}

// computeLayouts computes the layouts of all orders.
func (s *session) computeLayouts() error {
	for _, order := range s.job.Orders {
		crop, w, h, err := Layout(order, s.w, s.h)
		if err != nil {
			return err
		}
		if int64(w)*int64(h) > s.limits.MaxPixels || int64(order.Width)*int64(order.Height) > s.limits.MaxPixels {
			return ErrTooLarge.Becausef("a rendition of %d x %d pixels", w, h)
		}
		s.layouts = append(s.layouts, layout{crop: crop, w: w, h: h})
	}
	return nil
}

// deltaEOrder returns the index of the order whose rendition is measured for DeltaE: the smallest WebP of the whole picture that
// is at least as wide as the first of MainWidths and at most twice as wide; -1 if there is none.
func (s *session) deltaEOrder() int {
	found := -1
	for i, p := range s.layouts {
		o := s.job.Orders[i]
		if o.Format == WebP && o.Fit != Frame && p.crop == (Rect{0, 0, s.w, s.h}) && p.w >= min(MainWidths[0], s.w) && p.w <= 2*MainWidths[0] &&
			(found < 0 || p.w*p.h < s.layouts[found].w*s.layouts[found].h) {
			found = i
		}
	}
	return found
}

// computeFacts returns the facts of the source without DeltaE. swatch is a small copy of the source in sRGB.
func (s *session) computeFacts(swatch *image.NRGBA, alpha bool) Facts {
	f := Facts{
		MimeType: s.header.MimeType, Width: s.w, Height: s.h, Alpha: alpha, Thumbhash: makeThumbhash(swatch),
		Color: formatHex(dominantColour(swatch)), Wide: s.wide, Creator: s.info.Creator, Rights: s.info.Rights,
	}
	if s.profile != nil {
		f.Profile = s.profile.Description()
	}
	return f
}
