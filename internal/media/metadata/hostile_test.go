package metadata

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"

	"atelie/internal/media/rendition/colour"
)

// bounded runs f, and fails the test if f takes more than a minute or allocates more than limit bytes.
func bounded(t *testing.T, name string, limit uint64, f func()) {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if took > time.Minute {
		t.Errorf("%s took %v", name, took)
	}
	if n := after.TotalAlloc - before.TotalAlloc; n > limit {
		t.Errorf("%s allocated %d bytes", name, n)
	}
}

// zeros returns a zlib stream that decompresses to that many megabytes of zeros.
func zeros(t testing.TB, megabytes int) string {
	t.Helper()
	var b bytes.Buffer
	w, err := zlib.NewWriterLevel(&b, zlib.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	block := make([]byte, 1<<20)
	for range megabytes {
		if _, err := w.Write(block); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// hostile returns files that try to use much memory or time, by name. If works is true, Strip must succeed, otherwise it must refuse the file.
func hostile(t testing.TB) map[string]struct {
	mimeType string
	data     []byte
	works    bool
} {
	type file = struct {
		mimeType string
		data     []byte
		works    bool
	}
	photo, drawing := plainJPEG(t), plainPNG(t)
	inJPEG := func(segments ...[]byte) file {
		return file{"image/jpeg", append(append([]byte{0xff, markerSOI}, bytes.Join(segments, nil)...), photo[2:]...), true}
	}
	inPNG := func(chunks ...[]byte) file {
		return file{"image/png", append(append(append([]byte(nil), drawing[:33]...), bytes.Join(chunks, nil)...), drawing[33:]...), true}
	}
	raw := func(mimeType, data string) file { return file{mimeType, []byte(data), false} }
	profile := func(number, count byte, data string) []byte {
		return jpegSegment(markerAPP2, string(headICC), string([]byte{number, count}), data)
	}
	xmp := func(packet string) []byte { return jpegSegment(markerAPP1, string(headXMP), packet) }
	exif := func(block string) []byte { return jpegSegment(markerAPP1, "Exif\x00\x00", block) }
	rdf := `<rdf:RDF xmlns:rdf="` + nsRDF + `"><rdf:Description xmlns:dc="` + nsDC + `">`
	bomb := zeros(t, 48)
	return map[string]file{
		"empty JPEG": raw("image/jpeg", ""), "empty PNG": raw("image/png", ""), "empty WebP": raw("image/webp", ""),
		"empty GIF": raw("image/gif", ""), "HTML as JPEG": raw("image/jpeg", "<html>"), "JPEG as PNG": {"image/png", photo, false},
		"PNG as JPEG":                   {"image/jpeg", drawing, false},
		"JPEG of a start":               raw("image/jpeg", "\xff\xd8"),
		"JPEG of fill bytes":            raw("image/jpeg", "\xff\xd8"+strings.Repeat("\xff", 1<<20)),
		"JPEG of starts":                raw("image/jpeg", strings.Repeat("\xff\xd8", 1<<19)),
		"JPEG segment shorter than 2":   raw("image/jpeg", "\xff\xd8\xff\xe1\x00\x01"),
		"JPEG segment beyond the end":   raw("image/jpeg", "\xff\xd8\xff\xe1\xff\xffExif"),
		"JPEG scan without an end":      {"image/jpeg", photo[:len(photo)-2], false},
		"JPEG cut in the scan":          {"image/jpeg", photo[:len(photo)/2], false},
		"200,000 comments":              inJPEG(bytes.Repeat(jpegSegment(markerCOM), 200_000)),
		"profile after the scan":        {"image/jpeg", append(append(photo[:len(photo)-2:len(photo)-2], profileSegments(colour.AdobeRGBProfile, 500)...), 0xff, markerEOI), true},
		"profile in 255 segments":       inJPEG(profileSegments(bytes.Repeat(colour.AdobeRGBProfile, 1), 3)),
		"profile of 255 full segments":  inJPEG(profileSegments(make([]byte, 255*60_000), 60_000)),
		"profile part 0":                inJPEG(profile(0, 1, "x")),
		"profile part beyond the count": inJPEG(profile(9, 2, "x")),
		"profile part twice":            inJPEG(profile(1, 2, "x"), profile(1, 2, "y"), profile(2, 2, "z")),
		"profile counts that differ":    inJPEG(profile(1, 2, "x"), profile(2, 3, "y")),
		"profile part missing":          inJPEG(profile(1, 3, "x"), profile(3, 3, "y")),
		"nested XMP":                    inJPEG(xmp(rdf + strings.Repeat("<a>", 20_000))),
		"XMP of entities":               inJPEG(xmp(`<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;&a;">]>` + rdf + "<dc:rights>&b;</dc:rights>")),
		"XMP of many creators":          inJPEG(xmp(rdf + "<dc:creator>" + strings.Repeat("<l>n</l>", 7_000))),
		"XMP that is no XML":            inJPEG(xmp("\x00\xff<<<&&&")),
		"XMP with a long text":          inJPEG(xmp(rdf + "<dc:rights>" + strings.Repeat("ü", 32_000) + "</dc:rights>")),
		"EXIF that points at itself":    inJPEG(exif("MM\x00*\x00\x00\x00\x08\x00\x02\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x08\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x08")),
		"EXIF of endless entries":       inJPEG(exif("MM\x00*\x00\x00\x00\x08\xff\xff" + strings.Repeat("\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x08", 5_000))),
		"EXIF value of 4 GB":            inJPEG(exif("MM\x00*\x00\x00\x00\x08\x00\x01\x82\x98\x00\x02\xff\xff\xff\xff\x00\x00\x00\x08")),
		"EXIF turn of 9":                inJPEG(exif("MM\x00*\x00\x00\x00\x08\x00\x01\x01\x12\x00\x03\x00\x00\x00\x01\x00\x09\x00\x00")),
		"EXIF directory far away":       inJPEG(exif("II*\x00\xff\xff\xff\xff")),
		"IPTC set beyond the end":       inJPEG(jpegSegment(markerAPPD, "Photoshop 3.0\x008BIM\x04\x04\x00\x00\x00\x00\x00\x09\x1c\x02\x50\x7f\xffabcd")),
		"Photoshop resource of 4 GB":    inJPEG(jpegSegment(markerAPPD, "Photoshop 3.0\x008BIM\x04\x04\x00\x00\xff\xff\xff\xff")),
		"Photoshop name beyond the end": inJPEG(jpegSegment(markerAPPD, "Photoshop 3.0\x008BIM\x04\x04\xff\x00\x00\x00\x00\x00")),

		"PNG profile that inflates":     inPNG(pngChunk("iCCP", "x\x00\x00", bomb)),
		"PNG text that inflates":        inPNG(pngChunk("zTXt", "Copyright\x00\x00", bomb)),
		"PNG XMP that inflates":         inPNG(pngChunk("iTXt", pngXMP, "\x00\x01\x00\x00\x00", bomb)),
		"PNG profile that is no zlib":   inPNG(pngChunk("iCCP", "x\x00\x00garbage")),
		"PNG profile without a name":    inPNG(pngChunk("iCCP", "xxxxxxx")),
		"PNG texts of nothing":          inPNG(pngChunk("tEXt"), pngChunk("zTXt", "a\x00"), pngChunk("iTXt", "a\x00"), pngChunk("eXIf")),
		"PNG of 200,000 chunks":         inPNG(bytes.Repeat(pngChunk("prVt"), 200_000)),
		"PNG with a second header":      {"image/png", inPNG(drawing[8:33]).data, false},
		"PNG chunk of 4 GB":             raw("image/png", pngSignature+"\xff\xff\xff\xffIHDR"),
		"PNG chunk beyond the end":      raw("image/png", string(drawing[:33])+"\x7f\xff\xff\xffIDAT"),
		"PNG without a header":          raw("image/png", pngSignature+string(pngChunk("IDAT", "x"))+string(pngChunk("IEND"))),
		"PNG without an end":            {"image/png", drawing[:len(drawing)-12], false},
		"PNG in too many pieces":        {"image/png", inPNG(bytes.Repeat(append(pngChunk("prVt"), pngChunk("IDAT")...), 110_000)).data, false},
		"WebP longer than its file":     raw("image/webp", "RIFF\xff\xff\xff\x7fWEBPVP8 "),
		"WebP chunk of 4 GB":            raw("image/webp", "RIFF\x14\x00\x00\x00WEBPVP8 \xff\xff\xff\xffabcdefgh"),
		"WebP of nothing":               raw("image/webp", string(riff())),
		"WebP with a wrong VP8X":        raw("image/webp", string(riff(webpChunk("VP8X", []byte("short"))))),
		"WebP with a short frame":       raw("image/webp", string(riff(webpChunk("VP8X", make([]byte, 10)), webpChunk("ANMF", []byte("short"))))),
		"WebP frame with a long chunk":  raw("image/webp", string(riff(webpChunk("VP8X", make([]byte, 10)), webpChunk("ANMF", append(make([]byte, 16), "VP8 \xff\xff\xff\xff"...))))),
		"WebP of 200,000 odd chunks":    raw("image/webp", string(riff(webpChunk("VP8X", make([]byte, 10)), bytes.Repeat(webpChunk("VP8 ", []byte("x")), 200_000)))),
		"WebP of the simple form":       {"image/webp", riff(webpChunk("VP8 ", []byte("x")), webpChunk("EXIF", exifFixture(binary.LittleEndian)), webpChunk("VP8 ", []byte(secret))), true},
		"WebP that starts with a frame": raw("image/webp", string(riff(webpChunk("ANMF", make([]byte, 16))))),
		"GIF without a picture":         raw("image/gif", "GIF89a\x01\x00\x01\x00\x00\x00\x00\x3b"),
		"GIF cut in its palette":        raw("image/gif", "GIF89a\x01\x00\x01\x00\x87\x00\x00abc"),
		"GIF of endless blocks":         raw("image/gif", "GIF89a\x01\x00\x01\x00\x00\x00\x00\x21\xfe"+strings.Repeat("\x01x", 1<<20)),
		"GIF with an unknown block":     raw("image/gif", "GIF89a\x01\x00\x01\x00\x00\x00\x00\x99"),
		"GIF with a loop of 200,000":    raw("image/gif", "GIF89a\x01\x00\x01\x00\x00\x00\x00\x21\xff\x0bNETSCAPE2.0"+strings.Repeat("\x03\x01\x00\x00", 200_000)),

		"TIFF that points at itself": raw("image/tiff", "MM\x00*\x00\x00\x00\x08\x00\x01\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x08"),
		"TIFF profile of 4 GB":       raw("image/tiff", "MM\x00*\x00\x00\x00\x08\x00\x01\x87\x73\x00\x07\xff\xff\xff\xff\x00\x00\x00\x08"),
		"AVIF of boxes in boxes":     raw("image/avif", "\x00\x00\x00\x14ftypavif\x00\x00\x00\x00avif"+strings.Repeat("\x00\x00\xff\xffmeta\x00\x00\x00\x00", 5_000)),
		"AVIF of a box without end":  raw("image/avif", "\x00\x00\x00\x14ftypavif\x00\x00\x00\x00avif\xff\xff\xff\xffmeta"),
	}
}

func TestHostileFiles(t *testing.T) {
	const memory = 40 << 20
	for name, file := range hostile(t) {
		bounded(t, "reading "+name, memory, func() {
			info, err := Read(bytes.NewReader(file.data), file.mimeType)
			if err != nil {
				if !errors.Is(err, ErrDamaged) {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
			// Contradictory data is dropped: the copy must not have a profile that the file does not contain.
			if want := name == "profile in 255 segments"; (info.Profile != nil) != want {
				t.Errorf("%s: a profile of %d bytes", name, len(info.Profile))
			}
			if info.Orientation != 1 || len(info.Creator) > 4*maxText || len(info.Rights) > 4*maxText {
				t.Errorf("%s: %d %d %d", name, info.Orientation, len(info.Creator), len(info.Rights))
			}
		})
		bounded(t, "cleaning "+name, memory, func() {
			err := Strip(io.Discard, bytes.NewReader(file.data), file.mimeType)
			switch {
			case file.works && err != nil:
				t.Errorf("%s: %v", name, err)
			case !file.works && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrCannotStrip):
				t.Errorf("%s was cleaned: %v", name, err)
			}
		})
	}
}

// step is the number of bytes between two truncations that the test tries.
var step = 1

func TestTruncatedFiles(t *testing.T) {
	for mimeType, data := range map[string][]byte{
		"image/jpeg": dirtyJPEG(t, plainJPEG(t)), "image/png": dirtyPNG(t), "image/gif": dirtyGIF(t),
		"image/webp": dirtyWebP(t, "VP8 ", true), "image/tiff": exifFixture(binary.LittleEndian),
	} {
		for n := 0; n < len(data); n += step {
			cut := bytes.NewReader(data[:n])
			if _, err := Read(cut, mimeType); err != nil && !errors.Is(err, ErrDamaged) {
				t.Fatalf("%s cut at %d: %v", mimeType, n, err)
			}
			if err := Strip(io.Discard, cut, mimeType); err != nil && !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrCannotStrip) {
				t.Fatalf("%s cut at %d: %v", mimeType, n, err)
			}
		}
	}
}

var errDisk = errors.New("the disk is gone")

// broken returns errors from a position on.
type broken struct {
	*bytes.Reader
	from int64
}

func (b *broken) Read(p []byte) (int, error) {
	at := b.Size() - int64(b.Len())
	if at >= b.from {
		return 0, errDisk
	}
	return b.Reader.Read(p[:min(int64(len(p)), b.from-at)])
}

// An error of the file is not reported as a damaged picture.
func TestReadErrorIsNotADamagedPicture(t *testing.T) {
	for mimeType, data := range map[string][]byte{
		"image/jpeg": dirtyJPEG(t, plainJPEG(t)), "image/png": dirtyPNG(t), "image/gif": dirtyGIF(t),
		"image/webp": dirtyWebP(t, "VP8 ", false), "image/tiff": exifFixture(binary.BigEndian),
	} {
		for _, from := range []int64{0, 9, 200} {
			f := func() io.ReadSeeker { return &broken{bytes.NewReader(data), from} }
			if _, err := Read(f(), mimeType); mimeType != "image/gif" && !errors.Is(err, errDisk) {
				t.Errorf("reading %s from %d: %v", mimeType, from, err)
			}
			if err := Strip(io.Discard, f(), mimeType); mimeType != "image/tiff" && !errors.Is(err, errDisk) {
				t.Errorf("cleaning %s from %d: %v", mimeType, from, err)
			}
		}
	}
}

func FuzzClean(f *testing.F) {
	types := []string{"image/jpeg", "image/png", "image/webp", "image/gif", "image/tiff", "image/avif"}
	f.Add(uint8(0), dirtyJPEG(f, plainJPEG(f)))
	f.Add(uint8(1), dirtyPNG(f))
	f.Add(uint8(2), riff(webpChunk("VP8X", make([]byte, 10)), webpChunk("ICCP", colour.DisplayP3Profile), webpChunk("VP8L", []byte("abc")), webpChunk("XMP ", []byte(xmpFixture))))
	f.Add(uint8(3), dirtyGIF(f))
	f.Add(uint8(4), exifFixture(binary.LittleEndian))
	f.Fuzz(func(t *testing.T, kind uint8, data []byte) {
		mimeType := types[int(kind)%len(types)]
		before, err := Read(bytes.NewReader(data), mimeType)
		if err != nil && !errors.Is(err, ErrDamaged) {
			t.Fatal(err)
		}
		var once, twice bytes.Buffer
		if err := Strip(&once, bytes.NewReader(data), mimeType); err != nil {
			if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrCannotStrip) {
				t.Fatal(err)
			}
			return
		}
		if err := Strip(&twice, bytes.NewReader(once.Bytes()), mimeType); err != nil {
			t.Fatalf("what was cleaned is damaged: %v", err)
		}
		if !bytes.Equal(once.Bytes(), twice.Bytes()) {
			t.Fatal("a file without metadata was changed")
		}
		after, err := Read(bytes.NewReader(once.Bytes()), mimeType)
		if err != nil || after.HasLocation || after.HasSerial || after.Preview != nil {
			t.Fatalf("%v, place %v, serial %v, a preview of %d bytes", err, after.HasLocation, after.HasSerial, len(after.Preview))
		}
		if mimeType == "image/jpeg" || mimeType == "image/png" {
			before.HasLocation, before.HasSerial, before.Preview = false, false, nil
			if fmt.Sprint(before) != fmt.Sprint(after) {
				t.Fatalf("%v became %v", before, after)
			}
		}
	})
}
