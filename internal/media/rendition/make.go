package rendition

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"

	"atelie/internal/media/rendition/colour"
)

// This file contains the program's own engine. It makes renditions without libvips (a library that is installed separately).

// Engine is the value of Result.Engine for renditions that Make made.
const Engine = "atelie"

// reducedWidth is the maximum width in pixels of the reduced picture: a smaller copy of the source (the picture file of the job). Most
// renditions are made from the reduced picture, because that is faster. Renditions that need more pixels are made from the source.
const reducedWidth = 2560

// wideShare is a share of a picture's pixels, 0 to 1. If sRGB cannot show the colours of more than this share, renditions are made in
// Display P3 (a wider colour space).
const wideShare = 0.005

// maxFrameBytes is the maximum size in bytes of a share picture (the picture for link previews, with the fit Frame). Some messengers do not
// show larger pictures.
const maxFrameBytes = 300_000

// Make makes all renditions of a job with the own engine, in this process. It decodes the source once. It writes the files into job.Folder.
// After an error, some of the files may remain there. If Make rejects the picture or an order (one of the renditions to make), the error
// wraps one of this package's Err values. Any other error is the error of ctx or a failure of the system.
func Make(ctx context.Context, job Job, limits Limits) (Result, error) {
	return makeOwn(ctx, job, limits, false)
}

// makeOwn is Make. If quick is true, it makes only renditions of a source that the own engine decodes in less time than libvips needs to
// start. This is a JPEG that can be decoded at a smaller size, or a source of at most quickPixels. For other sources it returns an error.
func makeOwn(ctx context.Context, job Job, limits Limits, quick bool) (Result, error) {
	s := &ownSession{session: newSession(job, limits), quick: quick}
	if err := s.openSource(ctx); err != nil {
		return Result{}, err
	}
	return s.run(ctx)
}

// quickPixels is the maximum number of pixels of a quick source that is decoded at its full size.
const quickPixels = 8_000_000

// ownSession is the state of one job that the own engine does.
type ownSession struct {
	session

	quick       bool                          // decode rejects a source that takes longer than libvips needs to start
	src         *source                       // the decoded file; nil after makeFromSource
	shrinkRatio float64                       // ratio of src's width to the file's: 1, or less for a JPEG that was decoded at a smaller size
	spaces      map[colour.Space]*targetSpace // sRGB, and Display P3 if renditions are in it
	fullChroma  *targetSpace                  // sRGB with full chroma, for PNG; nil if no PNG is ordered
}

// targetSpace contains the pictures from which the renditions in one colour space are made. Each picture shows the whole source,
// uncropped.
type targetSpace struct {
	transform *colour.Transform // converts the source's colours to the space; nil if no conversion is needed
	reduced   []*picture        // the reduced picture and smaller copies of it, largest first
}

// openSource checks the source and the orders of the job, and decodes the source.
func (s *ownSession) openSource(ctx context.Context) error {
	f, err := s.open(ReadHeader)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // the file was only read
	if err := s.computeLayouts(); err != nil {
		return err
	}
	for i, p := range s.layouts {
		if s.job.Orders[i].Format == AVIF {
			return ErrNeedsVips
		}
		// The factor, in bytes per pixel, was measured with a WebP of 24 megapixels. The memory for renditions up to
		// reducedWidth is a part of fixedMemory.
		needed := s.header
		needed.Memory += 12 * max(0, int64(p.w)*int64(p.h)-reducedWidth*reducedWidth)
		if err := s.limits.check(needed); err != nil {
			return err
		}
	}
	if err := s.decode(f); err != nil {
		return err
	}
	return ctx.Err()
}

// decode decodes the source. It decodes a JPEG only as large as the orders need it. It drops a colour profile that is for other
// channels than the source has.
func (s *ownSession) decode(f io.ReadSeeker) error {
	err := errNeedsFullSize
	if n := s.neededBlockSide(); n < 8 { // n of the 8 samples along the side of a block
		s.shrinkRatio = float64(n) / 8
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			s.src, err = shrunkJPEG(f, n)
		}
	}
	if errors.Is(err, errNeedsFullSize) && (!s.quick || s.header.pixels() <= quickPixels) {
		s.shrinkRatio = 1
		if _, err = f.Seek(0, io.SeekStart); err == nil {
			s.src, err = decode(f, s.header.MimeType)
		}
		if err == nil && (s.src.w != s.header.Width || s.src.h != s.header.Height) {
			err = ErrUnreadable.Becausef("%d x %d pixels in a file of %d x %d", s.src.w, s.src.h, s.header.Width, s.header.Height)
		}
	}
	if err == nil && !s.profileFits() {
		s.profile = nil
	}
	return err
}

// neededBlockSide returns how many of the 8 samples along a side of a JPEG's blocks the orders need: 2, 4 or 8. A source with a
// profile of another space than sRGB is decoded at its full size, because its reduced picture always has the maximum size.
func (s *ownSession) neededBlockSide() int {
	if s.header.MimeType != "image/jpeg" || (s.profile != nil && !s.isSRGB()) {
		return 8
	}
	need := float64(MainWidths[0]) / float64(s.w)
	for _, p := range s.layouts {
		need = max(need, p.scale())
	}
	return shrunkSide(need)
}

// profileFits reports whether the source has no profile, or one for its kind of channels.
func (s *ownSession) profileFits() bool {
	switch {
	case s.profile == nil || s.src.model == gray:
		return true
	case s.src.model == cmyk:
		return s.profile.Space() == colour.CMYK
	}
	return s.profile.Space() == colour.RGB
}

// run makes the renditions of an open session.
func (s *ownSession) run(ctx context.Context) (Result, error) {
	naive, err := colour.NewTransform(s.profile, colour.SRGB)
	if err != nil {
		return Result{}, err
	}
	managed := s.src.model != ycc || (s.profile != nil && !naive.Identity())
	s.spaces = map[colour.Space]*targetSpace{colour.SRGB: {}}
	if managed {
		s.spaces[colour.SRGB].transform = naive
	}
	raw, err := s.makeReduced(ctx, managed)
	if err != nil {
		return Result{}, err
	}
	if s.profile != nil && managed && raw.shareOutsideSRGB(s.profile) > wideShare {
		s.wide = true
		t, err := colour.NewTransform(s.profile, colour.DisplayP3)
		if err != nil {
			return Result{}, err
		}
		s.spaces[colour.DisplayP3] = &targetSpace{transform: t}
	}
	if err := s.makeFromSource(ctx, managed); err != nil {
		return Result{}, err
	}
	s.src = nil
	for _, sp := range s.spaces {
		p, err := raw.paint(ctx, sp.transform)
		if err != nil {
			return Result{}, err
		}
		sp.reduced = []*picture{p}
	}
	if slices.ContainsFunc(s.job.Orders, func(o Order) bool { return o.Format == PNG }) {
		p, err := raw.paintFull(ctx, s.spaces[colour.SRGB].transform)
		if err != nil {
			return Result{}, err
		}
		s.fullChroma = &targetSpace{reduced: []*picture{p}}
	}
	if !s.job.NeedsFacts {
		raw = nil
	}
	small, err := makeSwatch(ctx, s.spaces[colour.SRGB].reduced[0])
	if err != nil {
		return Result{}, err
	}
	if err := s.makeFromReduced(ctx, dominantColour(small)); err != nil {
		return Result{}, err
	}
	result := Result{Engine: Engine, Made: s.made}
	if s.job.NeedsFacts {
		result.Facts = s.computeFacts(small, raw.model == rgba)
		result.Facts.DeltaE, err = s.computeDeltaE(ctx, raw)
	}
	return result, err
}

// makeReduced makes the reduced picture: the whole picture in the source's colours, rotated, and as large as the largest order
// that is not made from the source needs. managed says that the colours must be converted. The reduced picture of a managed
// source with a profile always has the maximum size: its pixels decide about Display P3, and renditions that are made at
// different times must get the same space.
func (s *ownSession) makeReduced(ctx context.Context, managed bool) (*picture, error) {
	top := min(1, reducedWidth/float64(s.w))
	need := 0.0
	for i := range s.layouts {
		p := &s.layouts[i]
		scale := p.scale()
		if scale > top+1e-9 && top < 1 {
			p.fromSource = true
			continue
		}
		need = max(need, min(scale, top))
	}
	if managed && s.profile != nil {
		need = top
	}
	if need == 0 {
		need = min(top, float64(MainWidths[0])/float64(s.w))
	}
	w, h := scaleSize(s.w, s.h, need)
	return s.resampleSource(ctx, wholeWindow(s.w, s.h), w, h, !managed)
}

// resampleSource resamples a window of the picture as shown, and rotates it.
func (s *ownSession) resampleSource(ctx context.Context, win window, w, h int, halved bool) (*picture, error) {
	orientation := s.info.Orientation
	win = toStored(win, orientation, float64(s.header.Width), float64(s.header.Height))
	win = window{win.x * s.shrinkRatio, win.y * s.shrinkRatio, win.w * s.shrinkRatio, win.h * s.shrinkRatio}
	if orientation > 4 {
		w, h = h, w
	}
	p, err := s.src.resampleWindow(ctx, win, w, h, halved, orientation)
	if err != nil {
		return nil, err
	}
	return p.rotate(orientation), nil
}

// makeFromSource makes the renditions that need more pixels than the reduced picture has: tiles, and the rendition of the
// source's own width. It makes one after another, because their pictures are large.
func (s *ownSession) makeFromSource(ctx context.Context, managed bool) error {
	for i, p := range s.layouts {
		if !p.fromSource {
			continue
		}
		raw, err := s.resampleSource(ctx, p.crop.toWindow(), p.w, p.h, !managed)
		if err != nil {
			return err
		}
		in := s.spaceOf(s.job.Orders[i])
		paint := raw.paint
		if s.job.Orders[i].Format == PNG {
			paint = raw.paintFull
		}
		painted, err := paint(ctx, s.spaces[in].transform)
		if err != nil {
			return err
		}
		ground := [3]uint8{}
		if s.job.Orders[i].Fit == Frame {
			small, err := makeSwatch(ctx, painted)
			if err != nil {
				return err
			}
			ground = dominantColour(small)
		}
		if err := s.encode(ctx, i, painted, in, ground); err != nil {
			return err
		}
	}
	return nil
}

func (r Rect) toWindow() window {
	return window{float64(r.X), float64(r.Y), float64(r.Width), float64(r.Height)}
}

// spaceOf returns the colour space of an order's rendition.
func (s *ownSession) spaceOf(order Order) colour.Space {
	if s.wide && order.Format == WebP {
		return colour.DisplayP3
	}
	return colour.SRGB
}

// makeFromReduced makes the renditions that makeFromSource does not make, the largest first. Each is made from the smallest
// picture of at least twice its size, or else from the reduced picture. While some renditions are encoded, further ones are
// resampled.
func (s *ownSession) makeFromReduced(ctx context.Context, ground [3]uint8) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, i := range s.largestFirst() {
		p := s.layouts[i]
		in := s.spaceOf(s.job.Orders[i])
		from := s.spaces[in]
		if s.job.Orders[i].Format == PNG {
			from = s.fullChroma
		}
		cut, err := from.cut(ctx, p, s.w, s.h)
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		group.Go(func() error { return s.encode(ctx, i, cut, in, ground) })
	}
	return group.Wait()
}

func (s *ownSession) largestFirst() (order []int) {
	for i, p := range s.layouts {
		if !p.fromSource {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return s.layouts[b].w*s.layouts[b].h - s.layouts[a].w*s.layouts[a].h })
	return order
}

// cut returns a painted picture for a layout; the source has w x h pixels. If the picture is the whole source in its own shape,
// cut adds it to sp.reduced, because smaller renditions and other formats can be made from it.
func (sp *targetSpace) cut(ctx context.Context, p layout, w, h int) (*picture, error) {
	from := sp.reduced[0]
	isWhole := p.crop == Rect{0, 0, w, h}
	for _, b := range sp.reduced {
		if isWhole && b.w == p.w && b.h == p.h {
			return b, nil
		}
		if float64(b.w)/float64(w) >= 2*float64(p.w)/float64(p.crop.Width) && float64(b.h)/float64(h) >= 2*float64(p.h)/float64(p.crop.Height) {
			from = b
		}
	}
	win := p.crop.toWindow()
	sx, sy := float64(from.w)/float64(w), float64(from.h)/float64(h)
	win = window{win.x * sx, win.y * sy, win.w * sx, win.h * sy}
	made, err := from.resize(ctx, win, p.w, p.h)
	if err != nil {
		return nil, err
	}
	if shown := math.Abs(float64(p.w)/float64(p.h)*float64(h)/float64(w) - 1); isWhole && shown < 0.02 {
		sp.reduced = append(sp.reduced, made)
	}
	return made, nil
}

// encode encodes the rendition of order i and writes its file.
func (s *ownSession) encode(ctx context.Context, i int, p *picture, in colour.Space, ground [3]uint8) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	order := s.job.Orders[i]
	if p.model == rgba && (order.Format == JPEG || order.Fit == Frame) {
		flat, err := p.flattenOnWhite().paint(ctx, nil)
		if err != nil {
			return err
		}
		p = flat
	}
	if order.Fit == Frame {
		p = p.addFrame(order.Width, order.Height, ground)
	}
	file, err := s.encodeBytes(p, order, in)
	if err != nil {
		return err
	}
	name := filepath.Join(s.job.Folder, strconv.Itoa(i)+"."+string(order.Format))
	if err := os.WriteFile(name, file, 0o600); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return ErrOrder.Because(err)
		}
		return err
	}
	s.made[i] = MadeFile{Order: order, File: name, Width: p.w, Height: p.h, Size: int64(len(file)), P3: in == colour.DisplayP3}
	return nil
}

// encodeBytes returns the file of a rendition.
func (s *ownSession) encodeBytes(p *picture, order Order, in colour.Space) ([]byte, error) {
	switch order.Format {
	case WebP:
		return encodeWebP(p, order.Quality, profileToEmbed(in == colour.DisplayP3), s.xmp)
	case PNG:
		return encodePNG(p, s.xmp)
	}
	for quality := cmp.Or(order.Quality, jpegQuality); ; quality = max(quality-8, 20) {
		file, err := encodeJPEG(p, quality, s.exif, s.xmp)
		if err != nil || order.Fit != Frame || len(file) < maxFrameBytes || quality <= 20 {
			return file, err
		}
	}
}

// computeDeltaE returns Facts.DeltaE, measured at the rendition that deltaEOrder chooses; 0 if there is none. raw is the reduced
// picture in the source's colours.
func (s *ownSession) computeDeltaE(ctx context.Context, raw *picture) (float64, error) {
	i := s.deltaEOrder()
	if i < 0 {
		return 0, nil
	}
	file, err := os.ReadFile(s.made[i].File)
	if err != nil {
		return 0, err
	}
	small, err := raw.resize(ctx, wholeWindow(raw.w, raw.h), s.layouts[i].w, s.layouts[i].h)
	if err != nil {
		return 0, err
	}
	return meanDeltaE(ctx, small, s.profile, file, s.spaceOf(s.job.Orders[i]))
}
