package rendition

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/image/webp"

	"atelie/internal/storage/metadata"
	"atelie/internal/storage/rendition/colour"
)

// EngineVips is what Result.Engine says of renditions made by libvips.
const EngineVips = "vips"

// Qualities of AVIF: what looks like WebP's 78, and how much CPU is spent; 4 costs five times as much for a tenth.
const (
	avifQuality = 58
	avifEffort  = 3
)

// vipsStudy is one job on its way through libvips: the source is decoded once into a raw base, and each rendition is
// made from that by a run of its own.
type vipsStudy struct {
	job     Job
	limits  Limits
	header  Header
	info    metadata.Info
	profile *colour.Profile // nil without a usable one
	heif    bool            // libheif turns by itself, and tells the size only then
	w, h    int             // as shown
	base    raw
	wide    bool // the base is in Display P3
	swatch  *image.NRGBA
	opaque  bool
	plans   []plan
	made    []Made
	xmp     []byte
	exif    []byte
	cmd     vipsCommand
}

// makeWithVips is Make by libvips, for a process that has been confined. Failures that are not the file's are
// engineErrors.
func makeWithVips(ctx context.Context, path string, job Job, limits Limits) (Result, error) {
	s := &vipsStudy{job: job, limits: limits.orDefaults(), made: make([]Made, len(job.Orders))}
	if err := s.open(); err != nil {
		return Result{}, err
	}
	s.cmd = vipsCommand{path: path, folder: job.Folder, idleUntil: time.Now().Add(idleTime)}
	source, err := filepath.Abs(job.Source)
	if err != nil {
		return Result{}, err
	}
	if err := os.Symlink(source, filepath.Join(job.Folder, "source")); err != nil {
		return Result{}, err
	}
	if !s.heif {
		if err := s.plan(); err != nil {
			return Result{}, err
		}
	}
	if err := s.makeBase(ctx); err != nil {
		return Result{}, err
	}
	if err := s.makeAll(ctx); err != nil {
		return Result{}, err
	}
	r := Result{Engine: EngineVips, Made: s.made}
	if job.Facts {
		if r.Facts, err = s.facts(ctx); err != nil {
			return Result{}, err
		}
	}
	// The folder goes with the job, but the server would take its own time for the tens of megabytes of this file.
	return r, os.Remove(s.base.path)
}

func (s *vipsStudy) open() error {
	f, err := os.Open(s.job.Source)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // only read
	if s.header, err = readAnyHeader(f); err != nil {
		return err
	}
	if err := s.limits.check(s.header); err != nil {
		return err
	}
	if s.info, err = metadata.Read(f, s.header.MimeType); err != nil {
		return ErrUnreadable.Because(err)
	}
	s.heif = s.header.MimeType == "image/heic" || s.header.MimeType == "image/avif"
	s.w, s.h = s.header.Width, s.header.Height
	if s.heif {
		s.info.Orientation = 1
	}
	if s.info.Orientation > 4 {
		s.w, s.h = s.h, s.w
	}
	if len(s.info.Profile) > 0 {
		// One that cannot be used is passed over, as browsers do; libvips does the same by itself.
		if p, err := colour.Parse(s.info.Profile); err == nil {
			s.profile = p
		}
	}
	s.xmp = metadata.RightsXMP(s.info.Creator, s.info.Rights)
	s.exif = metadata.RightsEXIF(s.info.Creator, s.info.Rights)
	return nil
}

func (s *vipsStudy) plan() error {
	for _, order := range s.job.Orders {
		var (
			p   plan
			err error
		)
		if p.view, p.w, p.h, err = Plan(order, s.w, s.h); err != nil {
			return err
		}
		if int64(p.w)*int64(p.h) > s.limits.MaxPixels || int64(order.Width)*int64(order.Height) > s.limits.MaxPixels {
			return ErrTooLarge.Becausef("a rendition of %d x %d pixels", p.w, p.h)
		}
		s.plans = append(s.plans, p)
	}
	return nil
}

// scale is how much of the source's size the base needs: as much as the largest order, the widest rung when a choice of
// colour space depends on it, and everything for HEIF, whose size is not known before.
func (s *vipsStudy) scale() float64 {
	if s.heif {
		return 1
	}
	top := min(1, baseWidth/float64(s.w))
	need := min(top, float64(Ladder[0])/float64(s.w))
	if s.mayBeWide() {
		need = top
	}
	for _, p := range s.plans {
		need = max(need, min(1, max(float64(p.w)/float64(p.view.Width), float64(p.h)/float64(p.view.Height))))
	}
	return need
}

// mayBeWide tells whether the source can have colours that sRGB cannot show. Phones keep HEIC in Display P3.
func (s *vipsStudy) mayBeWide() bool {
	if s.profile == nil {
		return s.heif && len(s.info.Profile) > 0
	}
	if s.profile.Space() != colour.RGB {
		return false
	}
	t, err := colour.NewTransform(s.profile, colour.SRGB)
	return err == nil && !t.Identity()
}

// Profiles that libvips is given. Its own one of sRGB is not used: its black is another one, and untagged pictures come
// out of it too dark in the shadows.
const (
	srgbFile = "srgb.icc"
	grayFile = "gray.icc"
	p3File   = "p3.icc"
)

var profiles = map[string][]byte{
	srgbFile: colour.MatrixProfile(4, "sRGB", colour.GamutSRGB, colour.ParametricSRGB()),
	grayFile: colour.GrayProfile(4, "sRGB grey", colour.ParametricSRGB()),
	p3File:   colour.DisplayP3Profile,
}

// makeBase decodes the source, once, to a raw picture as it is shown, in sRGB or Display P3.
func (s *vipsStudy) makeBase(ctx context.Context) error {
	for name, profile := range profiles {
		if err := os.WriteFile(filepath.Join(s.job.Folder, name), profile, 0o600); err != nil {
			return err
		}
	}
	target := srgbFile
	if s.mayBeWide() {
		target = p3File
	}
	w, h := 10_000_000, 10_000_000
	if !s.heif {
		w, h = scaled(s.w, s.h, s.scale())
	}
	bw, bh, size := w, h, "force"
	if s.heif {
		size = "down"
	}
	if s.info.Orientation > 4 {
		bw, bh = h, w
	}
	decode := s.cmd
	decode.untrusted, decode.modules = true, s.heif
	// libjpeg only warns of data that ends early and goes on in grey; the own engine then decides whether it was harmless.
	level := "error"
	if s.header.MimeType == "image/jpeg" {
		level = "warning"
	}
	// What an untagged picture is taken for depends on its channels, which libvips knows before it decodes. Most are as
	// they shall be and need no profile, which costs a tenth of the time; what comes out otherwise is done again.
	attempts := [][]string{{"--import-profile", srgbFile, "--export-profile", target}, {"--import-profile", grayFile, "--export-profile", target}, {"--import-profile", "cmyk", "--export-profile", target}}
	if len(s.info.Profile) == 0 && !s.heif {
		attempts = append([][]string{nil}, attempts...)
	}
	args := []string{"thumbnail", "source", "base.v", strconv.Itoa(bw), "--height", strconv.Itoa(bh), "--size", size, "--no-rotate", "--fail-on", level}
	for i, profiles := range attempts {
		_, err := decode.run(ctx, append(slices.Clone(args), profiles...)...)
		last := i == len(attempts)-1
		if err != nil && !last && strings.Contains(err.Error(), "compatible input profile") {
			continue
		}
		if err != nil {
			return s.decodeFault(ctx, err)
		}
		if s.base, err = s.raw("base.v"); err == nil {
			break
		}
		if profiles != nil || last {
			return ErrUnreadable.Because(err)
		}
	}
	if s.base.w != bw && !s.heif || s.base.h != bh && !s.heif {
		return ErrUnreadable.Becausef("%d x %d pixels where %d x %d were expected", s.base.w, s.base.h, bw, bh)
	}
	if err := s.turn(ctx); err != nil {
		return err
	}
	if s.heif {
		s.w, s.h = s.base.w, s.base.h
		if err := s.limits.check(Header{MimeType: s.header.MimeType, Width: s.w, Height: s.h}); err != nil {
			return err
		}
		if err := s.plan(); err != nil {
			return err
		}
	}
	return s.chooseSpace(ctx, target == p3File)
}

func (s *vipsStudy) raw(name string) (raw, error) { return openRaw(filepath.Join(s.job.Folder, name)) }

// turn does what the EXIF orientation asks for. It is done here and not by libvips as it decodes, so that both engines
// go by the same reader of EXIF.
func (s *vipsStudy) turn(ctx context.Context) error {
	for i, op := range [][][]string{
		2: {{"flip", "horizontal"}}, 3: {{"rot", "d180"}}, 4: {{"flip", "vertical"}},
		5: {{"rot", "d90"}, {"flip", "horizontal"}}, 6: {{"rot", "d90"}}, 7: {{"rot", "d270"}, {"flip", "horizontal"}}, 8: {{"rot", "d270"}},
	}[s.info.Orientation] {
		name := fmt.Sprintf("turned%d.v", i)
		if err := s.step(ctx, op[0], filepath.Base(s.base.path), name, op[1]); err != nil {
			return err
		}
		if err := os.Remove(s.base.path); err != nil {
			return err
		}
		var err error
		if s.base, err = s.raw(name); err != nil {
			return engineError{err}
		}
	}
	return nil
}

// chooseSpace keeps Display P3 where the picture needs it and goes to sRGB where it does not.
func (s *vipsStudy) chooseSpace(ctx context.Context, p3 bool) error {
	var profile *colour.Profile
	if p3 {
		var err error
		if profile, err = colour.Parse(colour.DisplayP3Profile); err != nil {
			return err
		}
	}
	seen, err := s.base.look(profile)
	if err != nil {
		return err
	}
	s.opaque, s.wide = seen.opaque, p3 && seen.outside > wideShare
	s.swatch = seen.swatch
	if p3 {
		t, err := colour.NewTransform(profile, colour.SRGB)
		if err != nil {
			return err
		}
		t.RGBA(s.swatch.Pix)
	}
	if p3 && !s.wide {
		if err := s.step(ctx, "icc_transform", filepath.Base(s.base.path), "srgb.v", srgbFile, "--input-profile", p3File, "--intent", "relative"); err != nil {
			return err
		}
		if err := os.Remove(s.base.path); err != nil {
			return err
		}
		if s.base, err = s.raw("srgb.v"); err != nil {
			return engineError{err}
		}
	}
	var icc []byte
	if s.wide {
		icc = colour.DisplayP3Profile
	}
	return s.base.tag(icc, s.xmp)
}

// step is a run on our own raw files: its failure is not the source's doing.
func (s *vipsStudy) step(ctx context.Context, args ...string) error {
	_, err := s.cmd.run(ctx, args...)
	return s.stepFault(ctx, err)
}

func (s *vipsStudy) stepFault(ctx context.Context, err error) error {
	var e vipsError
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &e) && outOfMemory(e.said):
		return ErrTooCostly.Because(err)
	}
	return engineError{err}
}

func (s *vipsStudy) makeAll(ctx context.Context) error {
	for i := range s.plans {
		if err := s.makeOne(ctx, i); err != nil {
			return err
		}
	}
	return nil
}

// makeOne makes one rendition from the base: cut, resized, laid on a ground, encoded, each only where it is needed.
func (s *vipsStudy) makeOne(ctx context.Context, i int) error {
	order, p := s.job.Orders[i], s.plans[i]
	from := s.base
	var err error
	if (p.view != Rect{0, 0, s.w, s.h}) {
		if from, err = s.cut(ctx, from, p.view); err != nil {
			return err
		}
	}
	name := strconv.Itoa(i) + "." + string(order.Format) // libvips goes by the ending
	made := Made{Order: order, File: filepath.Join(s.job.Folder, name), Width: p.w, Height: p.h, P3: s.wide && order.Format != JPEG}
	if order.Fit == Frame {
		if from, err = s.framed(ctx, from, order, p); err != nil {
			return err
		}
		made.Width, made.Height = order.Width, order.Height
	}
	quality := order.Quality
	for {
		if err := s.encode(ctx, from, name, order, quality, made.Width, made.Height); err != nil {
			return err
		}
		if made.Size, err = s.finish(order, made); err != nil {
			return err
		}
		if order.Fit != Frame || made.Size < frameBytes || quality == 20 {
			break
		}
		if quality == 0 {
			quality = s.quality(order.Format, made.Width, made.Height)
		}
		quality = max(quality-8, 20)
	}
	s.made[i] = made
	return nil
}

// cut takes a part of the work out of the base, view being in pixels of the whole.
func (s *vipsStudy) cut(ctx context.Context, from raw, view Rect) (raw, error) {
	sx, sy := float64(from.w)/float64(s.w), float64(from.h)/float64(s.h)
	x, y := min(int(float64(view.X)*sx+.5), from.w-1), min(int(float64(view.Y)*sy+.5), from.h-1)
	w, h := max(1, min(int(float64(view.Width)*sx+.5), from.w-x)), max(1, min(int(float64(view.Height)*sy+.5), from.h-y))
	err := s.step(ctx, "extract_area", filepath.Base(from.path), "cut.v", strconv.Itoa(x), strconv.Itoa(y), strconv.Itoa(w), strconv.Itoa(h))
	if err != nil {
		return raw{}, err
	}
	r, err := s.raw("cut.v")
	if err != nil {
		return raw{}, engineError{err}
	}
	return r, nil
}

// framed lays the work, resized, in the middle of a ground of its own dominant colour.
func (s *vipsStudy) framed(ctx context.Context, from raw, order Order, p plan) (raw, error) {
	ground := dominant(s.swatch)
	if s.wide && order.Format != JPEG { // the ground is written in the base's space
		if err := toP3(&ground); err != nil {
			return raw{}, err
		}
	}
	args := s.resize(from, p.w, p.h, order.Format)
	if err := s.step(ctx, append([]string{args[0], args[1], "work.v"}, args[2:]...)...); err != nil {
		return raw{}, err
	}
	work := "work.v"
	if from.bands == 4 {
		work = "flat.v"
		if err := s.step(ctx, "flatten", "work.v", "flat.v", "--background", "255 255 255"); err != nil {
			return raw{}, err
		}
	}
	background := fmt.Sprintf("%d %d %d", ground[0], ground[1], ground[2])
	if err := s.step(ctx, "gravity", work, "framed.v", "centre", strconv.Itoa(order.Width), strconv.Itoa(order.Height), "--extend", "background", "--background", background); err != nil {
		return raw{}, err
	}
	r, err := s.raw("framed.v")
	if err != nil {
		return raw{}, engineError{err}
	}
	return r, nil
}

func toP3(c *[3]uint8) error {
	t, err := colour.NewTransform(nil, colour.DisplayP3)
	if err != nil {
		return err
	}
	pix := []byte{c[0], c[1], c[2], 255}
	t.RGBA(pix)
	copy(c[:], pix)
	return nil
}

// resize gives the operation that makes w x h pixels of a raw picture, its output's name left out after the second
// word. JPEG goes to places that ignore profiles: always sRGB.
func (s *vipsStudy) resize(from raw, w, h int, format Format) []string {
	toSRGB := s.wide && format == JPEG
	name := filepath.Base(from.path)
	switch {
	case from.w == w && from.h == h && toSRGB:
		return []string{"icc_transform", name, srgbFile, "--embedded", "--intent", "relative"}
	case from.w == w && from.h == h:
		return []string{"copy", name}
	case toSRGB:
		return []string{"thumbnail", name, strconv.Itoa(w), "--height", strconv.Itoa(h), "--size", "force", "--export-profile", srgbFile}
	}
	return []string{"thumbnail", name, strconv.Itoa(w), "--height", strconv.Itoa(h), "--size", "force"}
}

func (s *vipsStudy) quality(format Format, w, h int) int {
	switch format {
	case JPEG:
		return jpegQuality
	case AVIF:
		return avifQuality
	}
	return webpQualityOf(w, h)
}

func (s *vipsStudy) encode(ctx context.Context, from raw, name string, order Order, quality, w, h int) error {
	if quality == 0 {
		quality = s.quality(order.Format, w, h)
	} else if order.Format == AVIF { // its scale is another one: the same number would be far better and larger
		quality = max(1, quality*3/4)
	}
	options := fmt.Sprintf("[Q=%d,strip,effort=4]", quality)
	cmd := s.cmd
	switch order.Format {
	case JPEG:
		options = fmt.Sprintf("[Q=%d,strip,optimize-coding,interlace,background=255]", quality)
	case AVIF: // keeps profile and XMP, of which the base has none but ours
		options = fmt.Sprintf("[Q=%d,effort=%d,bitdepth=8]", quality, avifEffort)
		cmd.modules = true
	}
	args := s.resize(from, w, h, order.Format)
	if order.Fit == Frame && args[0] == "icc_transform" { // it came to sRGB when it was resized
		args = []string{"copy", args[1]}
	}
	_, err := cmd.run(ctx, append([]string{args[0], args[1], name + options}, args[2:]...)...)
	return s.stepFault(ctx, err)
}

// finish writes profile and rights into a rendition, as the own engine does, and gives its size in bytes.
func (s *vipsStudy) finish(order Order, made Made) (int64, error) {
	if order.Format != AVIF {
		file, err := os.ReadFile(made.File)
		if err != nil {
			return 0, err
		}
		var with []byte
		if order.Format == JPEG {
			with = withRights(file, s.exif, s.xmp)
		} else {
			var icc []byte
			if made.P3 {
				icc = colour.DisplayP3Profile
			}
			if with, err = withChunks(file, made.Width, made.Height, s.base.bands == 4 && !s.opaque && order.Fit != Frame, icc, s.xmp); err != nil {
				return 0, err
			}
		}
		if len(with) != len(file) {
			if err := os.WriteFile(made.File, with, 0o600); err != nil {
				return 0, err
			}
		}
	}
	stat, err := os.Stat(made.File)
	if err != nil {
		return 0, err
	}
	return stat.Size(), nil
}

// facts tells what pages need, as the own engine does.
func (s *vipsStudy) facts(ctx context.Context) (Facts, error) {
	f := Facts{
		MimeType: s.header.MimeType, Width: s.w, Height: s.h, Alpha: !s.opaque, Thumbhash: placeholder(s.swatch),
		Color: hex(dominant(s.swatch)), Wide: s.wide, Creator: s.info.Creator, Rights: s.info.Rights,
	}
	if s.profile != nil {
		f.Profile = s.profile.Description()
	}
	smallest := -1
	for i, p := range s.plans {
		if s.job.Orders[i].Format == WebP && p.view == (Rect{0, 0, s.w, s.h}) && s.job.Orders[i].Fit != Frame && p.w <= 2*Ladder[0] &&
			p.w >= min(Ladder[0], s.w) && (smallest < 0 || p.w*p.h < s.plans[smallest].w*s.plans[smallest].h) {
			smallest = i
		}
	}
	if smallest < 0 {
		return f, nil
	}
	var err error
	f.DeltaE, err = s.deltaE(ctx, s.made[smallest])
	return f, err
}

// deltaE compares a small rendition with what it was encoded from. The way there from the source's own colours is
// Little CMS's, which is what the own engine is measured against.
func (s *vipsStudy) deltaE(ctx context.Context, made Made) (float64, error) {
	args := s.resize(s.base, made.Width, made.Height, WebP)
	if err := s.step(ctx, append([]string{args[0], args[1], "small.v"}, args[2:]...)...); err != nil {
		return 0, err
	}
	small, err := s.raw("small.v")
	if err != nil {
		return 0, engineError{err}
	}
	from, err := small.nrgba()
	if err != nil {
		return 0, err
	}
	file, err := os.ReadFile(made.File)
	if err != nil {
		return 0, err
	}
	img, err := webp.Decode(bytes.NewReader(file))
	if err != nil {
		return 0, engineError{err}
	}
	src, err := newSource(img, true)
	if err != nil {
		return 0, engineError{err}
	}
	p, err := src.view(ctx, whole(src.w, src.h), src.w, src.h, true, 1)
	if err != nil {
		return 0, err
	}
	space := colour.SRGB
	if made.P3 {
		space = colour.DisplayP3
	}
	to, sum, n := p.nrgba(), 0.0, 0
	lab := func(m *image.NRGBA, x, y int) colour.Lab { // of four pixels, which share their chroma
		var c [3]int
		for _, at := range []int{m.PixOffset(x, y), m.PixOffset(x+1, y), m.PixOffset(x, y+1), m.PixOffset(x+1, y+1)} {
			for i := range c {
				c[i] += int(m.Pix[at+i])
			}
		}
		return colour.LabOf(uint8((c[0]+2)/4), uint8((c[1]+2)/4), uint8((c[2]+2)/4), space)
	}
	for y := 0; y+1 < min(small.h, p.h); y += deltaStep {
		for x := 0; x+1 < min(small.w, p.w); x += deltaStep {
			if from.Pix[from.PixOffset(x, y)+3] >= 128 {
				sum += colour.DeltaE2000(lab(from, x, y), lab(to, x, y))
				n++
			}
		}
	}
	return sum / float64(max(n, 1)), nil
}

// deltaStep is how many pixels apart the mean difference is measured, an even number: the formula costs more than
// decoding does.
const deltaStep = 4

// withRights puts EXIF and XMP into a JPEG file, behind its first marker.
func withRights(file, exif, xmp []byte) []byte {
	out := bytes.NewBuffer(make([]byte, 0, len(file)+len(exif)+len(xmp)+128))
	out.Write(file[:2])
	for _, segment := range [][]byte{prefixed("Exif\x00\x00", exif), prefixed("http://ns.adobe.com/xap/1.0/\x00", xmp)} {
		if n := len(segment) + 2; len(segment) > 0 && n <= 0xffff {
			out.Write([]byte{0xff, 0xe1, byte(n >> 8), byte(n)})
			out.Write(segment)
		}
	}
	out.Write(file[2:])
	return out.Bytes()
}
