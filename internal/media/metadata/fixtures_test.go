package metadata

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"atelie/internal/media/rendition/colour"
)

// secret is in each part of the example files that must not be in a copy without metadata.
const secret = "SECRET"

const (
	creator = "Vânia Müller; João <\"Oliveira\"> & Filhos"
	rights  = "© 2026 Vânia Müller, todos os direitos reservados"
)

// picture returns a small picture in which neighbouring pixels differ.
func picture() image.Image {
	img := image.NewNRGBA(image.Rect(0, 0, 48, 32))
	for y := range 32 {
		for x := range 48 {
			img.SetNRGBA(x, y, color.NRGBA{uint8(5 * x), uint8(8 * y), uint8(x * y), 255})
		}
	}
	return img
}

// exifFixture returns an EXIF block as a camera writes it: an orientation, names, a location, serial numbers, a maker note and a thumbnail.
func exifFixture(order binary.AppendByteOrder) []byte {
	type entry struct {
		name, kind uint16
		value      []byte
		count      int
	}
	ascii := func(name uint16, s string) entry { return entry{name, 2, []byte(s + "\x00"), len(s) + 1} }
	number := func(name uint16, kind uint16, v uint32) entry {
		if kind == 3 {
			return entry{name, 3, append(order.AppendUint16(nil, uint16(v)), 0, 0), 1}
		}
		return entry{name, 4, order.AppendUint32(nil, v), 1}
	}
	out := []byte("MM\x00*")
	if order.AppendUint16(nil, 1)[0] == 1 {
		out = []byte("II*\x00")
	}
	directory := func(at int, next uint32, entries ...entry) []byte {
		b := order.AppendUint16(nil, uint16(len(entries)))
		var extra []byte
		start := at + 2 + 12*len(entries) + 4
		for _, e := range entries {
			b = order.AppendUint16(order.AppendUint16(b, e.name), e.kind)
			b = order.AppendUint32(b, uint32(e.count))
			if len(e.value) <= 4 {
				b = append(append(b, e.value...), make([]byte, 4-len(e.value))...)
				continue
			}
			b = order.AppendUint32(b, uint32(start+len(extra)))
			extra = append(extra, e.value...)
		}
		return append(order.AppendUint32(b, next), extra...)
	}
	out = order.AppendUint32(out, 8)
	out = append(out, directory(8, 900,
		ascii(0x010f, secret), number(tagOrientation, 3, 6), ascii(0x0132, secret), ascii(tagArtist, "someone else"),
		ascii(tagCopyright, "some other right"), number(tagExif, 4, 300), number(tagGPS, 4, 600))...)
	out = append(out, make([]byte, 300-len(out))...)
	out = append(out, directory(300, 0, entry{0x927c, 7, bytes.Repeat([]byte(secret), 20), 120}, ascii(tagBodySerial, secret))...)
	out = append(out, make([]byte, 600-len(out))...)
	out = append(out, directory(600, 0, ascii(1, "N"),
		entry{tagLatitude, 5, bytes.Repeat(order.AppendUint32(nil, 7), 6), 3}, ascii(0x1d, secret))...)
	out = append(out, make([]byte, 900-len(out))...)
	out = append(out, directory(900, 0, number(0x0201, 4, 950), number(0x0202, 4, 12))...)
	out = append(out, make([]byte, 950-len(out))...)
	return append(out, secret+secret...)
}

const xmpFixture = `<?xpacket begin="" id="W5M0MpCehiHzreSzNTczkc9d"?><x:xmpmeta xmlns:x="adobe:ns:meta/" x:xmptk="` + secret + `">
<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/"
 xmlns:exif="http://ns.adobe.com/exif/1.0/" xmlns:aux="http://ns.adobe.com/exif/1.0/aux/" xmlns:xmpRights="http://ns.adobe.com/xap/1.0/rights/"
 xmlns:plus="http://ns.useplus.org/ldf/xmp/1.0/" exif:GPSLatitude="38,42.5N" aux:SerialNumber="` + secret + `" xmpRights:WebStatement="https://example.org/terms?a=1&amp;b=2">
<dc:creator><rdf:Seq><rdf:li>Vânia Müller</rdf:li><rdf:li>João &lt;"Oliveira"> &amp; Filhos</rdf:li></rdf:Seq></dc:creator>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">` + secret + `</rdf:li></rdf:Alt></dc:title>
<dc:rights><rdf:Alt><rdf:li xml:lang="x-default">` + rights + `</rdf:li><rdf:li xml:lang="de">` + secret + `</rdf:li></rdf:Alt></dc:rights>
<plus:DataMining>http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED-AIMLTRAINING</plus:DataMining>
</rdf:Description></rdf:RDF></x:xmpmeta><?xpacket end="w"?>`

func iptcFixture() []byte {
	var b []byte
	set := func(number byte, text string) {
		b = append(b, 0x1c, 2, number)
		b = append(binary.BigEndian.AppendUint16(b, uint16(len(text))), text...)
	}
	set(iptcByline, "M\xfcller of IPTC") // Latin-1
	set(iptcCity, secret)
	set(iptcCopyright, "rights of IPTC")
	out := []byte("Photoshop 3.0\x008BIM\x04\x25\x00\x00\x00\x00\x00\x038BI\x008BIM\x04\x04\x03abc")
	return append(binary.BigEndian.AppendUint32(out, uint32(len(b))), b...)
}

func jpegSegment(marker byte, parts ...string) []byte {
	data := strings.Join(parts, "")
	return append(binary.BigEndian.AppendUint16([]byte{0xff, marker}, uint16(len(data)+2)), data...)
}

// profileSegments is a profile in several APP2 segments of the given size.
func profileSegments(icc []byte, size int) []byte {
	var out []byte
	count := (len(icc) + size - 1) / size
	for i := range count {
		part := icc[i*size : min((i+1)*size, len(icc))]
		out = append(out, jpegSegment(markerAPP2, string(headICC), string([]byte{byte(i + 1), byte(count)}), string(part))...)
	}
	return out
}

func plainJPEG(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := jpeg.Encode(&b, picture(), &jpeg.Options{Quality: 90}); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// dirtyJPEG adds to a JPEG everything that cameras, programs and attackers add.
func dirtyJPEG(t testing.TB, plain []byte) []byte {
	t.Helper()
	out := []byte{0xff, markerSOI}
	out = append(out, jpegSegment(markerAPP0, "JFIF\x00\x01\x01\x01\x00\x48\x00\x48\x01\x01", "SEC")...)
	out = append(out, jpegSegment(markerAPP0, "JFXX\x00\x10", secret)...)
	out = append(out, 0xff) // a fill byte
	out = append(out, jpegSegment(markerAPP1, "Exif\x00\x00", string(exifFixture(binary.LittleEndian)))...)
	out = append(out, jpegSegment(markerAPP1, string(headXMP), xmpFixture)...)
	out = append(out, jpegSegment(markerAPP1, "http://ns.adobe.com/xmp/extension/\x00", secret)...)
	out = append(out, profileSegments(colour.AdobeRGBProfile, 100)...)
	out = append(out, jpegSegment(markerAPP2, "MPF\x00", secret)...)
	out = append(out, jpegSegment(markerAPP0+11, "JP\x00\x01jumb c2pa", secret)...)
	out = append(out, jpegSegment(markerAPPD, string(iptcFixture()))...)
	out = append(out, jpegSegment(markerCOM, "<script>"+secret+"</script>")...)
	out = append(out, plain[2:]...)
	return append(out, "\xff\xd8<html>"+secret+"</html>\xff\xd9"...)
}

func pngChunk(kind string, parts ...string) []byte {
	data := kind + strings.Join(parts, "")
	out := binary.BigEndian.AppendUint32(nil, uint32(len(data)-4))
	return binary.BigEndian.AppendUint32(append(out, data...), crc32.ChecksumIEEE([]byte(data)))
}

func deflate(data []byte) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data) // a bytes.Buffer does not fail
	_ = w.Close()
	return b.String()
}

func plainPNG(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := png.Encode(&b, picture()); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func dirtyPNG(t testing.TB) []byte {
	t.Helper()
	plain := plainPNG(t)
	const header = 8 + 25
	out := append([]byte(nil), plain[:header]...)
	out = append(out, pngChunk("iCCP", "name\x00\x00", deflate(colour.AdobeRGBProfile))...)
	out = append(out, pngChunk("pHYs", "\x00\x00\x0b\x13\x00\x00\x0b\x13\x01")...)
	out = append(out, pngChunk("eXIf", string(exifFixture(binary.BigEndian)))...)
	out = append(out, pngChunk("tEXt", "Comment\x00", secret)...)
	out = append(out, pngChunk("zTXt", "Raw profile type xmp\x00\x00", deflate([]byte(secret)))...)
	out = append(out, pngChunk("tIME", "\x07\xea\x01\x01SEC")...)
	out = append(out, pngChunk("prVt", secret)...)
	out = append(out, plain[header:len(plain)-12]...)
	out = append(out, pngChunk("iTXt", pngXMP, "\x00\x00\x00\x00\x00", xmpFixture)...)
	out = append(out, plain[len(plain)-12:]...)
	return append(out, "<?php "+secret...)
}

func riff(chunks ...[]byte) []byte {
	body := bytes.Join(chunks, nil)
	out := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body)+4))
	return append(append(out, "WEBP"...), body...)
}

func webpChunk(kind string, data []byte) []byte {
	out := binary.LittleEndian.AppendUint32([]byte(kind), uint32(len(data)))
	return append(append(out, data...), make([]byte, len(data)&1)...)
}

// webpPicture returns the chunk of a picture of the kind "VP8 " or "VP8L".
func webpPicture(t testing.TB, kind string) []byte {
	t.Helper()
	if made := webpPictures[kind]; made != nil {
		return made
	}
	options := "[Q=80]"
	if kind == "VP8L" {
		options = "[lossless]"
	}
	data := vips(t, plainPNG(t), "in.png", "out.webp"+options)
	at := bytes.Index(data, []byte(kind))
	if at < 0 {
		t.Fatalf("no %q in what vips wrote", kind)
	}
	webpPictures[kind] = webpChunk(kind, data[at+8:at+8+int(binary.LittleEndian.Uint32(data[at+4:]))])
	return webpPictures[kind]
}

// webpPictures caches the pictures that vips has made, because starting vips takes longer than the tests.
var webpPictures = map[string][]byte{}

// dirtyWebP returns a WebP with a picture of the kind; animated repeats it in two frames.
func dirtyWebP(t testing.TB, kind string, animated bool) []byte {
	t.Helper()
	frame := webpPicture(t, kind)
	flags := byte(webpICC | webpEXIF | webpXMP)
	body := frame
	if animated {
		flags |= 2
		one := append([]byte{0, 0, 0, 0, 0, 0, 47, 0, 0, 31, 0, 0, 100, 0, 0, 0}, frame...)
		one = append(one, webpChunk("priv", []byte(secret+"!"))...)
		body = append(webpChunk("ANIM", []byte{0, 0, 0, 0, 0, 0}), webpChunk("ANMF", one)...)
		body = append(body, webpChunk("ANMF", one)...)
	}
	out := riff(
		webpChunk("VP8X", []byte{flags, 0, 0, 0, 47, 0, 0, 31, 0, 0}),
		webpChunk("ICCP", colour.AdobeRGBProfile), body,
		webpChunk("EXIF", append(headEXIF, exifFixture(binary.LittleEndian)...)),
		webpChunk("XMP ", []byte(xmpFixture)), webpChunk("abcd", []byte(secret)),
	)
	return append(out, secret...)
}

func dirtyGIF(t testing.TB) []byte {
	t.Helper()
	var b bytes.Buffer
	frame := image.NewPaletted(image.Rect(0, 0, 20, 10), color.Palette{color.White, color.Black, color.NRGBA{200, 30, 30, 255}})
	for i := range frame.Pix {
		frame.Pix[i] = uint8(i % 3)
	}
	if err := gif.EncodeAll(&b, &gif.GIF{Image: []*image.Paletted{frame, frame}, Delay: []int{10, 20}, LoopCount: 3}); err != nil {
		t.Fatal(err)
	}
	plain := b.Bytes()
	at := bytes.Index(plain, []byte("\x21\xff\x0bNETSCAPE2.0"))
	out := append([]byte(nil), plain[:at]...)
	out = append(out, "\x21\xfe\x06"+secret+"\x00"...)
	out = append(out, "\x21\xff\x0bXMP DataXMP\x06"+secret+"\x06"+secret+"\x00"...)
	out = append(out, "\x21\x01\x0cabcdefghijkl\x06"+secret+"\x00"...)
	return append(append(out, plain[at:]...), "<html>"+secret...)
}

// vips converts a file with the vips command.
func vips(t testing.TB, data []byte, from, to string) []byte {
	t.Helper()
	folder := t.TempDir()
	in := filepath.Join(folder, from)
	name, _, _ := strings.Cut(to, "[")
	source, _, _ := strings.Cut(in, "[")
	writeFile(t, source, data)
	if out, err := exec.Command("vips", "copy", in, filepath.Join(folder, to)).CombinedOutput(); err != nil {
		t.Fatalf("vips (scripts/deps.sh test installs it): %v %s", err, out)
	}
	made, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func writeFile(t testing.TB, path string, data []byte) {
	t.Helper()
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// vipsConvert makes a CMYK JPEG with the profile, without embedding the profile in the file.
func vipsConvert(t testing.TB, data []byte, profile string) []byte {
	t.Helper()
	folder := t.TempDir()
	in, out := filepath.Join(folder, "in.png"), filepath.Join(folder, "out.jpg")
	writeFile(t, in, data)
	if text, err := exec.Command("vips", "icc_transform", in, out+"[strip]", profile, "--input-profile", "srgb").CombinedOutput(); err != nil {
		t.Fatalf("vips (scripts/deps.sh test installs it): %v %s", err, text)
	}
	made, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	return made
}
