package rendition

import (
	"context"

	"atelie/internal/media/rendition/colour"
)

// This file changes the size of a source (a decoded picture file) by resampling, rotates the result, and converts its colours.

// picture is a resampled part of a source, in memory. It has the colour model of the source until paint or paintFull converts it to the
// colours of a rendition. After that the model is ycc with halved chroma, rgb (only after paintFull), or rgba.
type picture struct {
	model    colourModel
	w, h     int
	halved   bool // the model is ycc, and chroma (Cb and Cr) has half the width and half the height
	channels []plane
}

// resampleWindow returns the part win of the source, resampled to w x h pixels. win is in pixels before the EXIF rotation. If halved is
// true, chroma gets half of that width and height, because WebP and the JPEGs of this package store no more. orientation is the EXIF
// rotation, 1 to 8, that the caller will apply. If w or h is odd, the orientation decides where the chroma samples lie.
func (s *source) resampleWindow(ctx context.Context, win window, w, h int, halved bool, orientation int) (*picture, error) {
	p := &picture{model: s.model, w: w, h: h, halved: halved && s.model == ycc}
	for i, reader := range s.channels {
		var made plane
		var err error
		if s.model != ycc || i == 0 {
			made, err = resample(ctx, reader, win, w, h)
		} else {
			made, err = s.resampleChroma(ctx, reader, win, w, h, p.halved, orientation)
		}
		if err != nil {
			return nil, err
		}
		p.channels = append(p.channels, made)
	}
	return p, nil
}

// resampleChroma is resampleWindow for one chroma channel.
func (s *source) resampleChroma(ctx context.Context, reader rowReader, win window, w, h int, halved bool, orientation int) (plane, error) {
	subX, subY := float64(s.subX), float64(s.subY)
	// If at least two samples along each axis become one, the mean of each 2x2 samples is computed first, because this is faster. The
	// difference is not visible.
	factor := 1.0
	if halved {
		factor = 2
	}
	if s.subX == 1 && s.subY == 1 && factor*win.w >= 2*float64(w) && factor*win.h >= 2*float64(h) {
		reader = mean2x2(reader)
		subX, subY = 2, 2
	}
	win = window{win.x / subX, win.y / subY, win.w / subX, win.h / subY}
	if !halved {
		return resample(ctx, reader, win, w, h)
	}
	cw, ch := (w+1)/2, (h+1)/2
	flipX, flipY := mirrored(orientation)
	stepX, stepY := win.w/float64(w)*2, win.h/float64(h)*2
	// If w or h is odd, the last chroma sample of the rotated picture covers only one pixel. If the rotation reverses the axis, that sample
	// is the first one before the rotation.
	if flipX && w%2 == 1 {
		win.x -= stepX / 2
	}
	if flipY && h%2 == 1 {
		win.y -= stepY / 2
	}
	win.w, win.h = stepX*float64(cw), stepY*float64(ch)
	return resample(ctx, reader, win, cw, ch)
}

// mean2x2 returns a channel with half the width and half the height. Its rows are computed when they are read.
func mean2x2(l rowReader) rowReader {
	w, h := (l.w+1)/2, (l.h+1)/2
	return rowReader{w, h, func(y int, buf []byte) []byte {
		// The caller uses mean2x2 only for YCbCr pictures with full chroma. Their rows are in memory and not written into buf, so two
		// rows can be read with one buf.
		a, b := l.read(2*y, buf), l.read(min(2*y+1, l.h-1), buf)
		buf = buf[:w]
		meanRows(buf, a, b)
		return buf
	}}
}

func meanRows(dst, a, b []byte) {
	n := len(a) / 2
	b = b[:len(a)]
	for x := range n {
		dst[x] = uint8((uint(a[2*x]) + uint(a[2*x+1]) + uint(b[2*x]) + uint(b[2*x+1]) + 2) >> 2)
	}
	if len(a)%2 == 1 {
		dst[n] = uint8((uint(a[2*n]) + uint(b[2*n]) + 1) >> 1)
	}
}

// resize resamples a picture again; win is in the picture's own pixels.
func (p *picture) resize(ctx context.Context, win window, w, h int) (*picture, error) {
	s := &source{model: p.model, w: p.w, h: p.h, subX: 1, subY: 1}
	if p.halved {
		s.subX, s.subY = 2, 2
	}
	for _, c := range p.channels {
		s.channels = append(s.channels, c.rowReader())
	}
	return s.resampleWindow(ctx, win, w, h, true /* halved chroma */, 1 /* no rotation */)
}

// mirrored reports which of the stored axes an EXIF orientation (1 to 8) reverses.
func mirrored(orientation int) (x, y bool) {
	return orientation == 2 || orientation == 3 || orientation == 7 || orientation == 8, orientation == 3 || orientation == 4 || orientation == 6 || orientation == 7
}

// rotate returns the picture as shown, for an EXIF orientation. The orientations 5 to 8 swap the axes.
func (p *picture) rotate(orientation int) *picture {
	if orientation < 2 || orientation > 8 {
		return p
	}
	t := &picture{model: p.model, w: p.w, h: p.h, halved: p.halved}
	if orientation > 4 {
		t.w, t.h = p.h, p.w
	}
	for _, c := range p.channels {
		t.channels = append(t.channels, c.rotate(orientation))
	}
	return t
}

func (p plane) rotate(turn int) plane {
	t := newPlane(p.w, p.h)
	start, right, down := 0, 1, p.w // the sample at the top left, and the steps from one to its neighbours
	flipX, flipY := mirrored(turn)
	if flipX {
		start, right = p.w-1, -1
	}
	if flipY {
		start, down = start+(p.h-1)*p.w, -p.w
	}
	if turn > 4 {
		t, right, down = newPlane(p.h, p.w), down, right
	}
	for y := range t.h {
		at := start + y*down
		for x := range t.row(y) {
			t.pix[y*t.w+x] = p.pix[at]
			at += right
		}
	}
	return t
}

// toStored converts a window of the picture as shown to one of the picture as stored, which has w x h pixels.
func toStored(win window, turn int, w, h float64) window {
	if turn > 4 {
		win = window{win.y, win.x, win.h, win.w}
	}
	flipX, flipY := mirrored(turn)
	if flipX {
		win.x = w - win.x - win.w
	}
	if flipY {
		win.y = h - win.y - win.h
	}
	return win
}

// readNonPremultiplied fills dst with row y of the picture: R, G, B and A of each pixel, with colours that are not premultiplied by A. The
// colours are converted by t, which may be nil except for the models gray and cmyk.
func (p *picture) readNonPremultiplied(dst []byte, y int, t *colour.Transform) {
	switch p.model {
	case gray:
		t.ConvertGray(dst, p.channels[0].row(y))
		return
	case cmyk:
		src := make([]byte, 4*p.w)
		for c := range 4 {
			for x, v := range p.channels[c].row(y) {
				src[4*x+c] = v
			}
		}
		t.ConvertCMYK(dst, src)
		return
	case ycc:
		ys, cy, shift := p.channels[0].row(y), y, 0
		if p.halved {
			cy, shift = y/2, 1
		}
		cbs, crs := p.channels[1].row(cy), p.channels[2].row(cy)
		for x, v := range ys {
			toRGB(dst[4*x:4*x+4:4*x+4], v, cbs[x>>shift], crs[x>>shift])
		}
	case rgb:
		rs, gs, bs := p.channels[0].row(y), p.channels[1].row(y), p.channels[2].row(y)
		for x := range rs {
			d := dst[4*x : 4*x+4 : 4*x+4]
			d[0], d[1], d[2], d[3] = rs[x], gs[x], bs[x], 255
		}
	case rgba:
		rs, gs, bs, as := p.channels[0].row(y), p.channels[1].row(y), p.channels[2].row(y), p.channels[3].row(y)
		for x, a := range as {
			d := dst[4*x : 4*x+4 : 4*x+4]
			d[0], d[1], d[2], d[3] = unpremultiply(rs[x], a), unpremultiply(gs[x], a), unpremultiply(bs[x], a), a
		}
	}
	if t != nil {
		t.ConvertRGBA(dst[:4*p.w])
	}
}

// unpremultiply undoes the multiplication by alpha. Filters may have raised the colour above alpha.
func unpremultiply(v, a uint8) uint8 {
	if a == 0 {
		return 0
	}
	return uint8(min((uint(v)*255+uint(a)/2)/uint(a), 255))
}

// toRGB, luma and meanChroma are JFIF's conversions in fixed point.
func toRGB(d []byte, y, cb, cr uint8) {
	l := int32(y)<<16 + 1<<15
	b, r := int32(cb)-128, int32(cr)-128
	d[0] = clampInt((l + 91881*r) >> 16)
	d[1] = clampInt((l - 22554*b - 46802*r) >> 16)
	d[2] = clampInt((l + 116130*b) >> 16)
	d[3] = 255
}

func luma(r, g, b uint8) uint8 {
	return uint8((19595*int32(r) + 38470*int32(g) + 7471*int32(b) + 1<<15) >> 16)
}

// meanChroma returns the mean chroma of n pixels; r, g and b are the sums of their values.
func meanChroma(r, g, b, n int32) (cb, cr uint8) {
	const half = 128<<16 + 1<<15
	return clampInt((half + (-11056*r-21712*g+32768*b)/n) >> 16), clampInt((half + (32768*r-27440*g-5328*b)/n) >> 16)
}

func clampInt(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// paint converts the picture to the target of t. The result is ycc with halved chroma, or rgba if the picture has alpha. If
// t is nil, a ycc picture is returned unchanged.
func (p *picture) paint(ctx context.Context, t *colour.Transform) (*picture, error) {
	if p.model == ycc && t == nil {
		return p, nil
	}
	if p.model == rgba {
		return p.paintFull(ctx, t)
	}
	cw, ch := (p.w+1)/2, (p.h+1)/2
	out := &picture{model: ycc, w: p.w, h: p.h, halved: true,
		channels: []plane{newPlane(p.w, p.h), newPlane(cw, ch), newPlane(cw, ch)}}
	return out, forEachBand(ch, func(from, to int) error {
		buf := make([]byte, 8*p.w)
		for cy := from; cy < to; cy++ {
			rows := min(2, p.h-2*cy)
			for i := range rows {
				row := buf[4*p.w*i:][:4*p.w]
				p.readNonPremultiplied(row, 2*cy+i, t)
				to := out.channels[0].row(2*cy + i)
				for x := range to {
					to[x] = luma(row[4*x], row[4*x+1], row[4*x+2])
				}
			}
			cbs, crs := out.channels[1].row(cy), out.channels[2].row(cy)
			for cx := range cbs {
				var r, g, b, n int32
				for i := range rows {
					for x := 2 * cx; x < min(2*cx+2, p.w); x++ {
						at := 4 * (p.w*i + x)
						r, g, b, n = r+int32(buf[at]), g+int32(buf[at+1]), b+int32(buf[at+2]), n+1
					}
				}
				cbs[cx], crs[cx] = meanChroma(r, g, b, n)
			}
		}
		return ctx.Err()
	})
}

// paintFull converts the picture to the target of t with full chroma. The result is rgb, or rgba if the picture has alpha.
func (p *picture) paintFull(ctx context.Context, t *colour.Transform) (*picture, error) {
	if p.model == rgba && (t == nil || t.Identity()) {
		return p, nil
	}
	out := &picture{model: rgb, w: p.w, h: p.h, channels: []plane{newPlane(p.w, p.h), newPlane(p.w, p.h), newPlane(p.w, p.h)}}
	if p.model == rgba {
		out.model, out.channels = rgba, append(out.channels, p.channels[3])
	}
	return out, forEachBand(p.h, func(from, to int) error {
		row := make([]byte, 4*p.w)
		for y := from; y < to; y++ {
			p.readNonPremultiplied(row, y, t)
			for c := range 3 {
				to := out.channels[c].row(y)
				for x := range to {
					to[x] = premultiply(row[4*x+c], row[4*x+3]) // unchanged for an opaque pixel
				}
			}
		}
		return ctx.Err()
	})
}

// shareOutsideSRGB returns the share of pixels, 0 to 1, that sRGB cannot show.
func (p *picture) shareOutsideSRGB(profile *colour.Profile) float64 {
	if p.model == gray || p.model == cmyk {
		return 0
	}
	row, sum := make([]byte, 4*p.w), 0.0
	for y := range p.h {
		p.readNonPremultiplied(row, y, nil)
		sum += profile.OutsideSRGB(row)
	}
	return sum / float64(max(1, p.h))
}

// flattenOnWhite returns a picture with alpha on white, for JPEG.
func (p *picture) flattenOnWhite() *picture {
	if p.model != rgba {
		return p
	}
	flat := &picture{model: rgb, w: p.w, h: p.h}
	for c := range 3 {
		f := newPlane(p.w, p.h)
		for i, a := range p.channels[3].pix {
			f.pix[i] = uint8(min(uint(p.channels[c].pix[i])+uint(255-a), 255))
		}
		flat.channels = append(flat.channels, f)
	}
	return flat
}

// addFrame returns a picture of w x h pixels in one sRGB colour, with this picture in the middle.
func (p *picture) addFrame(w, h int, ground [3]uint8) *picture {
	cb, cr := meanChroma(int32(ground[0]), int32(ground[1]), int32(ground[2]), 1)
	out := &picture{model: ycc, w: w, h: h, halved: true}
	// A chroma sample covers two pixels, so the picture begins at an even one.
	x0, y0 := (w-p.w)/2&^1, (h-p.h)/2&^1
	for i, v := range []uint8{luma(ground[0], ground[1], ground[2]), cb, cr} {
		c, x, y := newPlane(w, h), x0, y0
		if i > 0 {
			c, x, y = newPlane((w+1)/2, (h+1)/2), x0/2, y0/2
		}
		for k := range c.pix {
			c.pix[k] = v
		}
		for r := range p.channels[i].h {
			copy(c.row(y + r)[x:], p.channels[i].row(r))
		}
		out.channels = append(out.channels, c)
	}
	return out
}

func wholeWindow(w, h int) window { return window{0, 0, float64(w), float64(h)} }
