package rendition

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/tiff"
	"golang.org/x/image/webp"
)

// This file reads the headers of picture files, and decodes the files for the program's own engine (the engine without the library libvips).

// colourModel says which channels a picture has and what they mean.
type colourModel int

const (
	ycc  colourModel = iota // full-range Y, Cb, Cr (JFIF), opaque
	gray                    // one channel, opaque
	rgb                     // R, G, B, opaque
	rgba                    // R, G, B premultiplied by alpha, and alpha
	cmyk                    // four inks; 0 is no ink
)

// source is a decoded picture before its EXIF rotation. Its channels are read row by row.
type source struct {
	model      colourModel
	w, h       int         // pixels
	subX, subY int         // number of pixels in each direction that share a chroma sample
	channels   []rowReader // readers of the channels, in the order of the colour model
}

// ReadHeader reads the type and the size of a picture, and estimates how much memory a job for the picture takes. r must be at its start.
// Unless there is an error, r is at its start again afterwards. The error wraps ErrUnsupported, ErrNeedsVips, ErrUnreadable or ErrTruncated.
func ReadHeader(r io.ReadSeeker) (Header, error) {
	var magic [16]byte
	n, err := io.ReadFull(r, magic[:])
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return Header{}, ErrUnreadable.Because(err)
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return Header{}, ErrUnreadable.Because(err)
	}
	h := Header{MimeType: detectType(magic[:n])}
	var cfg image.Config
	bytesPerPixel := 12.0 // estimate of the memory that a job takes for each pixel
	in := bufio.NewReader(r)
	switch h.MimeType {
	case "image/jpeg":
		cfg, bytesPerPixel, err = jpegHeader(r)
	case "image/png":
		cfg, err = png.DecodeConfig(in)
		if cfg.ColorModel == color.RGBA64Model || cfg.ColorModel == color.NRGBA64Model || cfg.ColorModel == color.Gray16Model {
			bytesPerPixel = 20 // 16 bits per channel
		}
	case "image/gif":
		cfg, err = gif.DecodeConfig(in)
		bytesPerPixel = 6 // one byte per pixel: an index of the palette
	case "image/webp":
		cfg, err = webpHeader(r)
	case "image/tiff":
		cfg, err = tiff.DecodeConfig(r)
		bytesPerPixel = 20
	case "image/heic", "image/avif":
		return h, ErrNeedsVips
	default:
		return h, ErrUnsupported
	}
	if err != nil {
		return h, decodeError(err)
	}
	h.Width, h.Height = cfg.Width, cfg.Height
	h.Memory = int64(bytesPerPixel*float64(cfg.Width)*float64(cfg.Height)) + fixedMemory
	_, err = r.Seek(0, io.SeekStart)
	return h, err
}

// detectType returns the MIME type of a file by its first bytes, or "".
func detectType(magic []byte) string {
	switch s := string(magic); {
	case len(s) < 12:
		return ""
	case s[:3] == "\xff\xd8\xff":
		return "image/jpeg"
	case s[:8] == "\x89PNG\r\n\x1a\n":
		return "image/png"
	case s[:6] == "GIF87a", s[:6] == "GIF89a":
		return "image/gif"
	case s[:4] == "RIFF" && s[8:12] == "WEBP":
		return "image/webp"
	case s[:4] == "II*\x00", s[:4] == "MM\x00*":
		return "image/tiff"
	case s[4:12] == "ftypavif", s[4:12] == "ftypavis":
		return "image/avif"
	case s[4:12] == "ftypheic", s[4:12] == "ftypheix", s[4:12] == "ftyphevc", s[4:12] == "ftypmif1", s[4:12] == "ftypmsf1":
		return "image/heic"
	}
	return ""
}

// decodeError converts the error of a decoder to an error of this package.
func decodeError(err error) error {
	var unsupportedJPEG jpeg.UnsupportedError
	var unsupportedPNG png.UnsupportedError
	var unsupportedTIFF tiff.UnsupportedError
	switch {
	case errors.Is(err, ErrUnsupported), errors.Is(err, ErrUnreadable), errors.Is(err, ErrTooLarge), errors.Is(err, ErrTruncated):
		return err
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return ErrTruncated.Because(err)
	case errors.As(err, &unsupportedJPEG), errors.As(err, &unsupportedPNG), errors.As(err, &unsupportedTIFF):
		return ErrUnsupported.Because(err)
	}
	return ErrUnreadable.Because(err)
}

// jpegHeader returns the size of a JPEG, and how many bytes of memory decoding takes per pixel. The memory depends on subsampling
// and progression, which the standard library does not return. So jpegHeader reads the frame header itself.
func jpegHeader(r io.ReadSeeker) (image.Config, float64, error) {
	in := bufio.NewReader(r)
	if _, err := in.Discard(2); err != nil {
		return image.Config{}, 0, err
	}
	for {
		b, err := in.ReadByte()
		if err != nil {
			return image.Config{}, 0, err
		}
		if b != 0xff {
			continue // the decoder of the standard library also skips bytes between segments
		}
		for b == 0xff {
			if b, err = in.ReadByte(); err != nil {
				return image.Config{}, 0, err
			}
		}
		if b == 0 || b == 1 || b >= 0xd0 && b <= 0xd8 {
			continue
		}
		if b == 0xd9 || b == 0xda {
			return image.Config{}, 0, ErrUnreadable.Becausef("marker %x before the frame", b)
		}
		var size [2]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return image.Config{}, 0, err
		}
		n := int(binary.BigEndian.Uint16(size[:])) - 2
		if n < 0 {
			return image.Config{}, 0, ErrUnreadable.Becausef("short segment")
		}
		if b < 0xc0 || b > 0xcf || b == 0xc4 || b == 0xc8 || b == 0xcc {
			if _, err := in.Discard(n); err != nil {
				return image.Config{}, 0, err
			}
			continue
		}
		if b > 0xc2 {
			return image.Config{}, 0, ErrUnsupported.Becausef("JPEG process %x", b)
		}
		frame := make([]byte, n)
		if _, err := io.ReadFull(in, frame); err != nil {
			return image.Config{}, 0, err
		}
		if n < 6 || n < 6+3*int(frame[5]) || frame[5] == 0 {
			return image.Config{}, 0, ErrUnreadable.Becausef("short frame header")
		}
		cfg := image.Config{Width: int(binary.BigEndian.Uint16(frame[3:])), Height: int(binary.BigEndian.Uint16(frame[1:]))}
		// all/most is the number of samples per pixel. For a progressive JPEG the decoder keeps a coefficient of 4 bytes for
		// each sample.
		most, all := 1, 0
		for i := range int(frame[5]) {
			f := int(frame[7+3*i]>>4) * int(frame[7+3*i]&15)
			most, all = max(most, f), all+f
		}
		perPixel := float64(all)/float64(most) + 1.5
		if b == 0xc2 {
			perPixel += 4 * float64(all) / float64(most)
		}
		if frame[5] == 4 {
			perPixel += 5 // the decoder copies pictures of four channels
		}
		return cfg, perPixel, nil
	}
}

// decode decodes the whole picture. The caller must have checked the header, because a decoder allocates the size that it
// claims.
func decode(r io.Reader, mimeType string) (*source, error) {
	in := bufio.NewReaderSize(r, 1<<16)
	var img image.Image
	var err error
	limitedRange := false // luma in 16..235, not 0..255
	switch mimeType {
	case "image/jpeg":
		img, err = jpeg.Decode(in)
	case "image/png":
		img, err = png.Decode(in)
	case "image/gif":
		img, err = decodeGIF(in)
	case "image/webp":
		img, err = decodeWebP(in)
		limitedRange = true // VP8 stores luma from 16 to 235
	case "image/tiff":
		var all []byte
		if all, err = io.ReadAll(in); err == nil {
			img, err = tiff.Decode(bytes.NewReader(all))
		}
	default:
		return nil, ErrUnsupported
	}
	if err != nil {
		return nil, decodeError(err)
	}
	return newSource(img, limitedRange)
}

// decodeGIF returns the first frame of a GIF, at its place on the canvas.
func decodeGIF(in *bufio.Reader) (image.Image, error) {
	var head bytes.Buffer
	cfg, err := gif.DecodeConfig(io.TeeReader(in, &head))
	if err != nil {
		return nil, err
	}
	img, err := gif.Decode(io.MultiReader(&head, in))
	if err != nil {
		return nil, err
	}
	canvas := image.Rect(0, 0, cfg.Width, cfg.Height)
	if img.Bounds() == canvas {
		return img, nil
	}
	all := image.NewNRGBA(canvas)
	draw.Draw(all, img.Bounds(), img, img.Bounds().Min, draw.Src)
	return all, nil
}

// webpHeader returns the size of a WebP, or of the canvas of an animation.
func webpHeader(r io.ReadSeeker) (image.Config, error) {
	var head [30]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return image.Config{}, err
	}
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		return image.Config{}, err
	}
	if string(head[12:16]) == "VP8X" && head[20]&2 != 0 {
		return image.Config{Width: 1 + readUint24(head[24:]), Height: 1 + readUint24(head[27:])}, nil
	}
	return webp.DecodeConfig(bufio.NewReader(r))
}

// decodeWebP decodes a WebP. For an animation, which webp.Decode does not read, it returns the first frame at its place on the
// canvas.
func decodeWebP(in *bufio.Reader) (image.Image, error) {
	head, err := in.Peek(30)
	if err != nil {
		return nil, err
	}
	if string(head[12:16]) != "VP8X" || head[20]&2 == 0 {
		return webp.Decode(in)
	}
	canvas := image.Rect(0, 0, 1+readUint24(head[24:]), 1+readUint24(head[27:]))
	if _, err := in.Discard(12); err != nil {
		return nil, err
	}
	for {
		var name [8]byte
		if _, err := io.ReadFull(in, name[:]); err != nil {
			return nil, err
		}
		n := int64(binary.LittleEndian.Uint32(name[4:]))
		if string(name[:4]) != "ANMF" {
			if _, err := io.CopyN(io.Discard, in, n+n%2); err != nil {
				return nil, err
			}
			continue
		}
		// The buffer grows with the bytes that are there, not with the length that is claimed.
		frame, err := io.ReadAll(io.LimitReader(in, n))
		if err != nil {
			return nil, err
		}
		if int64(len(frame)) < n || n < 24 {
			return nil, io.ErrUnexpectedEOF
		}
		return decodeFrame(frame, canvas)
	}
}

// decodeFrame decodes a frame: 16 bytes of position, size and timing, then the chunks of a picture (RFC 9649 §2.7.1.1).
func decodeFrame(frame []byte, canvas image.Rectangle) (image.Image, error) {
	at := image.Pt(2*readUint24(frame), 2*readUint24(frame[3:]))
	size := image.Pt(1+readUint24(frame[6:]), 1+readUint24(frame[9:]))
	place := image.Rectangle{at, at.Add(size)}
	if !place.In(canvas) {
		return nil, ErrUnreadable.Becausef("a frame at %v of %v", place, canvas)
	}
	var out bytes.Buffer
	out.WriteString("RIFF\x00\x00\x00\x00WEBP")
	if string(frame[16:20]) == "ALPH" {
		head := make([]byte, 10)
		head[0] = flagAlpha
		putUint24(head[4:], size.X-1)
		putUint24(head[7:], size.Y-1)
		putChunk(&out, "VP8X", head)
	}
	out.Write(frame[16:])
	file := out.Bytes()
	binary.LittleEndian.PutUint32(file[4:], uint32(len(file)-8))
	// The chunks have a size of their own, for which a decoder would allocate memory.
	cfg, err := webp.DecodeConfig(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	if cfg.Width != size.X || cfg.Height != size.Y {
		return nil, ErrUnreadable.Becausef("a frame of %d x %d in a place of %v", cfg.Width, cfg.Height, size)
	}
	m, err := webp.Decode(bytes.NewReader(file))
	if err != nil || place == canvas {
		return m, err
	}
	all := image.NewNYCbCrA(canvas, image.YCbCrSubsampleRatio444)
	for i := range all.Cb {
		all.Y[i], all.Cb[i], all.Cr[i] = 16, 128, 128
	}
	drawYCbCrA(all, m, at)
	return all, nil
}

// drawYCbCrA copies a frame to its place and keeps VP8's range, which package draw does not know.
func drawYCbCrA(dst *image.NYCbCrA, m image.Image, at image.Point) {
	b := m.Bounds()
	for y := range b.Dy() {
		for x := range b.Dx() {
			to := dst.YOffset(at.X+x, at.Y+y)
			switch f := m.(type) {
			case *image.YCbCr:
				from, c := f.YOffset(x, y), f.COffset(x, y)
				dst.Y[to], dst.Cb[to], dst.Cr[to], dst.A[to] = f.Y[from], f.Cb[c], f.Cr[c], 255
			case *image.NYCbCrA:
				from, c := f.YOffset(x, y), f.COffset(x, y)
				dst.Y[to], dst.Cb[to], dst.Cr[to], dst.A[to] = f.Y[from], f.Cb[c], f.Cr[c], f.A[f.AOffset(x, y)]
			default:
				p := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
				cb, cr := meanChroma(int32(p.R), int32(p.G), int32(p.B), 1)
				dst.Y[to], dst.Cb[to], dst.Cr[to], dst.A[to] = toLimitedY[luma(p.R, p.G, p.B)], toLimitedC[cb], toLimitedC[cr], p.A
			}
		}
	}
}

func readUint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// newSource gives access to the channels of a decoded image, row by row, without copying the picture.
func newSource(img image.Image, limitedRange bool) (*source, error) {
	b := img.Bounds()
	s := &source{w: b.Dx(), h: b.Dy(), subX: 1, subY: 1}
	if s.w <= 0 || s.h <= 0 {
		return nil, ErrUnreadable.Becausef("an empty picture")
	}
	switch m := img.(type) {
	case *image.YCbCr:
		s.fromYCbCr(m, limitedRange)
	case *image.NYCbCrA:
		s.fromYCbCrA(m, limitedRange)
	case *image.Gray:
		s.model, s.channels = gray, []rowReader{storedRows(m.Pix, m.Stride, s.w, s.h)}
	case *image.Gray16:
		s.model, s.channels = gray, []rowReader{interleavedRows(m.Pix, m.Stride, s.w, s.h, 2, 0)}
	case *image.CMYK:
		s.model = cmyk
		for c := range 4 {
			s.channels = append(s.channels, interleavedRows(m.Pix, m.Stride, s.w, s.h, 4, c))
		}
	case *image.Paletted:
		s.fromPaletted(m)
	case *image.NRGBA:
		s.fromRGBA(m.Pix, m.Stride, 1, !m.Opaque(), true)
	case *image.RGBA:
		s.fromRGBA(m.Pix, m.Stride, 1, !m.Opaque(), false)
	case *image.NRGBA64:
		s.fromRGBA(m.Pix, m.Stride, 2, !m.Opaque(), true)
	case *image.RGBA64:
		s.fromRGBA(m.Pix, m.Stride, 2, !m.Opaque(), false)
	default:
		n := image.NewNRGBA(image.Rect(0, 0, s.w, s.h))
		draw.Draw(n, n.Rect, img, b.Min, draw.Src)
		s.fromRGBA(n.Pix, n.Stride, 1, !n.Opaque(), true)
	}
	return s, nil
}

// storedRows returns the rows of a channel whose samples are stored next to each other.
func storedRows(pix []byte, stride, w, h int) rowReader {
	return rowReader{w, h, func(y int, _ []byte) []byte { return pix[y*stride:][:w:w] }}
}

// interleavedRows returns the rows of one channel of interleaved pixels: the byte at offset at of each pixel of step bytes. For a
// channel of 16 bits this is the upper byte.
func interleavedRows(pix []byte, stride, w, h, step, at int) rowReader {
	return rowReader{w, h, func(y int, buf []byte) []byte {
		in := pix[y*stride+at:]
		buf = buf[:w]
		for x := range buf {
			buf[x] = in[x*step]
		}
		return buf
	}}
}

// mappedRows returns the rows of l with every sample replaced by its entry in a table.
func mappedRows(l rowReader, table *[256]byte) rowReader {
	return rowReader{l.w, l.h, func(y int, buf []byte) []byte {
		in := l.read(y, buf)
		buf = buf[:l.w]
		for x, v := range in {
			buf[x] = table[v]
		}
		return buf
	}}
}

func (s *source) fromYCbCr(m *image.YCbCr, limitedRange bool) {
	switch m.SubsampleRatio {
	case image.YCbCrSubsampleRatio420:
		s.subX, s.subY = 2, 2
	case image.YCbCrSubsampleRatio422:
		s.subX = 2
	case image.YCbCrSubsampleRatio440:
		s.subY = 2
	case image.YCbCrSubsampleRatio411:
		s.subX = 4
	case image.YCbCrSubsampleRatio410:
		s.subX, s.subY = 4, 2
	}
	cw, ch := (s.w+s.subX-1)/s.subX, (s.h+s.subY-1)/s.subY
	s.model = ycc
	s.channels = []rowReader{storedRows(m.Y, m.YStride, s.w, s.h), storedRows(m.Cb, m.CStride, cw, ch), storedRows(m.Cr, m.CStride, cw, ch)}
	if limitedRange {
		for i, table := range []*[256]byte{&fromLimitedY, &fromLimitedC, &fromLimitedC} {
			s.channels[i] = mappedRows(s.channels[i], table)
		}
	}
}

// fromYCbCrA converts a row to R, G, B multiplied by A each time the row is read. This is slow, but a WebP with alpha is seldom
// large.
func (s *source) fromYCbCrA(m *image.NYCbCrA, limitedRange bool) {
	s.fromYCbCr(&m.YCbCr, limitedRange)
	if m.Opaque() {
		return
	}
	in, subX, subY := s.channels, s.subX, s.subY
	s.model, s.subX, s.subY, s.channels = rgba, 1, 1, nil
	for c := range 3 {
		s.channels = append(s.channels, rowReader{s.w, s.h, func(y int, buf []byte) []byte {
			buf = buf[:s.w]
			chroma := make([]byte, 2*in[1].w)
			ys, cbs, crs := in[0].read(y, buf), in[1].read(y/subY, chroma), in[2].read(y/subY, chroma[in[1].w:])
			for x := range buf {
				r, g, b := color.YCbCrToRGB(ys[x], cbs[x/subX], crs[x/subX])
				buf[x] = premultiply([3]uint8{r, g, b}[c], m.A[y*m.AStride+x])
			}
			return buf
		}})
	}
	s.channels = append(s.channels, storedRows(m.A, m.AStride, s.w, s.h))
}

func (s *source) fromPaletted(m *image.Paletted) {
	var table [4][256]byte
	s.model = rgb
	for i, c := range m.Palette {
		n := color.NRGBAModel.Convert(c).(color.NRGBA)
		table[0][i], table[1][i], table[2][i], table[3][i] = premultiply(n.R, n.A), premultiply(n.G, n.A), premultiply(n.B, n.A), n.A
	}
	if !m.Opaque() {
		s.model = rgba
	}
	for c := range 3 + int(s.model-rgb) {
		s.channels = append(s.channels, mappedRows(storedRows(m.Pix, m.Stride, s.w, s.h), &table[c]))
	}
}

// fromRGBA takes pixels of four channels with width bytes each. If straight is true, they are multiplied by alpha when they are
// read.
func (s *source) fromRGBA(pix []byte, stride, width int, alpha, straight bool) {
	s.model = rgb
	if alpha {
		s.model = rgba
	}
	step := 4 * width
	for c := range 3 {
		l := interleavedRows(pix, stride, s.w, s.h, step, c*width)
		if alpha && straight {
			plain := l
			l.read = func(y int, buf []byte) []byte {
				buf = plain.read(y, buf)
				a := pix[y*stride+3*width:]
				for x := range buf {
					if v := a[x*step]; v != 255 {
						buf[x] = premultiply(buf[x], v)
					}
				}
				return buf
			}
		}
		s.channels = append(s.channels, l)
	}
	if alpha {
		s.channels = append(s.channels, interleavedRows(pix, stride, s.w, s.h, step, 3*width))
	}
}

// premultiply returns v·a/255, rounded.
func premultiply(v, a uint8) uint8 {
	t := uint32(v)*uint32(a) + 128
	return uint8((t + t>>8) >> 8)
}

// These tables convert between the limited range of VP8 (Y in 16..235, chroma in 16..240; RFC 6386 §9.2, as libwebp does) and the
// full range of JFIF and this package (0..255).
var fromLimitedY, fromLimitedC, toLimitedY, toLimitedC = makeRangeTables()

func makeRangeTables() (fromY, fromC, toY, toC [256]byte) {
	for i := range 256 {
		v := float64(i)
		fromY[i] = clamp8((v - 16) * 255 / 219)
		fromC[i] = clamp8((v-128)*255/224 + 128)
		toY[i] = clamp8(v*219/255 + 16)
		toC[i] = clamp8((v-128)*224/255 + 128)
	}
	return
}

func clamp8(v float64) uint8 { return uint8(min(max(v+0.5, 0), 255)) }
