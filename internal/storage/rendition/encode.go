package rendition

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"

	"github.com/gen2brain/webp"
)

// Qualities where an order names none, and the area in pixels up to which libwebp's slower method 4 is worth its CPU: at
// 2560 x 1707 it would cost more than everything else together. Against libvips at its 80 the demo's pictures weigh 4 %
// less for 0.002 of structural similarity; 80 gives the very same of both. Method 2 needs more quality to look the same:
// at 80 it is 0.0055 behind a file of libvips' that weighs as much, at 82 0.0045, where 0.005 is the bound. Thumbnails hold
// more detail for their area: at 79 a wall of them weighs 1.5 % more than sharp's at its 80, at 78 2 % less (bench/pictures.mjs).
const (
	webpQuality      = 79
	webpQualityQuick = 82
	webpQualitySmall = 78
	thoroughUpTo     = 1600 * 1600
	smallUpTo        = 400 * 400
	jpegQuality      = 80
)

// webpQualityOf is the quality of method 4 for a size in pixels, the same with both engines.
func webpQualityOf(w, h int) int {
	if w*h <= smallUpTo {
		return webpQualitySmall
	}
	return webpQuality
}

// ICC and XMP chunks and what announces them in a VP8X header.
const (
	flagICC   = 0x20
	flagAlpha = 0x10
	flagXMP   = 0x04
)

// encodeWebP encodes a painted picture; icc and xmp are left out when empty.
func encodeWebP(p *picture, quality int, icc, xmp []byte) ([]byte, error) {
	method, own := 4, webpQualityOf(p.w, p.h)
	if p.w*p.h > thoroughUpTo {
		method, own = 2, webpQualityQuick
	}
	if quality == 0 {
		quality = own
	}
	var buf bytes.Buffer
	// The encoder gets its own planes: it would convert RGB much slower than this.
	if err := webp.Encode(&buf, p.studio(), webp.Options{Quality: quality, Method: method}); err != nil {
		return nil, err
	}
	return withChunks(buf.Bytes(), p.w, p.h, p.model == rgba, icc, xmp)
}

// studio gives the picture in VP8's own form: Y in 16..235, halved chroma, alpha beside it.
func (p *picture) studio() *image.NYCbCrA {
	cw, ch := (p.w+1)/2, (p.h+1)/2
	m := &image.NYCbCrA{
		YCbCr: image.YCbCr{
			Y: make([]byte, p.w*p.h), Cb: make([]byte, cw*ch), Cr: make([]byte, cw*ch),
			YStride: p.w, CStride: cw, SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, p.w, p.h),
		},
		AStride: p.w,
	}
	if p.model == rgba {
		p.straightYCC(m)
		m.A = p.channels[3].pix
	} else {
		copy(m.Y, p.channels[0].pix)
		copy(m.Cb, p.channels[1].pix)
		copy(m.Cr, p.channels[2].pix)
		m.A = bytes.Repeat([]byte{255}, p.w*p.h)
	}
	for i, v := range m.Y {
		m.Y[i] = toStudioY[v]
	}
	for i := range m.Cb {
		m.Cb[i], m.Cr[i] = toStudioC[m.Cb[i]], toStudioC[m.Cr[i]]
	}
	return m
}

// straightYCC fills Y, Cb and Cr of an image that keeps alpha apart. Chroma is the mean of what is not transparent.
func (p *picture) straightYCC(m *image.NYCbCrA) {
	row := make([]byte, 4*p.w)
	r, g, b, a := p.channels[0], p.channels[1], p.channels[2], p.channels[3]
	for y := range p.h {
		p.straight(row, y, nil)
		for x := range p.w {
			m.Y[y*p.w+x] = luma(row[4*x], row[4*x+1], row[4*x+2])
		}
	}
	for cy := range (p.h + 1) / 2 {
		for cx := range m.CStride {
			var rs, gs, bs, as int32
			for y := 2 * cy; y < min(2*cy+2, p.h); y++ {
				for i := y*p.w + 2*cx; i < min(y*p.w+2*cx+2, (y+1)*p.w); i++ {
					rs, gs, bs, as = rs+int32(r.pix[i]), gs+int32(g.pix[i]), bs+int32(b.pix[i]), as+int32(a.pix[i])
				}
			}
			cb, cr := uint8(128), uint8(128)
			if as > 0 {
				// The sums are multiplied by alpha: of n pixels' worth, where n is as/255.
				cb, cr = chromaOf(min(rs, as)*255/as, min(gs, as)*255/as, min(bs, as)*255/as, 1)
			}
			m.Cb[cy*m.CStride+cx], m.Cr[cy*m.CStride+cx] = cb, cr
		}
	}
}

// withChunks puts a colour profile and XMP into a WebP file of one picture (RFC 9649 §2.7).
func withChunks(file []byte, w, h int, alpha bool, icc, xmp []byte) ([]byte, error) {
	if len(icc) == 0 && len(xmp) == 0 {
		return file, nil
	}
	head := make([]byte, 10)
	var out bytes.Buffer
	out.WriteString("RIFF\x00\x00\x00\x00WEBP")
	if alpha {
		head[0] |= flagAlpha
	}
	if len(icc) > 0 {
		head[0] |= flagICC
	}
	if len(xmp) > 0 {
		head[0] |= flagXMP
	}
	put24(head[4:], w-1)
	put24(head[7:], h-1)
	putChunk(&out, "VP8X", head)
	if len(icc) > 0 {
		putChunk(&out, "ICCP", icc)
	}
	if len(file) < 12 {
		return nil, ErrUnreadable.Becausef("the encoder gave %d bytes", len(file))
	}
	for rest := file[12:]; len(rest) >= 8; {
		n := int(binary.LittleEndian.Uint32(rest[4:]))
		if n > len(rest)-8 {
			return nil, ErrUnreadable.Becausef("the encoder gave a chunk beyond its end")
		}
		switch name := string(rest[:4]); name {
		case "ALPH", "VP8 ", "VP8L":
			putChunk(&out, name, rest[8:8+n])
		}
		rest = rest[min(8+n+n%2, len(rest)):]
	}
	if len(xmp) > 0 {
		putChunk(&out, "XMP ", xmp)
	}
	all := out.Bytes()
	binary.LittleEndian.PutUint32(all[4:], uint32(len(all)-8))
	return all, nil
}

func put24(b []byte, v int) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }

func putChunk(out *bytes.Buffer, name string, data []byte) {
	out.WriteString(name)
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(data))))
	out.Write(data)
	if len(data)%2 == 1 {
		out.WriteByte(0)
	}
}

// encodeJPEG encodes a painted picture in sRGB, alpha laid on white. exif and xmp are the contents of their APP1
// segments without the names before them, and left out when empty.
func encodeJPEG(p *picture, quality int, exif, xmp []byte) ([]byte, error) {
	if quality == 0 {
		quality = jpegQuality
	}
	m := &image.YCbCr{
		Y: p.channels[0].pix, Cb: p.channels[1].pix, Cr: p.channels[2].pix, YStride: p.w, CStride: (p.w + 1) / 2,
		SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, p.w, p.h),
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, m, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	file := buf.Bytes()
	out := bytes.NewBuffer(make([]byte, 0, len(file)+len(exif)+len(xmp)+128))
	out.Write(file[:2])
	for _, segment := range [][]byte{prefixed("Exif\x00\x00", exif), prefixed("http://ns.adobe.com/xap/1.0/\x00", xmp)} {
		if n := len(segment) + 2; len(segment) > 0 && n <= 0xffff {
			out.Write([]byte{0xff, 0xe1, byte(n >> 8), byte(n)})
			out.Write(segment)
		}
	}
	out.Write(file[2:])
	return out.Bytes(), nil
}

func prefixed(name string, data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	return append([]byte(name), data...)
}
