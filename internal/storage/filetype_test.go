package storage

import (
	"encoding/binary"
	"strings"
	"testing"
)

func TestTheBytesDecideTheType(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct {
		name string
		head []byte
		want *fileType
	}{
		{"JPEG", jpegFile(2, 2), jpegType},
		{"PNG", pngFile(2, 2), pngType},
		{"GIF", gifFile(2, 2), gifType},
		{"WebP lossless", webpLossless(), webpType},
		{"WebP lossy", webpLossy(), webpType},
		{"MP4", isoFile("isom", "iso2", "avc1", "mp41"), mp4Type},
		{"MP4 of version 2", isoFile("mp42", "mp42", "isom"), mp4Type},
		{"MP4 from a phone", isoFile("3gp4", "isom", "3gp4"), mp4Type},
		{"M4V", isoFile("M4V ", "M4V ", "mp42"), mp4Type},
		{"MOV", isoFile("qt  ", "qt  "), quickTimeType},
		{"WebM", ebmlFile("webm"), webmType},
		{"Matroska", ebmlFile("matroska"), matroskaType},

		{"nothing", nil, nil},
		{"HTML", []byte("<!doctype html><script>alert(1)</script>" + long), nil},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>` + long), nil},
		{"SVG with declaration", []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`), nil},
		{"PDF", []byte("%PDF-1.7\n" + long), nil},
		{"text", []byte("just words" + long), nil},
		{"gzip", []byte("\x1f\x8b\x08" + long), nil},
		{"TIFF", []byte("II*\x00" + long), tiffType},
		{"WAV", []byte("RIFF\x00\x00\x00\x00WAVE" + long), nil},
		{"HEIC", isoFile("heic", "mif1", "heic"), heicType},
		{"AVIF that claims to be a film too", isoFile("avif", "mif1", "isom"), avifType},
		{"camera raw", isoFile("crx ", "crx ", "isom"), nil},
		{"audio", isoFile("M4A ", "M4A ", "isom"), nil},
		{"3GP alone", isoFile("3gp4", "3gp4"), nil},
		{"a brand behind the box", append([]byte("\x00\x00\x00\x14ftypxxxx\x00\x00\x00\x00yyyy"), "isom"+long...), nil},
		{"box without room for a brand", append([]byte("\x00\x00\x00\x08ftyp"), "isom"+long...), nil},
		{"box cut off", []byte("\x00\x00\x00\x14ftypxxxx\x00\x00\x00\x00is"), nil},
		{"EBML of another kind", ebmlFile("secret"), nil},
		{"EBML magic alone", []byte("\x1a\x45\xdf\xa3"), nil},
		{"EBML without end", []byte("\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff\x42\x82"), nil},
		{"EBML with a size past its end", []byte("\x1a\x45\xdf\xa3\x85\x42\x82\x88webm"), nil},
		{"EBML with an endless number", append([]byte("\x1a\x45\xdf\xa3"), make([]byte, 20)...), nil},
		{"EBML of unknown size", append([]byte("\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff\x42\x82\x84webm"), long...), webmType},
	} {
		if got := detect(c.head); got != c.want {
			t.Errorf("%s: got %+v", c.name, got)
		}
		for i := range c.head { // no cut makes it panic, and none makes another type of it
			if got := detect(c.head[:i]); got != nil && got != c.want {
				t.Errorf("%s cut at %d: got %+v", c.name, i, got)
			}
		}
	}
}

func FuzzDetect(f *testing.F) {
	for _, seed := range [][]byte{jpegFile(2, 2), webpLossy(), isoFile("isom", "iso2"), ebmlFile("webm"), webpExtended(40, 30, webpLossy()[12:])} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if kind := detect(b); kind != nil && kind.isImage() {
			if _, _, err := sizeOf(strings.NewReader(string(b)), kind); err == nil && len(b) < 10 {
				t.Errorf("%q passed as %s", b, kind.mime)
			}
		}
	})
}

func TestExtensionsFitTheType(t *testing.T) {
	for _, c := range []struct {
		kind *fileType
		name string
		want bool
	}{
		{jpegType, "a.jpg", true}, {jpegType, "a/b.JPEG", true}, {jpegType, "photo.2026.jfif", true}, {jpegType, "a", true}, {jpegType, "v1.2/a", true}, {jpegType, "a.", true},
		{jpegType, ".jpg", true}, {jpegType, "a.png", false}, {jpegType, "a.html", false}, {jpegType, "a.jpg.svg", false}, {jpegType, "a.jpg/b.js", false},
		{pngType, "a.png", true}, {pngType, "a.jpg", false}, {gifType, "a.gif", true}, {webpType, "a.webp", true}, {webpType, "a.jpg", false},
		{mp4Type, "a.mp4", true}, {mp4Type, "a.MOV", true}, {mp4Type, "a.jpg", false}, {quickTimeType, "a.mov", true}, {quickTimeType, "a.mp4", true},
		{webmType, "a.webm", true}, {webmType, "a.mp4", false}, {matroskaType, "a.mkv", true}, {matroskaType, "a.webm", false},
	} {
		if got := c.kind.fits(c.name); got != c.want {
			t.Errorf("%s as %s: %v", c.name, c.kind.mime, got)
		}
	}
}

// webpExtended wraps a picture's chunk in an extended file with the given canvas.
func webpExtended(w, h int, chunks ...[]byte) []byte {
	body := append([]byte("WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), byte(w-1), byte((w-1)>>8), byte((w-1)>>16), byte(h-1), byte((h-1)>>8), byte((h-1)>>16))
	for _, c := range chunks {
		body = append(body, c...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// frame is an animation's frame of the given size.
func frame(w, h int) []byte {
	b := append([]byte("ANMF\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00"), byte(w-1), byte((w-1)>>8), byte((w-1)>>16), byte(h-1), byte((h-1)>>8), byte((h-1)>>16))
	return append(b, 0, 0, 0, 0)
}

// losslessHeader is the begin of a lossless WebP of the given size.
func losslessHeader(w, h int) []byte {
	bits := uint32(w-1) | uint32(h-1)<<14
	return binary.LittleEndian.AppendUint32([]byte("RIFF\x12\x00\x00\x00WEBPVP8L\x05\x00\x00\x00\x2f"), bits)
}

// pngHeader is the begin of a PNG that claims the given size; the claim is all that may be looked at.
func pngHeader(w, h int) []byte {
	b := pngFile(1, 1)
	binary.BigEndian.PutUint32(b[16:], uint32(w))
	binary.BigEndian.PutUint32(b[20:], uint32(h))
	binary.BigEndian.PutUint32(b[29:], crcOf(b[12:29]))
	return b
}

// jpegHeader patches the frame header of a JPEG to claim the given size.
func jpegHeader(w, h int) []byte {
	b := jpegFile(8, 8)
	at := strings.Index(string(b), "\xff\xc0")
	binary.BigEndian.PutUint16(b[at+5:], uint16(h))
	binary.BigEndian.PutUint16(b[at+7:], uint16(w))
	return b
}

func TestPicturesAreMeasuredByTheirHeader(t *testing.T) {
	icc := append([]byte("ICCP\x03\x00\x00\x00"), "abc\x00"...) // an odd chunk is padded
	for _, c := range []struct {
		name string
		kind *fileType
		file []byte
		code string // empty: accepted
	}{
		{"JPEG", jpegType, jpegFile(300, 200), ""},
		{"PNG", pngType, pngFile(300, 200), ""},
		{"GIF", gifType, gifFile(30, 20), ""},
		{"WebP lossless", webpType, webpLossless(), ""},
		{"WebP lossy", webpType, webpLossy(), ""},
		{"WebP extended", webpType, webpExtended(1, 1, icc, webpLossy()[12:]), ""},
		{"WebP animated", webpType, webpExtended(40, 30, frame(40, 30)), ""},
		{"120 megapixels", pngType, pngHeader(12000, 10000), ""},
		{"WebP of full size", webpType, losslessHeader(16384, 7324), ""},

		{"just over 120 megapixels", pngType, pngHeader(12000, 10001), "EntityTooLarge"},
		{"PNG bomb", pngType, pngHeader(50000, 50000), "EntityTooLarge"},
		{"PNG thin strip", pngType, pngHeader(40000, 10), "EntityTooLarge"},
		{"JPEG bomb", jpegType, jpegHeader(65500, 65500), "EntityTooLarge"},
		{"WebP bomb", webpType, losslessHeader(16384, 16384), "EntityTooLarge"},
		{"WebP canvas bomb", webpType, webpExtended(1<<24, 1<<24, frame(1, 1)), "EntityTooLarge"},

		{"WebP picture larger than its canvas", webpType, webpExtended(1, 1, losslessHeader(16384, 16384)[12:]), "PictureBroken"},
		{"WebP frame larger than its canvas", webpType, webpExtended(1, 1, frame(2, 1)), "PictureBroken"},
		{"WebP with two canvases", webpType, webpExtended(1, 1, webpExtended(9, 9)[12:], webpLossy()[12:]), "PictureBroken"},
		{"WebP without a picture", webpType, webpExtended(1, 1, icc), "PictureBroken"},
		{"WebP with an unknown first chunk", webpType, []byte("RIFF\x00\x00\x00\x00WEBPJUNK\x00\x00\x00\x00"), "PictureBroken"},
		{"WebP frame without a canvas", webpType, append([]byte("RIFF\x00\x00\x00\x00WEBP"), frame(1, 1)...), "PictureBroken"},
		{"WebP with a huge chunk", webpType, webpExtended(1, 1, []byte("ICCP\xff\xff\xff\xff")), "PictureBroken"},
		{"WebP without pixels", webpType, []byte("RIFF\x00\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x10\x00\x00\x9d\x01\x2a\x00\x00\x00\x00"), "PictureBroken"},
		{"WebP without start code", webpType, []byte("RIFF\x00\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x10\x00\x00\x00\x00\x00\x01\x00\x01\x00"), "PictureBroken"},
		{"WebP cut off", webpType, webpLossy()[:25], "PictureBroken"},
		{"PNG cut off", pngType, pngFile(3, 3)[:20], "PictureBroken"},
		{"PNG without pixels", pngType, pngHeader(0, 5), "PictureBroken"},
		{"JPEG cut off", jpegType, jpegFile(3, 3)[:30], "PictureBroken"},
		{"JPEG magic before a page", jpegType, []byte("\xff\xd8\xff<script>alert(1)</script>"), "PictureBroken"},
		{"GIF magic before a script", gifType, []byte("GIF89a"), "PictureBroken"},
		{"GIF without pixels", gifType, []byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), "PictureBroken"},
	} {
		_, _, err := sizeOf(strings.NewReader(string(c.file)), c.kind)
		if (c.code == "") != (err == nil) || (err != nil && !strings.HasPrefix(err.Error(), c.code+":")) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
