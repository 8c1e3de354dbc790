package rendition

import (
	"bytes"
	"compress/flate"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gen2brain/webp"
)

// verdict says what an engine must do with a hostile file.
type verdict int

const (
	either verdict = iota // the engine may accept or refuse it: decoders tolerate different errors
	refused
	accepted
)

// hostileFile is a hostile file, with the verdict that an engine must reach about it.
type hostileFile struct {
	name    string
	content []byte
	want    verdict
}

// corpus collects the hostile files. All of them are made in this file, byte by byte.
type corpus struct {
	t     *testing.T
	files []hostileFile
}

func (c *corpus) add(want verdict, name string, content ...[]byte) {
	c.files = append(c.files, hostileFile{name, bytes.Join(content, nil), want})
}

func hostileFiles(t *testing.T) []hostileFile {
	t.Helper()
	c := &corpus{t: t}
	c.png()
	c.jpeg()
	c.gif()
	c.webp()
	c.tiff()
	c.heif()
	c.others()
	return c.files
}

func be16(v int) []byte { return binary.BigEndian.AppendUint16(nil, uint16(v)) }
func be32(v int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(v)) }
func le16(v int) []byte { return binary.LittleEndian.AppendUint16(nil, uint16(v)) }
func le32(v int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(v)) }

func join(parts ...[]byte) []byte { return bytes.Join(parts, nil) }

// zeros returns a zlib stream that decompresses to about n megabytes of zeros. The function repeats one compressed block, so it does not need
// that much memory itself.
func (c *corpus) zeros(megabytes int) []byte {
	var block bytes.Buffer
	w, err := flate.NewWriter(&block, flate.BestCompression)
	if err != nil {
		c.t.Fatal(err)
	}
	million := make([]byte, 1<<20)
	var ends [2]int
	for i := range ends {
		if _, err := w.Write(million); err != nil {
			c.t.Fatal(err)
		}
		if err := w.Flush(); err != nil {
			c.t.Fatal(err)
		}
		ends[i] = block.Len()
	}
	return join([]byte{0x78, 0xda}, bytes.Repeat(block.Bytes()[ends[0]:], megabytes), []byte{0x03, 0x00, 0, 0, 0, 1})
}

func deflated(t *testing.T, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

const pngMagic = "\x89PNG\r\n\x1a\n"

func chunk(name string, data []byte) []byte {
	body := append([]byte(name), data...)
	return join(be32(len(data)), body, be32(int(crc32.ChecksumIEEE(body))))
}

func ihdr(w, h, bits, kind, interlace int) []byte {
	return chunk("IHDR", join(be32(w), be32(h), []byte{byte(bits), byte(kind), 0, 0, byte(interlace)}))
}

func (c *corpus) png() {
	var (
		magic = []byte(pngMagic)
		end   = chunk("IEND", nil)
		tiny  = chunk("IDAT", deflated(c.t, []byte{0, 0}))
		good  bytes.Buffer
	)
	if err := png.Encode(&good, scene(300, 200)); err != nil {
		c.t.Fatal(err)
	}
	c.add(refused, "png 50000x50000 1 bit", magic, ihdr(50000, 50000, 1, 0, 0), chunk("IDAT", c.zeros(299)), end)
	c.add(refused, "png 50000x50000 rgba", magic, ihdr(50000, 50000, 8, 6, 0), tiny, end)
	c.add(either, "png of 108 megapixels in few bytes", magic, ihdr(10400, 10400, 1, 0, 0), chunk("IDAT", c.zeros(13)), end)
	c.add(either, "png of 48 megapixels rgba in few bytes", magic, ihdr(7000, 7000, 8, 6, 0), chunk("IDAT", c.zeros(187)), end)
	c.add(either, "png interlaced 36 megapixels rgba", magic, ihdr(6000, 6000, 8, 6, 1), chunk("IDAT", c.zeros(140)), end)
	c.add(either, "png 16 bit, said to be 30 megapixels, empty", magic, ihdr(6000, 5000, 16, 6, 0), tiny, end)
	c.add(either, "png iccp of 4 GB", magic, ihdr(1, 1, 8, 0, 0), chunk("iCCP", join([]byte("p\x00\x00"), c.zeros(4096))), tiny, end)
	c.add(either, "png text of 4 GB", magic, ihdr(1, 1, 8, 0, 0), chunk("zTXt", join([]byte("Comment\x00\x00"), c.zeros(4096))), tiny, end)
	c.add(either, "png itxt of 4 GB", magic, ihdr(1, 1, 8, 0, 0), chunk("iTXt", join([]byte("XML:com.adobe.xmp\x00\x01\x00\x00\x00"), c.zeros(4096))), tiny, end)
	c.add(either, "png with more data than pixels", magic, ihdr(1, 1, 8, 0, 0), chunk("IDAT", c.zeros(4096)), end)
	c.add(refused, "png without width", magic, ihdr(0, 10, 8, 0, 0), tiny, end)
	c.add(refused, "png without height", magic, ihdr(10, 0, 8, 0, 0), tiny, end)
	c.add(refused, "png of negative size", magic, ihdr(-1, -1, 8, 0, 0), tiny, end)
	c.add(refused, "png of the largest size", magic, ihdr(1<<31-1, 1<<31-1, 16, 6, 1), tiny, end)
	c.add(refused, "png of no such depth", magic, ihdr(10, 10, 7, 9, 3), tiny, end)
	c.add(refused, "png without header", magic, tiny, end)
	c.add(refused, "png with a chunk beyond its end", magic, ihdr(4, 4, 8, 0, 0), be32(1<<31-1), []byte("IDAT"))
	c.add(refused, "png with two headers", magic, ihdr(1, 1, 8, 0, 0), ihdr(20000, 5000, 8, 6, 0), tiny)
	c.add(refused, "png without palette", magic, ihdr(1, 1, 8, 3, 0), tiny, end)
	c.add(either, "png index beyond the palette", magic, ihdr(1, 1, 8, 3, 0), chunk("PLTE", []byte{1, 2, 3}), chunk("IDAT", deflated(c.t, []byte{0, 255})), end)
	c.add(refused, "png 30001 wide", magic, ihdr(30001, 1, 8, 0, 0), chunk("IDAT", deflated(c.t, make([]byte, 30002))), end)
	c.add(accepted, "png 30000x1", magic, ihdr(30000, 1, 8, 0, 0), chunk("IDAT", deflated(c.t, make([]byte, 30001))), end)
	c.add(accepted, "png 1x30000", magic, ihdr(1, 30000, 8, 0, 0), chunk("IDAT", deflated(c.t, make([]byte, 60000))), end)
	c.add(accepted, "png 1x1", magic, ihdr(1, 1, 8, 0, 0), tiny, end)
	c.add(accepted, "png and html after it", good.Bytes(), []byte("<script>alert(1)</script>"))
	deep := image.NewNRGBA64(image.Rect(0, 0, 90, 70))
	for i := range deep.Pix {
		deep.Pix[i] = byte(i * 7)
	}
	var sixteen bytes.Buffer
	if err := png.Encode(&sixteen, deep); err != nil {
		c.t.Fatal(err)
	}
	c.add(accepted, "png of 16 bits with alpha", sixteen.Bytes())
	c.cut("png", good.Bytes(), true)
	c.corrupt("png", good.Bytes())
}

// cut adds the beginnings of a valid file. With strict, all of them must be refused.
func (c *corpus) cut(kind string, whole []byte, strict bool) {
	for _, part := range []float64{0.02, 0.1, 0.3, 0.5, 0.7, 0.9} {
		n := int(part * float64(len(whole)))
		want := either
		if strict {
			want = refused
		}
		c.add(want, fmt.Sprintf("%s cut after %d of %d bytes", kind, n, len(whole)), whole[:n])
	}
}

// corrupt adds a valid file with bytes changed at random.
func (c *corpus) corrupt(kind string, whole []byte) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, uint64(len(kind))))
		bad := slices.Clone(whole)
		for range 1 + len(bad)/200 {
			bad[8+r.IntN(len(bad)-8)] = byte(r.Uint32())
		}
		c.add(either, fmt.Sprintf("%s corrupted %d", kind, seed), bad)
	}
}

func segment(marker byte, data []byte) []byte {
	return join([]byte{0xff, marker}, be16(len(data)+2), data)
}

func (c *corpus) jpeg() {
	var (
		good bytes.Buffer
		soi  = []byte{0xff, 0xd8}
		eoi  = []byte{0xff, 0xd9}
		dqt  = segment(0xdb, append([]byte{0}, bytes.Repeat([]byte{1}, 64)...))
		// Codes of one bit each: DC category 0, and the longest run of empty blocks.
		dht   = join(segment(0xc4, join([]byte{0x00, 1}, make([]byte, 15), []byte{0})), segment(0xc4, join([]byte{0x10, 1}, make([]byte, 15), []byte{0xe0})))
		frame = func(kind byte, w, h, components int) []byte {
			b := join([]byte{8}, be16(h), be16(w), []byte{byte(components)})
			for i := range components {
				b = append(b, byte(i+1), 0x11, 0)
			}
			return segment(kind, b)
		}
		dc = segment(0xda, []byte{1, 1, 0, 0, 0, 0})
		ac = segment(0xda, []byte{1, 1, 0, 1, 63, 0})
	)
	if err := jpeg.Encode(&good, scene(300, 200), nil); err != nil {
		c.t.Fatal(err)
	}
	g := good.Bytes()
	with := func(segments ...[]byte) []byte { return join(g[:2], join(segments...), g[2:]) }
	c.add(refused, "jpeg progressive 65500x65500", soi, dqt, frame(0xc2, 65500, 65500, 3), dht, dc, make([]byte, 200_000), eoi)
	c.add(refused, "jpeg baseline 65500x65500", soi, dqt, frame(0xc0, 65500, 65500, 3), dht, dc, make([]byte, 1000), eoi)
	c.add(either, "jpeg progressive 10000x10000, empty", soi, dqt, frame(0xc2, 10000, 10000, 3), dht, dc, make([]byte, 1000), eoi)
	c.add(either, "jpeg baseline 10000x10000, empty", soi, dqt, frame(0xc0, 10000, 10000, 3), dht, dc, make([]byte, 1000), eoi)
	const side = 4000
	blocks := (side / 8) * (side / 8)
	run := bitsOf(repeat("0"+strings.Repeat("1", 14), blocks/32767+1))
	scans := func(n int) []byte {
		return join(soi, dqt, frame(0xc2, side, side, 1), dht, dc, make([]byte, blocks/8+1), bytes.Repeat(join(ac, run), n), eoi)
	}
	c.add(refused, "jpeg of 20000 scans", scans(20000))
	c.add(refused, "jpeg of 120 scans", scans(120))
	c.add(either, "jpeg of 90 scans", scans(90))
	c.add(refused, "jpeg without height", soi, dqt, frame(0xc0, 100, 0, 1), dht, dc, make([]byte, 100), eoi)
	c.add(refused, "jpeg without width", soi, dqt, frame(0xc0, 0, 100, 1), dht, dc, make([]byte, 100), eoi)
	c.add(refused, "jpeg without components", soi, dqt, frame(0xc0, 8, 8, 0), dht, dc, make([]byte, 100), eoi)
	c.add(either, "jpeg without tables", soi, frame(0xc0, 8, 8, 1), dc, make([]byte, 100), eoi)
	c.add(refused, "jpeg without frame", soi, dqt, dht, dc, make([]byte, 100), eoi)
	c.add(refused, "jpeg of markers alone", bytes.Repeat(soi, 1000))
	c.add(refused, "jpeg of fill bytes alone", soi, bytes.Repeat([]byte{0xff}, 5_000_000))
	c.add(either, "jpeg of two frames", soi, dqt, frame(0xc0, 8, 8, 1), frame(0xc0, 9000, 9000, 1), dht, dc, make([]byte, 100), eoi)
	c.add(either, "jpeg arithmetic", soi, dqt, frame(0xc9, 64, 64, 1), dc, make([]byte, 100), eoi)
	c.add(refused, "jpeg lossless", soi, dqt, frame(0xc3, 64, 64, 1), dht, dc, make([]byte, 100), eoi)
	c.add(refused, "jpeg with a table of too many codes", soi, dqt, frame(0xc0, 64, 64, 1), segment(0xc4, join([]byte{0}, bytes.Repeat([]byte{255}, 16), make([]byte, 255*16))), dc, make([]byte, 100), eoi)
	c.add(refused, "jpeg of 17 bits", soi, dqt, segment(0xc0, join([]byte{17}, be16(8), be16(8), []byte{1, 1, 0x11, 0})), dht, dc, make([]byte, 100), eoi)
	c.add(refused, "jpeg of odd sampling", soi, dqt, segment(0xc0, join([]byte{8}, be16(8), be16(8), []byte{3, 1, 0xff, 0, 2, 0x00, 0, 3, 0x53, 0})), dht, dc, make([]byte, 100), eoi)
	c.add(refused, "jpeg with a segment beyond its end", soi, []byte{0xff, 0xe1, 0xff, 0xff, 'E'})
	c.add(accepted, "jpeg of thousands of comments", with(bytes.Repeat(segment(0xfe, []byte("x")), 20_000)))
	c.add(accepted, "jpeg with html inside and after", with(segment(0xfe, []byte("<html><script>alert(1)</script>"))), []byte("</html><?php system($_GET[0]); ?>"))
	c.add(accepted, "jpeg and zip", g, []byte("PK\x03\x04"), make([]byte, 500), []byte("PK\x05\x06"), make([]byte, 18))
	c.add(accepted, "jpeg and pdf", with(segment(0xfe, []byte("%PDF-1.4\n1 0 obj<<>>endobj"))), []byte("%%EOF"))
	c.add(accepted, "jpeg and javascript", join(soi, []byte{0xff, 0xe0, 0x2f, 0x2a}, make([]byte, 0x2f28)), segment(0xfe, []byte("*/=alert(1);/*")), g[2:], []byte("*/"))
	// The directory refers to itself as its next directory and as its EXIF directory.
	cycle := join([]byte("Exif\x00\x00II*\x00"), le32(8), le16(2), tag(0x8769, 4, 1, 8), tag(0x0112, 3, 1, 6), le32(8))
	c.add(accepted, "jpeg with exif in a circle", with(segment(0xe1, cycle)))
	c.add(accepted, "jpeg with exif of huge counts", with(segment(0xe1, join([]byte("Exif\x00\x00II*\x00"), le32(8), le16(2), tag(0x010f, 2, 1<<31-1, 8), tag(0x013b, 2, 1<<32-1, 1<<32-4), le32(0)))))
	c.add(accepted, "jpeg with exif of 65535 entries", with(segment(0xe1, join([]byte("Exif\x00\x00MM\x00*"), be32(8), be16(65535), make([]byte, 60000)))))
	c.add(accepted, "jpeg turned beyond 8", with(segment(0xe1, join([]byte("Exif\x00\x00II*\x00"), le32(8), le16(1), tag(0x0112, 3, 1, 60000), le32(0)))))
	xmp := segment(0xe1, join([]byte("http://ns.adobe.com/xap/1.0/\x00"), bytes.Repeat([]byte("<a>"), 20000)))
	c.add(accepted, "jpeg with xmp of 40 megabytes", with(bytes.Repeat(xmp, 650)))
	c.add(accepted, "jpeg with xmp of entities", with(segment(0xe1, []byte("http://ns.adobe.com/xap/1.0/\x00<!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;&a;&a;\">]><x>&b;&b;</x>"))))
	icc := func(i, n int, b []byte) []byte {
		return segment(0xe2, join([]byte("ICC_PROFILE\x00"), []byte{byte(i), byte(n)}, b))
	}
	c.add(accepted, "jpeg with a profile of nonsense", with(icc(1, 1, bytes.Repeat([]byte("acsp"), 1000))))
	c.add(accepted, "jpeg with a profile in 255 parts, of which one is there", with(icc(255, 255, make([]byte, 100))))
	var parts [][]byte
	for i := range 255 {
		parts = append(parts, icc(i+1, 255, make([]byte, 65000)))
	}
	c.add(accepted, "jpeg with a profile of 16 megabytes", with(parts...))
	tags := make([]byte, 132)
	copy(tags[12:], "mntrRGB XYZ ")
	copy(tags[36:], "acsp")
	binary.BigEndian.PutUint32(tags, 144)
	c.add(accepted, "jpeg with a profile of four thousand million tags", with(icc(1, 1, join(tags[:128], be32(-1), make([]byte, 12)))))
	cmyk, err := base64.StdEncoding.DecodeString(plainCMYK)
	if err != nil {
		c.t.Fatal(err)
	}
	c.add(accepted, "jpeg cmyk without profile", cmyk)
	c.cut("jpeg", g, true)
	c.corrupt("jpeg", g)
}

// plainCMYK is a picture of 16 x 16 pixels with Adobe's marker and without a profile. Go's encoder cannot make it.
const plainCMYK = "/9j/7gAOQWRvYmUAZAAAAAAA/9sAQwAbEhQXFBEbFxYXHhwbIChCKyglJShROj0wQmBVZWRfVV1baniZgWpxkHNbXYW1hpCeo6utq2eAvMm6pseZqKuk/8AAFAgAEAAQBEMRAE0RAFkRAEsRAP/EABkAAAIDAQAAAAAAAAAAAAAAAAACAQMFBv/EACIQAAICAgEDBQAAAAAAAAAAAAECABESIQMiUWEEEzGBsf/aAA4EQwBNAFkASwAAPwDcyUMd2RN9kYDIE5To81yxvcfPQFajBlc+e0A5CZbJMnRhZuvgSlip5CVWM4Z6CkfcrBVL1UrAZV2fEgNYtVIP7E9Ure10XYhxcmYJIrt5j8Jpuoip/9k="

func tag(name, kind, count, value int) []byte {
	return join(le16(name), le16(kind), le32(count), le32(value))
}

func repeat(s string, n int) string { return strings.Repeat(s, n) }

// bitsOf packs bits for a JPEG's scan. It pads with ones, and adds a zero byte after each byte of ones.
func bitsOf(bits string) []byte {
	bits += strings.Repeat("1", (8-len(bits)%8)%8)
	var out []byte
	for at := 0; at < len(bits); at += 8 {
		var b byte
		for _, bit := range bits[at : at+8] {
			b = b<<1 | byte(bit-'0')
		}
		if out = append(out, b); b == 0xff {
			out = append(out, 0)
		}
	}
	return out
}

func (c *corpus) gif() {
	var good bytes.Buffer
	palette := color.Palette{color.Black, color.White, color.NRGBA{200, 30, 30, 255}}
	m := image.NewPaletted(image.Rect(0, 0, 300, 200), palette)
	for i := range m.Pix {
		m.Pix[i] = uint8(i / 7 % 3)
	}
	if err := gif.Encode(&good, m, nil); err != nil {
		c.t.Fatal(err)
	}
	g := good.Bytes()
	screen := func(w, h int) []byte {
		return join([]byte("GIF89a"), le16(w), le16(h), []byte{0x80, 0, 0, 0, 0, 0, 255, 255, 255})
	}
	frame := func(x, y, w, h int) []byte {
		return join([]byte{0x2c}, le16(x), le16(y), le16(w), le16(h), []byte{0, 2, 2, 0x4c, 0x01, 0})
	}
	c.add(accepted, "gif of 100000 frames", screen(1, 1), bytes.Repeat(frame(0, 0, 1, 1), 100_000), []byte{0x3b})
	c.add(refused, "gif 65535x65535", screen(65535, 65535), frame(0, 0, 1, 1), []byte{0x3b})
	c.add(either, "gif 10000x10000 with one pixel", screen(10000, 10000), frame(0, 0, 1, 1), []byte{0x3b})
	c.add(refused, "gif without size", screen(0, 0), frame(0, 0, 1, 1), []byte{0x3b})
	c.add(either, "gif with a frame beyond its screen", screen(2, 2), frame(60000, 60000, 60000, 60000), []byte{0x3b})
	c.add(either, "gif with a frame larger than its screen", screen(2, 2), frame(0, 0, 30000, 30000), []byte{0x3b})
	c.add(refused, "gif without frames", screen(2, 2), []byte{0x3b})
	c.add(either, "gif of extensions alone", screen(2, 2), bytes.Repeat([]byte{0x21, 0xfe, 1, 'x', 0}, 200_000))
	c.add(refused, "gif with an unknown block", screen(2, 2), []byte{0x99})
	c.add(refused, "gif with codes of no such length", screen(2, 2), []byte{0x2c}, le16(0), le16(0), le16(2), le16(2), []byte{0, 99, 2, 1, 1, 0, 0x3b})
	c.cut("gif", g, true)
	c.corrupt("gif", g)
}

func riff(chunks ...[]byte) []byte {
	body := join(chunks...)
	return join([]byte("RIFF"), le32(len(body)+4), []byte("WEBP"), body)
}

func riffChunk(name string, data []byte) []byte {
	return join([]byte(name), le32(len(data)), data, make([]byte, len(data)%2))
}

func canvas(flags byte, w, h int) []byte {
	return riffChunk("VP8X", join([]byte{flags, 0, 0, 0}, le32(w - 1)[:3], le32(h - 1)[:3]))
}

func (c *corpus) webp() {
	encode := func(lossless bool) []byte {
		var b bytes.Buffer
		if err := webp.Encode(&b, scene(300, 200), webp.Options{Quality: 80, Lossless: lossless}); err != nil {
			c.t.Fatal(err)
		}
		return b.Bytes()
	}
	lossy, lossless := encode(false), encode(true)
	c.add(refused, "webp canvas of 16 million a side", riff(canvas(0, 1<<24, 1<<24), lossy[12:]))
	c.add(either, "webp canvas that is not the picture's", riff(canvas(0, 9000, 9000), lossy[12:]))
	c.add(either, "webp animation that is none", riff(canvas(2, 300, 200), lossy[12:]))
	c.add(either, "webp animation of frames beyond the canvas", riff(canvas(2, 2, 2), riffChunk("ANIM", make([]byte, 6)),
		riffChunk("ANMF", join([]byte{255, 255, 255, 255, 255, 255}, le32(16383)[:3], le32(16383)[:3], make([]byte, 4), lossy[12:]))))
	c.add(either, "webp animation of 10000 frames", riff(canvas(2, 1, 1), riffChunk("ANIM", make([]byte, 6)), bytes.Repeat(riffChunk("ANMF", make([]byte, 16)), 10_000)))
	c.add(refused, "webp without picture", riff(canvas(0, 100, 100)))
	c.add(refused, "webp of other chunks alone", riff(bytes.Repeat(riffChunk("XXXX", nil), 100_000)))
	c.add(refused, "webp with a chunk beyond its end", riff([]byte("VP8 \xff\xff\xff\x7f")))
	c.add(refused, "webp lossy without size", riff(riffChunk("VP8 ", []byte{0x10, 0, 0, 0x9d, 1, 0x2a, 0, 0, 0, 0, 0, 0})))
	c.add(either, "webp lossy 16383x7000 in few bytes", riff(riffChunk("VP8 ", join([]byte{0x10, 0x02, 0, 0x9d, 1, 0x2a}, le16(16383), le16(7000), make([]byte, 200)))))
	c.add(refused, "webp lossless 16384x16384", riff(riffChunk("VP8L", join([]byte{0x2f, 0xff, 0xff, 0xff, 0x0f}, make([]byte, 100)))))
	c.add(either, "webp lossless 10000x10000 in few bytes", riff(riffChunk("VP8L", join([]byte{0x2f}, le32(9999|9999<<14), make([]byte, 100)))))
	c.add(either, "webp with alpha of nonsense", riff(canvas(0x10, 300, 200), riffChunk("ALPH", bytes.Repeat([]byte{1, 255}, 500)), lossy[12:]))
	c.add(either, "webp with a profile of nonsense", riff(canvas(0x20, 300, 200), riffChunk("ICCP", make([]byte, 5000)), lossy[12:]))
	c.cut("webp", lossy, true)
	c.cut("webp lossless", lossless, true)
	c.corrupt("webp", lossy)
	c.corrupt("webp lossless", lossless)
}

func (c *corpus) tiff() {
	file := func(next int, entries ...[]byte) []byte {
		return join([]byte("II*\x00"), le32(8), le16(len(entries)), join(entries...), le32(next))
	}
	gray := func(w, h int, more ...[]byte) [][]byte {
		return append([][]byte{tag(256, 4, 1, w), tag(257, 4, 1, h), tag(258, 3, 1, 8), tag(259, 3, 1, 1), tag(262, 3, 1, 1)}, more...)
	}
	strip := func(at, bytes int) [][]byte {
		return [][]byte{tag(273, 4, 1, at), tag(277, 3, 1, 1), tag(278, 4, 1, 1<<20), tag(279, 4, 1, bytes)}
	}
	data := func(entries ...[]byte) []byte { return file(0, entries...) }
	plain := func(w, h int) []byte {
		entries := gray(w, h, strip(8+2+9*12+4, w*h)...)
		return join(file(0, entries...), bytes.Repeat([]byte{0x55, 0xaa}, w*h/2))
	}
	c.add(accepted, "tiff", plain(64, 48))
	c.add(either, "tiff of directories in a circle", file(8, gray(64, 48, strip(8+2+9*12+4, 64*48)...)...), make([]byte, 64*48))
	c.add(refused, "tiff 100000x100000", data(gray(100000, 100000, strip(122, 4)...)...))
	c.add(refused, "tiff of four thousand million rows", data(gray(1, -1, strip(122, 4)...)...))
	c.add(refused, "tiff with a strip beyond its end", data(gray(1000, 1000, strip(1<<31-1, 1<<31-1)...)...))
	c.add(refused, "tiff with four thousand million strips", data(gray(1000, 1000, tag(273, 4, -1, 8), tag(278, 4, 1, 1), tag(279, 4, -1, 8))...))
	c.add(refused, "tiff of strips without rows", data(gray(1000, 1000, tag(273, 4, 1, 8), tag(278, 4, 1, 0), tag(279, 4, 1, 0))...))
	c.add(refused, "tiff of tiles without size", data(gray(1000, 1000, tag(322, 4, 1, 0), tag(323, 4, 1, 0), tag(324, 4, 1, 8), tag(325, 4, 1, 8))...))
	c.add(refused, "tiff of tiles larger than all", data(gray(1000, 1000, tag(322, 4, 1, 1<<31-1), tag(323, 4, 1, 1<<31-1), tag(324, 4, 1, 8), tag(325, 4, 1, 8))...))
	bomb := c.zeros(1024)
	c.add(either, "tiff deflating to a gigabyte", file(0, tag(256, 4, 1, 100), tag(257, 4, 1, 100), tag(258, 3, 1, 8), tag(259, 3, 1, 8), tag(262, 3, 1, 1), tag(273, 4, 1, 8+2+9*12+4), tag(277, 3, 1, 1), tag(278, 4, 1, 100), tag(279, 4, 1, len(bomb))), bomb)
	c.add(either, "tiff with texts of gigabytes", data(gray(64, 48, tag(270, 2, -1, 8), tag(315, 2, 1<<31-1, 8), tag(33432, 2, -1, 1<<31), tag(700, 1, -1, 8), tag(34675, 7, -1, 8))...))
	c.add(refused, "tiff directory beyond its end", []byte("II*\x00\xff\xff\xff\x7f"))
	c.add(refused, "tiff without entries", file(0))
	c.add(refused, "tiff of 65535 entries", join([]byte("MM\x00*"), be32(8), be16(65535), make([]byte, 1000)))
	c.add(refused, "tiff of 255 samples a pixel", data(gray(1000, 1000, tag(277, 3, 1, 65535), tag(273, 4, 1, 8), tag(279, 4, 1, 8))...))
	c.add(refused, "tiff without size", data(gray(0, 0, strip(122, 4)...)...))
	c.cut("tiff", plain(64, 48), true)
	c.corrupt("tiff", plain(64, 48))
}

func (c *corpus) heif() {
	for name, text := range map[string]string{"heic": tinyHEIC, "avif": tinyAVIF} {
		good, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			c.t.Fatal(err)
		}
		at := bytes.LastIndex(good, []byte("ispe"))
		huge := slices.Clone(good)
		copy(huge[at+8:], join(be32(60000), be32(60000)))
		c.add(refused, name+" 60000x60000", huge)
		large := slices.Clone(good)
		copy(large[at+8:], join(be32(9000), be32(9000)))
		c.add(either, name+" said to be larger than it is", large)
		c.add(refused, name+" of its first box alone", good[:28])
		c.add(refused, name+" of boxes in boxes", good[:28], bytes.Repeat(join(be32(1<<30), []byte("meta\x00\x00\x00\x00")), 10_000))
		c.cut(name, good, true)
		c.corrupt(name, good)
	}
}

func (c *corpus) others() {
	svg := `<svg xmlns="http://www.w3.org/2000/svg" width="100" height="100"><image href="file:///etc/passwd"/><script>alert(1)</script></svg>`
	for name, content := range map[string]string{
		"empty":                    "",
		"one byte":                 "\xff",
		"two bytes":                "\xff\xd8",
		"svg":                      svg,
		"svg with declaration":     `<?xml version="1.0"?>` + svg,
		"html":                     "<!doctype html><script>alert(1)</script>",
		"php":                      "<?php system($_GET['c']); ?>",
		"mp4":                      "\x00\x00\x00\x18ftypisom\x00\x00\x02\x00isommp42" + strings.Repeat("\x00", 100),
		"pdf":                      "%PDF-1.7\n1 0 obj<</Type/Catalog>>endobj",
		"postscript":               "%!PS-Adobe-3.0\n(%pipe%id) (w) file",
		"imagemagick script":       "push graphic-context\nviewbox 0 0 640 480\nfill 'url(https://example.com/\"|id\")'\npop graphic-context",
		"text of another program":  "P6 30000 30000 255\n",
		"matrix":                   "3 3\n1 2 3\n4 5 6\n7 8 9\n",
		"bmp":                      "BM" + strings.Repeat("\x00", 100),
		"libvips' own":             "\xb6\xa6\xf2\x08" + strings.Repeat("\x00\x01\x00\x00", 30),
		"openexr":                  "\x76\x2f\x31\x01" + strings.Repeat("\x00", 100),
		"jpeg 2000":                "\x00\x00\x00\x0cjP  \r\n\x87\n" + strings.Repeat("\x00", 100),
		"jpeg xl":                  "\xff\x0a" + strings.Repeat("\x00", 100),
		"psd":                      "8BPS\x00\x01" + strings.Repeat("\x00", 100),
		"radiance":                 "#?RADIANCE\nFORMAT=32-bit_rle_rgbe\n\n-Y 30000 +X 30000\n",
		"zip":                      "PK\x03\x04" + strings.Repeat("\x00", 100),
		"program":                  "\x7fELF\x02\x01\x01" + strings.Repeat("\x00", 100),
		"noise":                    string(noiseBytes(100_000)),
		"pdf before a jpeg's mark": "%PDF-1.4\n\xff\xd8\xff\xe0",
	} {
		c.add(refused, name, []byte(content))
	}
}

func noiseBytes(n int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}
