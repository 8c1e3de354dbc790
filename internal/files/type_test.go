package files_test

import (
	"strings"
	"testing"

	"atelie/internal/files"
	"atelie/internal/storage/storagetest"
)

// Proves A-up-bytes, F-upload-type.
func TestTypeIsDetectedByBytes(t *testing.T) {
	long := strings.Repeat("x", 60)
	for _, c := range []struct {
		name string
		head []byte
		want *files.Type // nil: not a supported type
	}{
		{"JPEG", storagetest.JPEG(2, 2), files.JPEG},
		{"PNG", storagetest.PNG(2, 2), files.PNG},
		{"GIF", storagetest.GIF(2, 2), files.GIF},
		{"WebP lossless", storagetest.WebPLossless(), files.WebP},
		{"WebP lossy", storagetest.WebPLossy(), files.WebP},
		{"MP4", storagetest.ISO("isom", "iso2", "avc1", "mp41"), files.MP4},
		{"MP4 of version 2", storagetest.ISO("mp42", "mp42", "isom"), files.MP4},
		{"MP4 from a phone", storagetest.ISO("3gp4", "isom", "3gp4"), files.MP4},
		{"M4V", storagetest.ISO("M4V ", "M4V ", "mp42"), files.MP4},
		{"MOV", storagetest.ISO("qt  ", "qt  "), files.QuickTime},
		{"WebM", storagetest.EBML("webm"), files.WebM},
		{"Matroska", storagetest.EBML("matroska"), files.Matroska},

		{"nothing", nil, nil},
		{"HTML", []byte("<!doctype html><script>alert(1)</script>" + long), nil},
		{"SVG", []byte(`<svg xmlns="http://www.w3.org/2000/svg"><script/></svg>` + long), nil},
		{"SVG with declaration", []byte(`<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>`), nil},
		{"PDF", []byte("%PDF-1.7\n" + long), nil},
		{"text", []byte("just words" + long), nil},
		{"gzip", []byte("\x1f\x8b\x08" + long), nil},
		{"TIFF", []byte("II*\x00" + long), files.TIFF},
		{"WAV", []byte("RIFF\x00\x00\x00\x00WAVE" + long), nil},
		{"HEIC", storagetest.ISO("heic", "mif1", "heic"), files.HEIC},
		{"AVIF that claims to be a film too", storagetest.ISO("avif", "mif1", "isom"), files.AVIF},
		{"camera raw", storagetest.ISO("crx ", "crx ", "isom"), nil},
		{"audio", storagetest.ISO("M4A ", "M4A ", "isom"), nil},
		{"3GP alone", storagetest.ISO("3gp4", "3gp4"), nil},
		{"a brand behind the box", append([]byte("\x00\x00\x00\x14ftypxxxx\x00\x00\x00\x00yyyy"), "isom"+long...), nil},
		{"box without room for a brand", append([]byte("\x00\x00\x00\x08ftyp"), "isom"+long...), nil},
		{"box cut off", []byte("\x00\x00\x00\x14ftypxxxx\x00\x00\x00\x00is"), nil},
		{"EBML of another kind", storagetest.EBML("secret"), nil},
		{"EBML magic alone", []byte("\x1a\x45\xdf\xa3"), nil},
		{"EBML without end", []byte("\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff\x42\x82"), nil},
		{"EBML with a size past its end", []byte("\x1a\x45\xdf\xa3\x85\x42\x82\x88webm"), nil},
		{"EBML with an endless number", append([]byte("\x1a\x45\xdf\xa3"), make([]byte, 20)...), nil},
		{"EBML of unknown size", append([]byte("\x1a\x45\xdf\xa3\x01\xff\xff\xff\xff\xff\xff\xff\x42\x82\x84webm"), long...), files.WebM},
	} {
		if got := files.Detect(c.head); got != c.want {
			t.Errorf("%s: got %+v", c.name, got)
		}
		for i := range c.head { // a file that is cut off causes no panic and is not detected as another type
			if got := files.Detect(c.head[:i]); got != nil && got != c.want {
				t.Errorf("%s cut at %d: got %+v", c.name, i, got)
			}
		}
	}
}

// Proves F-upload-type.
func TestExtensionsFitTheType(t *testing.T) {
	for _, c := range []struct {
		kind *files.Type
		name string
		want bool
	}{
		{files.JPEG, "a.jpg", true}, {files.JPEG, "a/b.JPEG", true}, {files.JPEG, "photo.2026.jfif", true}, {files.JPEG, "a", true}, {files.JPEG, "v1.2/a", true}, {files.JPEG, "a.", true},
		{files.JPEG, ".jpg", true}, {files.JPEG, "a.png", false}, {files.JPEG, "a.html", false}, {files.JPEG, "a.jpg.svg", false}, {files.JPEG, "a.jpg/b.js", false},
		{files.PNG, "a.png", true}, {files.PNG, "a.jpg", false}, {files.GIF, "a.gif", true}, {files.WebP, "a.webp", true}, {files.WebP, "a.jpg", false},
		{files.MP4, "a.mp4", true}, {files.MP4, "a.MOV", true}, {files.MP4, "a.jpg", false}, {files.QuickTime, "a.mov", true}, {files.QuickTime, "a.mp4", true},
		{files.WebM, "a.webm", true}, {files.WebM, "a.mp4", false}, {files.Matroska, "a.mkv", true}, {files.Matroska, "a.webm", false},
	} {
		if got := c.kind.Fits(c.name); got != c.want {
			t.Errorf("%s as %s: %v", c.name, c.kind.MIME, got)
		}
	}
}
