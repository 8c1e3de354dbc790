package rendition

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sync/errgroup"

	"atelie/internal/storage/metadata"
	"atelie/internal/storage/rendition/colour"
)

// Engine is what Result.Engine says of renditions made by Make.
const Engine = "atelie"

// baseWidth is the widest picture that smaller ones are made from: beyond it every order goes back to the source.
const baseWidth = 2560

// wideShare is the share of pixels outside of sRGB from which on a set is made in Display P3.
const wideShare = 0.005

// frameBytes is what a share picture may weigh: some messengers drop heavier ones.
const frameBytes = 300_000

// Make decodes the source once and makes everything that the job asks for, in this process. Files of the result lie in
// job.Folder; on an error some may lie there too. A refusal is one of the Err values of this package, anything else a
// failure of the machine.
func Make(ctx context.Context, job Job, limits Limits) (Result, error) {
	s, err := openStudy(ctx, job, limits)
	if err != nil {
		return Result{}, err
	}
	return s.run(ctx)
}

// study is one job on its way.
type study struct {
	job     Job
	limits  Limits
	header  Header
	info    metadata.Info
	profile *colour.Profile // nil without a usable one
	src     *source         // nil as soon as nobody needs it
	w, h    int             // as shown
	wide    bool
	spaces  map[colour.Space]*space
	plans   []plan
	facts   Facts
	made    []Made
	xmp     []byte
	exif    []byte
}

// plan is an order with its geometry. direct ones need more than the base has and are made from the source.
type plan struct {
	view   Rect
	w, h   int
	direct bool
}

// space is one target of colour: how to get there (nil: as it is) and the pictures of the whole work that are there,
// largest first.
type space struct {
	transform *colour.Transform
	bases     []*picture
}

func openStudy(ctx context.Context, job Job, limits Limits) (*study, error) {
	s := &study{job: job, limits: limits.orDefaults(), made: make([]Made, len(job.Orders))}
	f, err := os.Open(job.Source)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // it was only read
	if s.header, err = ReadHeader(f); err != nil {
		return nil, err
	}
	if err = s.limits.check(s.header); err != nil {
		return nil, err
	}
	if s.info, err = metadata.Read(f, s.header.MimeType); err != nil {
		return nil, ErrUnreadable.Because(err)
	}
	s.w, s.h = s.header.Width, s.header.Height
	if s.info.Orientation > 4 {
		s.w, s.h = s.h, s.w
	}
	for _, order := range job.Orders {
		p := plan{}
		if p.view, p.w, p.h, err = Plan(order, s.w, s.h); err != nil {
			return nil, err
		}
		if order.Format == AVIF {
			return nil, ErrNeedsVips
		}
		if int64(p.w)*int64(p.h) > s.limits.MaxPixels || int64(order.Width)*int64(order.Height) > s.limits.MaxPixels {
			return nil, ErrTooLarge.Becausef("a rendition of %d x %d pixels", p.w, p.h)
		}
		s.plans = append(s.plans, p)
		// Measured with a WebP of 24 megapixels; up to the base it is in the reserve.
		need := s.header
		need.Memory += 12 * max(0, int64(p.w)*int64(p.h)-baseWidth*baseWidth)
		if err = s.limits.check(need); err != nil {
			return nil, err
		}
	}
	if _, err = f.Seek(0, 0); err != nil {
		return nil, err
	}
	if s.src, err = decode(f, s.header.MimeType); err != nil {
		return nil, err
	}
	if s.src.w != s.header.Width || s.src.h != s.header.Height {
		return nil, ErrUnreadable.Becausef("%d x %d pixels in a file of %d x %d", s.src.w, s.src.h, s.header.Width, s.header.Height)
	}
	if len(s.info.Profile) > 0 {
		// A profile that cannot be used is no reason to refuse a picture: it is shown as sRGB, as browsers do.
		if p, err := colour.Parse(s.info.Profile); err == nil && s.fits(p) {
			s.profile = p
		}
	}
	s.xmp = metadata.RightsXMP(s.info.Creator, s.info.Rights)
	s.exif = metadata.RightsEXIF(s.info.Creator, s.info.Rights)
	return s, ctx.Err()
}

// fits says whether a profile is for this kind of channels: a mismatch is a mislabelled file.
func (s *study) fits(p *colour.Profile) bool {
	switch s.src.model {
	case cmyk:
		return p.Space() == colour.CMYK
	case gray:
		return true
	}
	return p.Space() == colour.RGB
}

func (s *study) run(ctx context.Context) (Result, error) {
	naive, err := colour.NewTransform(s.profile, colour.SRGB)
	if err != nil {
		return Result{}, err
	}
	managed := s.src.model != ycc || s.profile != nil && !naive.Identity()
	s.spaces = map[colour.Space]*space{colour.SRGB: {}}
	if managed {
		s.spaces[colour.SRGB].transform = naive
	}
	raw, err := s.makeBase(ctx, managed)
	if err != nil {
		return Result{}, err
	}
	if s.profile != nil && managed && raw.outside(s.profile) > wideShare {
		s.wide = true
		t, err := colour.NewTransform(s.profile, colour.DisplayP3)
		if err != nil {
			return Result{}, err
		}
		s.spaces[colour.DisplayP3] = &space{transform: t}
	}
	if err := s.makeDirect(ctx, managed); err != nil {
		return Result{}, err
	}
	s.src = nil
	for _, sp := range s.spaces {
		p, err := raw.paint(ctx, sp.transform)
		if err != nil {
			return Result{}, err
		}
		sp.bases = []*picture{p}
	}
	if !s.job.Facts {
		raw = nil
	}
	small, err := swatchOf(ctx, s.spaces[colour.SRGB].bases[0])
	if err != nil {
		return Result{}, err
	}
	ground := dominant(small)
	if err := s.makeRest(ctx, ground); err != nil {
		return Result{}, err
	}
	if s.job.Facts {
		if err := s.tell(ctx, raw, placeholder(small), ground); err != nil {
			return Result{}, err
		}
	}
	return Result{Engine: Engine, Facts: s.facts, Made: s.made}, nil
}

// makeBase resamples the whole work to the size that the largest order not made directly needs, turned and in the
// source's own colours. Wide profiles always get the same base, so that all renditions of a work, at whatever time they
// are made, agree about their space.
func (s *study) makeBase(ctx context.Context, managed bool) (*picture, error) {
	top := min(1, baseWidth/float64(s.w))
	need := 0.0
	for i := range s.plans {
		p := &s.plans[i]
		scale := max(float64(p.w)/float64(p.view.Width), float64(p.h)/float64(p.view.Height))
		if scale > top+1e-9 && top < 1 {
			p.direct = true
			continue
		}
		need = max(need, min(scale, top))
	}
	if managed && s.profile != nil {
		need = top
	}
	if need == 0 {
		need = min(top, float64(Ladder[0])/float64(s.w))
	}
	w, h := scaled(s.w, s.h, need)
	return s.fromSource(ctx, whole(s.w, s.h), w, h, !managed)
}

// fromSource resamples a window of the work as shown, and turns it.
func (s *study) fromSource(ctx context.Context, win window, w, h int, halved bool) (*picture, error) {
	turn := s.info.Orientation
	win = unturned(win, turn, float64(s.src.w), float64(s.src.h))
	if turn > 4 {
		w, h = h, w
	}
	p, err := s.src.view(ctx, win, w, h, halved, turn)
	if err != nil {
		return nil, err
	}
	return p.turned(turn), nil
}

// makeDirect makes what needs more pixels than the base has, while the source is still there: tiles and the source's
// own width. One after the other: these are large.
func (s *study) makeDirect(ctx context.Context, managed bool) error {
	for i, p := range s.plans {
		if !p.direct {
			continue
		}
		raw, err := s.fromSource(ctx, p.view.window(), p.w, p.h, !managed)
		if err != nil {
			return err
		}
		in := s.spaceOf(s.job.Orders[i])
		painted, err := raw.paint(ctx, s.spaces[in].transform)
		if err != nil {
			return err
		}
		ground := [3]uint8{}
		if s.job.Orders[i].Fit == Frame {
			small, err := swatchOf(ctx, painted)
			if err != nil {
				return err
			}
			ground = dominant(small)
		}
		if err := s.encode(ctx, i, painted, in, ground); err != nil {
			return err
		}
	}
	return nil
}

func (r Rect) window() window {
	return window{float64(r.X), float64(r.Y), float64(r.Width), float64(r.Height)}
}

// spaceOf is where the colours of an order's rendition lie: JPEG goes to places that ignore profiles.
func (s *study) spaceOf(order Order) colour.Space {
	if s.wide && order.Format == WebP {
		return colour.DisplayP3
	}
	return colour.SRGB
}

// makeRest makes everything else from the base or from a smaller picture that still has twice what is needed, largest
// first, and encodes while the next ones are resampled.
func (s *study) makeRest(ctx context.Context, ground [3]uint8) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, i := range s.largestFirst() {
		p := s.plans[i]
		in := s.spaceOf(s.job.Orders[i])
		cut, err := s.spaces[in].cut(ctx, p, s.w, s.h)
		if err != nil {
			return errors.Join(err, group.Wait())
		}
		group.Go(func() error { return s.encode(ctx, i, cut, in, ground) })
	}
	return group.Wait()
}

func (s *study) largestFirst() []int {
	var order []int
	for i, p := range s.plans {
		if p.direct {
			continue
		}
		at := len(order)
		for at > 0 && s.plans[order[at-1]].w*s.plans[order[at-1]].h < p.w*p.h {
			at--
		}
		order = append(order[:at], append([]int{i}, order[at:]...)...)
	}
	return order
}

// cut makes a painted picture for a plan on a work of w x h pixels. Pictures of the whole work in its own shape are kept:
// the next ones may be made from them, and the same one in another format is the same picture.
func (sp *space) cut(ctx context.Context, p plan, w, h int) (*picture, error) {
	from := sp.bases[0]
	isWhole := p.view == Rect{0, 0, w, h}
	for _, b := range sp.bases {
		if isWhole && b.w == p.w && b.h == p.h {
			return b, nil
		}
		if float64(b.w)/float64(w) >= 2*float64(p.w)/float64(p.view.Width) && float64(b.h)/float64(h) >= 2*float64(p.h)/float64(p.view.Height) {
			from = b
		}
	}
	win := p.view.window()
	sx, sy := float64(from.w)/float64(w), float64(from.h)/float64(h)
	win = window{win.x * sx, win.y * sy, win.w * sx, win.h * sy}
	made, err := from.smaller(ctx, win, p.w, p.h)
	if err != nil {
		return nil, err
	}
	if shown := math.Abs(float64(p.w)/float64(p.h)*float64(h)/float64(w) - 1); isWhole && shown < 0.02 {
		sp.bases = append(sp.bases, made)
	}
	return made, nil
}

// encode writes one rendition.
func (s *study) encode(ctx context.Context, i int, p *picture, in colour.Space, ground [3]uint8) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	order := s.job.Orders[i]
	if p.model == rgba && (order.Format == JPEG || order.Fit == Frame) {
		flat, err := p.onWhite().paint(ctx, nil)
		if err != nil {
			return err
		}
		p = flat
	}
	if order.Fit == Frame {
		p = p.framed(order.Width, order.Height, ground)
	}
	file, err := s.encoded(p, order, in)
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
	s.made[i] = Made{Order: order, File: name, Width: p.w, Height: p.h, Size: int64(len(file)), P3: in == colour.DisplayP3}
	return nil
}

func (s *study) encoded(p *picture, order Order, in colour.Space) ([]byte, error) {
	if order.Format == WebP {
		var icc []byte
		if in == colour.DisplayP3 {
			icc = colour.DisplayP3Profile
		}
		return encodeWebP(p, order.Quality, icc, s.xmp)
	}
	quality := order.Quality
	if quality == 0 {
		quality = jpegQuality
	}
	for {
		file, err := encodeJPEG(p, quality, s.exif, s.xmp)
		if err != nil || order.Fit != Frame || len(file) < frameBytes || quality <= 20 {
			return file, err
		}
		quality = max(quality-8, 20)
	}
}

// tell fills in the facts. raw is the base in the source's own colours.
func (s *study) tell(ctx context.Context, raw *picture, hash []byte, ground [3]uint8) error {
	s.facts = Facts{
		MimeType: s.header.MimeType, Width: s.w, Height: s.h, Alpha: raw.model == rgba, Thumbhash: hash,
		Color: hex(ground), Wide: s.wide, Creator: s.info.Creator, Rights: s.info.Rights,
	}
	if s.profile != nil {
		s.facts.Profile = s.profile.Description()
	}
	smallest := -1
	for i, p := range s.plans {
		if s.job.Orders[i].Format == WebP && p.view == (Rect{0, 0, s.w, s.h}) && s.job.Orders[i].Fit != Frame &&
			p.w >= min(Ladder[0], s.w) && (smallest < 0 || p.w*p.h < s.plans[smallest].w*s.plans[smallest].h) {
			smallest = i
		}
	}
	if smallest < 0 || s.plans[smallest].w > 2*Ladder[0] {
		return nil
	}
	p := s.plans[smallest]
	file, err := os.ReadFile(s.made[smallest].File)
	if err != nil {
		return err
	}
	small, err := raw.smaller(ctx, whole(raw.w, raw.h), p.w, p.h)
	if err != nil {
		return err
	}
	s.facts.DeltaE, err = deltaE(small, s.profile, file, s.spaceOf(s.job.Orders[smallest]))
	return err
}
