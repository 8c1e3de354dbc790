package rendition

import (
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

	"atelie/internal/media/rendition/colour"
)

// This file contains the engine that makes renditions with the command of libvips (vips.go).

// EngineVips is the value of Result.Engine for renditions that libvips made.
const EngineVips = "vips"

// Settings of the AVIF encoder.
const (
	avifQuality = 58 // at this quality, AVIF looks like WebP of quality 78
	avifEffort  = 3  // effort 4 would save a tenth of the bytes, but take five times as long
)

// vipsSession is the state of one job in a worker that uses libvips. One command of libvips decodes the source (the picture file of the
// job) to a file with raw pixels, the reduced picture. Further commands make each rendition from that file.
type vipsSession struct {
	session

	isHEIF  bool         // the source is HEIC or AVIF; its size as shown is known only after libvips has decoded and rotated it
	reduced rawPicture   // the whole source as shown, in sRGB or, if wide, in Display P3
	swatch  *image.NRGBA // the reduced picture with at most 100 pixels a side, in sRGB
	opaque  bool         // the reduced picture has no alpha
	cmd     vipsCommand
}

// makeWithVips is Make with libvips instead of the program's own engine. It runs in a worker process. path is the path of libvips' command.
// idleTime is how long libvips uses only idle processors for a job that is not urgent. If libvips fails and the file is not the cause, the
// error is an engineError; the own engine may then succeed.
func makeWithVips(ctx context.Context, path string, idleTime time.Duration, job Job, limits Limits) (Result, error) {
	s := &vipsSession{session: newSession(job, limits)}
	f, err := s.open(readAnyHeader)
	if err != nil {
		return Result{}, err
	}
	if err := f.Close(); err != nil {
		return Result{}, err
	}
	s.isHEIF = s.header.MimeType == "image/heic" || s.header.MimeType == "image/avif"
	s.cmd = vipsCommand{path: path, folder: job.Folder}
	if !job.Urgent {
		s.cmd.idleUntil = time.Now().Add(idleTime)
	}
	source, err := filepath.Abs(job.Source)
	if err != nil {
		return Result{}, err
	}
	// The commands read the source through a link, because libvips would read brackets in its path as options.
	if err := os.Symlink(source, filepath.Join(job.Folder, "source")); err != nil {
		return Result{}, err
	}
	if !s.isHEIF {
		if err := s.computeLayouts(); err != nil {
			return Result{}, err
		}
	}
	if err := s.makeReduced(ctx); err != nil {
		return Result{}, err
	}
	for i := range s.layouts {
		if err := s.makeOne(ctx, i); err != nil {
			return Result{}, err
		}
	}
	r := Result{Engine: EngineVips, Made: s.made}
	if job.NeedsFacts {
		r.Facts = s.computeFacts(s.swatch, !s.opaque)
		if r.Facts.DeltaE, err = s.computeDeltaE(ctx); err != nil {
			return Result{}, err
		}
	}
	// The worker removes this file of tens of megabytes, so that the server, which removes the folder, spends no time on it.
	return r, os.Remove(s.reduced.path)
}

// reducedScale returns the ratio of the reduced picture's width to the source's width. It is what the largest order needs, but at
// least the ratio for reducedWidth if the pixels of the reduced picture decide about Display P3. It is 1 for HEIF, whose size is
// not known yet.
func (s *vipsSession) reducedScale() float64 {
	if s.isHEIF {
		return 1
	}
	top := min(1, reducedWidth/float64(s.w))
	need := min(top, float64(MainWidths[0])/float64(s.w))
	if s.mayBeWide() {
		need = top
	}
	for _, p := range s.layouts {
		need = max(need, min(1, p.scale()))
	}
	return need
}

// mayBeWide reports whether the source can have colours outside sRGB. Phones write HEIC in Display P3.
func (s *vipsSession) mayBeWide() bool {
	if s.profile == nil {
		return s.isHEIF && len(s.info.Profile) > 0
	}
	return s.profile.Space() == colour.RGB && !s.isSRGB()
}

// The names of the files with profiles for libvips. libvips' own sRGB profile is not used, because its black is different and
// makes the shadows of pictures without a profile too dark.
const (
	srgbFile = "srgb.icc"
	grayFile = "gray.icc"
	p3File   = "p3.icc"
)

// profiles contains the profiles by the names of their files.
var profiles = map[string][]byte{
	srgbFile: colour.MatrixProfile(4, "sRGB", colour.GamutSRGB, colour.ParametricSRGB()),
	grayFile: colour.GrayProfile(4, "sRGB grey", colour.ParametricSRGB()),
	p3File:   colour.DisplayP3Profile,
}

// makeReduced decodes the source to the reduced picture: a raw picture as shown, in sRGB or Display P3.
func (s *vipsSession) makeReduced(ctx context.Context) error {
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
	if !s.isHEIF {
		w, h = scaleSize(s.w, s.h, s.reducedScale())
	}
	bw, bh, size := w, h, "force"
	if s.isHEIF {
		size = "down"
	}
	if s.info.Orientation > 4 {
		bw, bh = h, w
	}
	decode := s.cmd
	decode.untrusted, decode.modules = true, s.isHEIF
	// If the data of a JPEG ends early, libjpeg only warns and fills the missing part with grey. The option makes the warning an
	// error, so that the own engine decides whether the file is acceptable.
	level := "error"
	if s.header.MimeType == "image/jpeg" {
		level = "warning"
	}
	// Which profile suits a picture without one depends on its channels, which only libvips knows. The first attempt for such a
	// picture is without a profile, which suits most pictures and saves a tenth of the time. If the result is not in sRGB, the next
	// attempt is made.
	attempts := []string{srgbFile, grayFile, "cmyk"}
	if len(s.info.Profile) == 0 && !s.isHEIF {
		attempts = append([]string{""}, attempts...)
	}
	args := []string{"thumbnail", "source", "base.v", strconv.Itoa(bw), "--height", strconv.Itoa(bh), "--size", size, "--no-rotate", "--fail-on", level}
	for i, profile := range attempts {
		run := args
		if profile != "" {
			run = slices.Concat(args, []string{"--import-profile", profile, "--export-profile", target})
		}
		_, err := decode.run(ctx, run...)
		final := i == len(attempts)-1
		if err != nil && !final && strings.Contains(err.Error(), "compatible input profile") {
			continue
		}
		if err != nil {
			return s.classifyDecodeError(ctx, err)
		}
		if s.reduced, err = openRaw(filepath.Join(s.job.Folder, "base.v")); err == nil {
			break
		}
		if profile != "" || final {
			return ErrUnreadable.Because(err)
		}
	}
	if !s.isHEIF && (s.reduced.w != bw || s.reduced.h != bh) {
		return ErrUnreadable.Becausef("%d x %d pixels where %d x %d were expected", s.reduced.w, s.reduced.h, bw, bh)
	}
	if err := s.applyOrientation(ctx); err != nil {
		return err
	}
	if s.isHEIF {
		s.w, s.h = s.reduced.w, s.reduced.h
		if err := s.limits.check(Header{MimeType: s.header.MimeType, Width: s.w, Height: s.h}); err != nil {
			return err
		}
		if err := s.computeLayouts(); err != nil {
			return err
		}
	}
	return s.chooseSpace(ctx, target == p3File)
}

// applyOrientation applies the EXIF orientation that package metadata has read to the reduced picture. libvips is told not to
// apply it while decoding, so that both engines read EXIF in the same way.
func (s *vipsSession) applyOrientation(ctx context.Context) error {
	for i, op := range [][][]string{
		2: {{"flip", "horizontal"}}, 3: {{"rot", "d180"}}, 4: {{"flip", "vertical"}},
		5: {{"rot", "d90"}, {"flip", "horizontal"}}, 6: {{"rot", "d90"}}, 7: {{"rot", "d270"}, {"flip", "horizontal"}}, 8: {{"rot", "d270"}},
	}[s.info.Orientation] {
		if err := s.replaceReduced(ctx, op[0], fmt.Sprintf("turned%d.v", i), op[1]); err != nil {
			return err
		}
	}
	return nil
}

// chooseSpace decides whether renditions are in Display P3. If they are not, it converts the reduced picture to sRGB. p3 says that
// the reduced picture is in Display P3.
func (s *vipsSession) chooseSpace(ctx context.Context, p3 bool) error {
	var profile *colour.Profile
	if p3 {
		var err error
		if profile, err = colour.Parse(colour.DisplayP3Profile); err != nil {
			return err
		}
	}
	seen, err := s.reduced.inspect(profile)
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
		t.ConvertRGBA(s.swatch.Pix)
	}
	if p3 && !s.wide {
		if err := s.replaceReduced(ctx, "icc_transform", "srgb.v", srgbFile, "--input-profile", p3File, "--intent", "relative"); err != nil {
			return err
		}
	}
	return s.reduced.replaceMetadata(profileToEmbed(s.wide), s.xmp)
}

// step makes a raw picture from another one with an operation of libvips.
func (s *vipsSession) step(ctx context.Context, operation string, from rawPicture, name string, args ...string) (rawPicture, error) {
	_, err := s.cmd.run(ctx, append([]string{operation, filepath.Base(from.path), name}, args...)...)
	if err := s.classifyStepError(ctx, err); err != nil {
		return rawPicture{}, err
	}
	made, err := openRaw(filepath.Join(s.job.Folder, name))
	if err != nil {
		return rawPicture{}, engineError{err}
	}
	return made, nil
}

// replaceReduced makes a new reduced picture from the current one with an operation, and removes the current one.
func (s *vipsSession) replaceReduced(ctx context.Context, operation, name string, args ...string) error {
	made, err := s.step(ctx, operation, s.reduced, name, args...)
	if err != nil {
		return err
	}
	old := s.reduced.path
	s.reduced = made
	return os.Remove(old)
}

// classifyStepError converts the error of an operation on raw files: to ErrTooCostly if libvips ran out of memory, else to an
// engineError, because the source cannot be the cause.
func (s *vipsSession) classifyStepError(ctx context.Context, err error) error {
	switch e, _ := errors.AsType[vipsError](err); {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case outOfMemory.MatchString(e.said):
		return ErrTooCostly.Because(err)
	}
	return engineError{err}
}

// makeOne makes the rendition of order i from the reduced picture: it cuts, resizes, frames and encodes as the order requires.
func (s *vipsSession) makeOne(ctx context.Context, i int) error {
	order, p := s.job.Orders[i], s.layouts[i]
	from := s.reduced
	var err error
	if (p.crop != Rect{0, 0, s.w, s.h}) {
		if from, err = s.cut(ctx, from, p.crop); err != nil {
			return err
		}
	}
	name := strconv.Itoa(i) + "." + string(order.Format) // libvips chooses the format by the extension
	made := MadeFile{Order: order, File: filepath.Join(s.job.Folder, name), Width: p.w, Height: p.h, P3: s.wide && !order.Format.alwaysSRGB()}
	if order.Fit == Frame {
		if from, err = s.addFrame(ctx, from, order, p); err != nil {
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
		if order.Fit != Frame || made.Size < maxFrameBytes || quality == 20 {
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

// cut cuts a part out of the reduced picture; crop is in pixels of the source, which can have another size.
func (s *vipsSession) cut(ctx context.Context, from rawPicture, crop Rect) (rawPicture, error) {
	sx, sy := float64(from.w)/float64(s.w), float64(from.h)/float64(s.h)
	x, y := min(int(float64(crop.X)*sx+.5), from.w-1), min(int(float64(crop.Y)*sy+.5), from.h-1)
	w, h := max(1, min(int(float64(crop.Width)*sx+.5), from.w-x)), max(1, min(int(float64(crop.Height)*sy+.5), from.h-y))
	return s.step(ctx, "extract_area", from, "cut.v", strconv.Itoa(x), strconv.Itoa(y), strconv.Itoa(w), strconv.Itoa(h))
}

// addFrame returns the resized picture in the middle of a ground of its dominant colour, with the size of the order.
func (s *vipsSession) addFrame(ctx context.Context, from rawPicture, order Order, p layout) (rawPicture, error) {
	ground := dominantColour(s.swatch)
	if s.wide && !order.Format.alwaysSRGB() { // the ground is written in the space of the reduced picture
		if err := toP3(&ground); err != nil {
			return rawPicture{}, err
		}
	}
	operation, args := s.resize(from, p.w, p.h, order.Format)
	work, err := s.step(ctx, operation, from, "work.v", args...)
	if err == nil && work.bands == 4 {
		work, err = s.step(ctx, "flatten", work, "flat.v", "--background", "255 255 255")
	}
	if err != nil {
		return rawPicture{}, err
	}
	background := fmt.Sprintf("%d %d %d", ground[0], ground[1], ground[2])
	return s.step(ctx, "gravity", work, "framed.v", "centre", strconv.Itoa(order.Width), strconv.Itoa(order.Height), "--extend", "background", "--background", background)
}

// toP3 converts a colour from sRGB to Display P3.
func toP3(c *[3]uint8) error {
	t, err := colour.NewTransform(nil, colour.DisplayP3)
	if err != nil {
		return err
	}
	pix := []byte{c[0], c[1], c[2], 255}
	t.ConvertRGBA(pix)
	copy(c[:], pix)
	return nil
}

// resize returns the operation of libvips that resizes a raw picture to w x h, and its arguments after the names of the files.
func (s *vipsSession) resize(from rawPicture, w, h int, format Format) (operation string, args []string) {
	toSRGB, same := s.wide && format.alwaysSRGB(), from.w == w && from.h == h
	switch {
	case same && toSRGB:
		return "icc_transform", []string{srgbFile, "--embedded", "--intent", "relative"}
	case same:
		return "copy", nil
	}
	args = []string{strconv.Itoa(w), "--height", strconv.Itoa(h), "--size", "force"}
	if toSRGB {
		args = append(args, "--export-profile", srgbFile)
	}
	return "thumbnail", args
}

// quality returns the default quality for a rendition of w x h pixels.
func (s *vipsSession) quality(format Format, w, h int) int {
	switch format {
	case JPEG:
		return jpegQuality
	case AVIF:
		return avifQuality
	}
	return defaultWebPQuality(w, h)
}

// encode encodes a rendition of w x h pixels from a raw picture into the file name. quality 0 means the default.
func (s *vipsSession) encode(ctx context.Context, from rawPicture, name string, order Order, quality, w, h int) error {
	if quality == 0 {
		quality = s.quality(order.Format, w, h)
	} else if order.Format == AVIF { // the same number gives much better and larger files in AVIF than in WebP
		quality = max(1, quality*3/4)
	}
	options := fmt.Sprintf("[Q=%d,strip,effort=4]", quality)
	cmd := s.cmd
	switch order.Format {
	case JPEG:
		options = fmt.Sprintf("[Q=%d,strip,optimize-coding,interlace,background=255]", quality)
	case PNG:
		options = "[strip,filter=all]"
	case AVIF: // the encoder keeps the profile and XMP of the reduced picture, which have nothing of the source's metadata
		options = fmt.Sprintf("[Q=%d,effort=%d,bitdepth=8]", quality, avifEffort)
		cmd.modules = true
	}
	operation, args := s.resize(from, w, h, order.Format)
	if order.Fit == Frame && operation == "icc_transform" { // framed has converted the picture to sRGB already
		operation, args = "copy", nil
	}
	_, err := cmd.run(ctx, append([]string{operation, filepath.Base(from.path), name + options}, args...)...)
	return s.classifyStepError(ctx, err)
}

// finish adds profile and rights to the file of a rendition, as the own engine does, and returns its size in bytes.
func (s *vipsSession) finish(order Order, made MadeFile) (int64, error) {
	if order.Format != AVIF {
		file, err := os.ReadFile(made.File)
		if err != nil {
			return 0, err
		}
		var with []byte
		switch order.Format {
		case JPEG:
			with = insertRights(file, s.exif, s.xmp)
		case PNG:
			with = insertXMP(file, s.xmp)
		default:
			alpha := s.reduced.bands == 4 && !s.opaque && order.Fit != Frame
			if with, err = insertChunks(file, made.Width, made.Height, alpha, profileToEmbed(made.P3), s.xmp); err != nil {
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

// computeDeltaE returns Facts.DeltaE; 0 if deltaEOrder chooses no rendition. It compares that rendition with the pixels from
// which it was encoded. The conversion of these pixels from the source's colours is not measured, because Little CMS, which
// libvips uses, is the reference for the own engine.
func (s *vipsSession) computeDeltaE(ctx context.Context) (float64, error) {
	i := s.deltaEOrder()
	if i < 0 {
		return 0, nil
	}
	made := s.made[i]
	operation, args := s.resize(s.reduced, made.Width, made.Height, WebP)
	small, err := s.step(ctx, operation, s.reduced, "small.v", args...)
	if err != nil {
		return 0, err
	}
	from, err := small.readNRGBA()
	if err != nil {
		return 0, err
	}
	file, err := os.ReadFile(made.File)
	if err != nil {
		return 0, err
	}
	p, err := decodeMade(ctx, file)
	if err != nil {
		return 0, engineError{err}
	}
	space := colour.SRGB
	if made.P3 {
		space = colour.DisplayP3
	}
	to, sum, n := p.toNRGBA(), 0.0, 0
	lab := func(m *image.NRGBA, x, y int) colour.Lab { // mean of four pixels, which share a chroma sample
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

// deltaStep is the distance in pixels between the samples of computeDeltaE, an even number. It is above 1 because the formula
// takes more time than decoding.
const deltaStep = 4
