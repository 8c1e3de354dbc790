package media

import (
	"encoding/binary"
	"strings"
	"testing"

	"atelie/internal/files"
	"atelie/internal/storage/storagetest"
)

// Proves F-upload-type.
func FuzzDetect(f *testing.F) {
	for _, seed := range [][]byte{storagetest.JPEG(2, 2), storagetest.WebPLossy(), storagetest.ISO("isom", "iso2"), storagetest.EBML("webm"), webpExtended(40, 30, storagetest.WebPLossy()[12:])} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if kind := files.Detect(b); kind != nil && kind.Image {
			if _, _, err := sizeOf(strings.NewReader(string(b)), kind); err == nil && len(b) < 10 {
				t.Errorf("%q passed as %s", b, kind.MIME)
			}
		}
	})
}

// webpExtended returns a WebP in the extended format, with a canvas of the given size and the given chunks.
func webpExtended(w, h int, chunks ...[]byte) []byte {
	body := append([]byte("WEBPVP8X\x0a\x00\x00\x00\x00\x00\x00\x00"), byte(w-1), byte((w-1)>>8), byte((w-1)>>16), byte(h-1), byte((h-1)>>8), byte((h-1)>>16))
	for _, c := range chunks {
		body = append(body, c...)
	}
	return append(binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body))), body...)
}

// frame returns a frame of an animated WebP, with only its header.
func frame(w, h int) []byte {
	b := append([]byte("ANMF\x10\x00\x00\x00\x00\x00\x00\x00\x00\x00"), byte(w-1), byte((w-1)>>8), byte((w-1)>>16), byte(h-1), byte((h-1)>>8), byte((h-1)>>16))
	return append(b, 0, 0, 0, 0)
}

// losslessHeader returns the header of a lossless WebP of the given size.
func losslessHeader(w, h int) []byte {
	bits := uint32(w-1) | uint32(h-1)<<14
	return binary.LittleEndian.AppendUint32([]byte("RIFF\x12\x00\x00\x00WEBPVP8L\x05\x00\x00\x00\x2f"), bits)
}

// jpegHeader returns a small JPEG whose header claims the given size.
func jpegHeader(w, h int) []byte {
	b := storagetest.JPEG(8, 8)
	at := strings.Index(string(b), "\xff\xc0")
	binary.BigEndian.PutUint16(b[at+5:], uint16(h))
	binary.BigEndian.PutUint16(b[at+7:], uint16(w))
	return b
}

func TestSizeIsReadFromTheHeader(t *testing.T) {
	icc := append([]byte("ICCP\x03\x00\x00\x00"), "abc\x00"...) // an odd chunk is padded
	for _, c := range []struct {
		name string
		kind *files.Type
		file []byte
		code string // of the error; "" if the file is accepted
	}{
		{"JPEG", files.JPEG, storagetest.JPEG(300, 200), ""},
		{"PNG", files.PNG, storagetest.PNG(300, 200), ""},
		{"GIF", files.GIF, storagetest.GIF(30, 20), ""},
		{"WebP lossless", files.WebP, storagetest.WebPLossless(), ""},
		{"WebP lossy", files.WebP, storagetest.WebPLossy(), ""},
		{"WebP extended", files.WebP, webpExtended(1, 1, icc, storagetest.WebPLossy()[12:]), ""},
		{"WebP animated", files.WebP, webpExtended(40, 30, frame(40, 30)), ""},
		{"120 megapixels", files.PNG, storagetest.PNGHeader(12000, 10000), ""},
		{"WebP of full size", files.WebP, losslessHeader(16384, 7324), ""},

		{"just over 120 megapixels", files.PNG, storagetest.PNGHeader(12000, 10001), "EntityTooLarge"},
		{"PNG bomb", files.PNG, storagetest.PNGHeader(50000, 50000), "EntityTooLarge"},
		{"PNG thin strip", files.PNG, storagetest.PNGHeader(40000, 10), "EntityTooLarge"},
		{"JPEG bomb", files.JPEG, jpegHeader(65500, 65500), "EntityTooLarge"},
		{"WebP bomb", files.WebP, losslessHeader(16384, 16384), "EntityTooLarge"},
		{"WebP canvas bomb", files.WebP, webpExtended(1<<24, 1<<24, frame(1, 1)), "EntityTooLarge"},

		{"WebP picture larger than its canvas", files.WebP, webpExtended(1, 1, losslessHeader(16384, 16384)[12:]), "PictureBroken"},
		{"WebP frame larger than its canvas", files.WebP, webpExtended(1, 1, frame(2, 1)), "PictureBroken"},
		{"WebP with two canvases", files.WebP, webpExtended(1, 1, webpExtended(9, 9)[12:], storagetest.WebPLossy()[12:]), "PictureBroken"},
		{"WebP without a picture", files.WebP, webpExtended(1, 1, icc), "PictureBroken"},
		{"WebP with an unknown first chunk", files.WebP, []byte("RIFF\x00\x00\x00\x00WEBPJUNK\x00\x00\x00\x00"), "PictureBroken"},
		{"WebP frame without a canvas", files.WebP, append([]byte("RIFF\x00\x00\x00\x00WEBP"), frame(1, 1)...), "PictureBroken"},
		{"WebP with a huge chunk", files.WebP, webpExtended(1, 1, []byte("ICCP\xff\xff\xff\xff")), "PictureBroken"},
		{"WebP without pixels", files.WebP, []byte("RIFF\x00\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x10\x00\x00\x9d\x01\x2a\x00\x00\x00\x00"), "PictureBroken"},
		{"WebP without start code", files.WebP, []byte("RIFF\x00\x00\x00\x00WEBPVP8 \x0a\x00\x00\x00\x10\x00\x00\x00\x00\x00\x01\x00\x01\x00"), "PictureBroken"},
		{"WebP cut off", files.WebP, storagetest.WebPLossy()[:25], "PictureBroken"},
		{"PNG cut off", files.PNG, storagetest.PNG(3, 3)[:20], "PictureBroken"},
		{"PNG without pixels", files.PNG, storagetest.PNGHeader(0, 5), "PictureBroken"},
		{"JPEG cut off", files.JPEG, storagetest.JPEG(3, 3)[:30], "PictureBroken"},
		{"JPEG magic before a page", files.JPEG, []byte("\xff\xd8\xff<script>alert(1)</script>"), "PictureBroken"},
		{"GIF magic before a script", files.GIF, []byte("GIF89a"), "PictureBroken"},
		{"GIF without pixels", files.GIF, []byte("GIF89a\x00\x00\x00\x00\x00\x00\x00"), "PictureBroken"},
	} {
		_, _, err := sizeOf(strings.NewReader(string(c.file)), c.kind)
		if (c.code == "") != (err == nil) || (err != nil && !strings.HasPrefix(err.Error(), c.code+":")) {
			t.Errorf("%s: got %v", c.name, err)
		}
	}
}
