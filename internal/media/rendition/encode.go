package rendition

import (
	"bytes"
	"encoding/binary"
	"image"
	"image/jpeg"
	"image/png"
	"slices"

	"github.com/gen2brain/webp"

	"atelie/internal/media/metadata"
)

// This file encodes renditions as WebP, JPEG and PNG.

// Default qualities of the encoders. WebP has three, for three ranges of size. Two measurements were used to choose these qualities:
// bench/pictures.go compares this program with libvips, by file size and by structural similarity to the source (1 is equal).
// bench/pictures.mjs compares file sizes with the library sharp. The method of libwebp is its effort: a higher method takes more time and
// makes smaller files.
//   - Usual pictures: method 4. At quality 79 the demo's pictures have 4 % fewer bytes than libvips' files at 80, and their similarity is
//     0.002 lower. At quality 80 they equal libvips' files.
//   - Large pictures: method 2, because with method 4, encoding 2560 x 1707 pixels takes more time than all other work on the picture.
//     Compared with libvips' file of the same size, the similarity is 0.0045 lower at quality 82, and 0.0055 at 80. The limit is 0.005.
//   - Thumbnails: method 4. Thumbnails have more detail for their area. Compared with the library sharp at quality 80, a gallery of
//     thumbnails has 2 % fewer bytes at 78, and 1.5 % more at 79.
const (
	webpQuality          = 79          // quality of usual pictures
	webpQualityLarge     = 82          // quality of pictures with more than method4MaxArea
	webpQualityThumbnail = 78          // quality of pictures with at most thumbnailMaxArea
	method4MaxArea       = 1600 * 1600 // pixels
	thumbnailMaxArea     = 400 * 400   // pixels
	jpegQuality          = 80
)

// defaultWebPQuality returns the default quality of a picture of w x h pixels that is encoded with method 4. The engine with libvips uses
// method 4 for every size.
func defaultWebPQuality(w, h int) int {
	if w*h <= thumbnailMaxArea {
		return webpQualityThumbnail
	}
	return webpQuality
}

// Flags of a VP8X header.
const (
	flagICC   = 0x20
	flagAlpha = 0x10
	flagXMP   = 0x04
)

// encodeWebP encodes p as WebP. The method paint must have converted p to the colours of the rendition. quality 0 means the default. icc
// and xmp are the blocks to embed; empty blocks are left out.
func encodeWebP(p *picture, quality int, icc, xmp []byte) ([]byte, error) {
	method, defaultQuality := 4, defaultWebPQuality(p.w, p.h)
	if p.w*p.h > method4MaxArea {
		method, defaultQuality = 2, webpQualityLarge
	}
	if quality == 0 {
		quality = defaultQuality
	}
	var buf bytes.Buffer
	// The encoder gets Y, Cb and Cr in the form of VP8, because the encoder's own conversion from RGB is much slower.
	if err := webp.Encode(&buf, p.toLimitedRange(), webp.Options{Quality: quality, Method: method}); err != nil {
		return nil, err
	}
	return insertChunks(buf.Bytes(), p.w, p.h, p.model == rgba, icc, xmp)
}

// toLimitedRange converts the picture to the form of VP8: Y in 16..235, chroma with half the width and half the height, separate alpha.
func (p *picture) toLimitedRange() *image.NYCbCrA {
	cw, ch := (p.w+1)/2, (p.h+1)/2
	m := &image.NYCbCrA{
		YCbCr: image.YCbCr{
			Y: make([]byte, p.w*p.h), Cb: make([]byte, cw*ch), Cr: make([]byte, cw*ch),
			YStride: p.w, CStride: cw, SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, p.w, p.h),
		},
		AStride: p.w,
	}
	if p.model == rgba {
		p.fillStraightYCC(m)
		m.A = p.channels[3].pix
	} else {
		copy(m.Y, p.channels[0].pix)
		copy(m.Cb, p.channels[1].pix)
		copy(m.Cr, p.channels[2].pix)
		m.A = bytes.Repeat([]byte{255}, p.w*p.h)
	}
	for i, v := range m.Y {
		m.Y[i] = toLimitedY[v]
	}
	for i := range m.Cb {
		m.Cb[i], m.Cr[i] = toLimitedC[m.Cb[i]], toLimitedC[m.Cr[i]]
	}
	return m
}

// fillStraightYCC fills Y, Cb and Cr of an image with separate alpha. Transparent pixels do not contribute to the mean chroma.
func (p *picture) fillStraightYCC(m *image.NYCbCrA) {
	row := make([]byte, 4*p.w)
	r, g, b, a := p.channels[0], p.channels[1], p.channels[2], p.channels[3]
	for y := range p.h {
		p.readNonPremultiplied(row, y, nil)
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
				// The sums are of values multiplied by alpha, and stand for as/255 pixels.
				cb, cr = meanChroma(min(rs, as)*255/as, min(gs, as)*255/as, min(bs, as)*255/as, 1)
			}
			m.Cb[cy*m.CStride+cx], m.Cr[cy*m.CStride+cx] = cb, cr
		}
	}
}

// insertChunks puts a colour profile and XMP into a WebP file of one picture (RFC 9649 §2.7).
func insertChunks(file []byte, w, h int, alpha bool, icc, xmp []byte) ([]byte, error) {
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
	putUint24(head[4:], w-1)
	putUint24(head[7:], h-1)
	putChunk(&out, "VP8X", head)
	putChunk(&out, "ICCP", icc)
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
	putChunk(&out, "XMP ", xmp)
	all := out.Bytes()
	binary.LittleEndian.PutUint32(all[4:], uint32(len(all)-8))
	return all, nil
}

func putUint24(b []byte, v int) { b[0], b[1], b[2] = byte(v), byte(v>>8), byte(v>>16) }

// putChunk appends a chunk to a WebP file, unless data is empty.
func putChunk(out *bytes.Buffer, name string, data []byte) {
	if len(data) == 0 {
		return
	}
	out.WriteString(name)
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(data))))
	out.Write(data)
	if len(data)%2 == 1 {
		out.WriteByte(0)
	}
}

// encodeJPEG encodes a painted picture in sRGB. exif and xmp are the contents of APP1 segments without their names; empty
// ones are left out.
func encodeJPEG(p *picture, quality int, exif, xmp []byte) ([]byte, error) {
	m := &image.YCbCr{
		Y: p.channels[0].pix, Cb: p.channels[1].pix, Cr: p.channels[2].pix, YStride: p.w, CStride: (p.w + 1) / 2,
		SubsampleRatio: image.YCbCrSubsampleRatio420, Rect: image.Rect(0, 0, p.w, p.h),
	}
	var buf bytes.Buffer
	if err := jpeg.Encode(&buf, m, &jpeg.Options{Quality: quality}); err != nil {
		return nil, err
	}
	return insertRights(buf.Bytes(), exif, xmp), nil
}

// insertRights puts EXIF and XMP into a JPEG file, after its first marker.
func insertRights(file, exif, xmp []byte) []byte {
	out := bytes.NewBuffer(make([]byte, 0, len(file)+len(exif)+len(xmp)+128))
	out.Write(file[:2])
	for _, segment := range [][2]string{{"Exif\x00\x00", string(exif)}, {"http://ns.adobe.com/xap/1.0/\x00", string(xmp)}} {
		if n := len(segment[0]) + len(segment[1]) + 2; segment[1] != "" && n <= 0xffff {
			out.Write([]byte{0xff, 0xe1, byte(n >> 8), byte(n)})
			out.WriteString(segment[0] + segment[1])
		}
	}
	out.Write(file[2:])
	return out.Bytes()
}

// encodePNG encodes a picture in sRGB. xmp is left out if it is empty.
func encodePNG(p *picture, xmp []byte) ([]byte, error) {
	var buf bytes.Buffer
	if err := png.Encode(&buf, p.toNRGBA()); err != nil {
		return nil, err
	}
	return insertXMP(buf.Bytes(), xmp), nil
}

// insertXMP puts XMP into a PNG file, after its signature and header, which have 33 bytes.
func insertXMP(file, xmp []byte) []byte {
	if len(xmp) == 0 {
		return file
	}
	return slices.Concat(file[:33], metadata.PNGText(xmp), file[33:])
}
