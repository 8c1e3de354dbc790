package metadata

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"reflect"
	"strings"
	"testing"

	"github.com/bep/imagemeta"
	"golang.org/x/image/webp"

	"atelie/internal/media/rendition/colour"
)

// strip returns a copy of a file without its metadata.
func strip(t testing.TB, data []byte, mimeType string) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Strip(&out, bytes.NewReader(data), mimeType); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read returns the metadata of a file.
func read(t testing.TB, data []byte, mimeType string) Info {
	t.Helper()
	info, err := Read(bytes.NewReader(data), mimeType)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// samePixels checks that two files have the same pixels. decode returns the pixels of a file.
func samePixels(t *testing.T, a, b []byte, decode func(data []byte) any) {
	t.Helper()
	if !reflect.DeepEqual(decode(a), decode(b)) {
		t.Error("the pixels are not the same")
	}
}

func TestClean(t *testing.T) {
	still := func(decode func(data []byte) (image.Image, error)) func([]byte) any {
		return func(data []byte) any {
			img, err := decode(data)
			if err != nil {
				t.Fatal(err)
			}
			return img
		}
	}
	jpegs := still(func(data []byte) (image.Image, error) { return jpeg.Decode(bytes.NewReader(data)) })
	pngs := still(func(data []byte) (image.Image, error) { return png.Decode(bytes.NewReader(data)) })
	webps := still(func(data []byte) (image.Image, error) { return webp.Decode(bytes.NewReader(data)) })
	animated := still(func(data []byte) (image.Image, error) {
		return png.Decode(bytes.NewReader(vips(t, data, "in.webp[n=-1]", "out.png[strip]")))
	})
	frames := func(data []byte) any {
		all, err := gif.DecodeAll(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	for _, c := range []struct {
		name, mimeType string
		dirty          []byte
		decode         func([]byte) any
	}{
		{"JPEG", "image/jpeg", dirtyJPEG(t, plainJPEG(t)), jpegs},
		{"progressive JPEG", "image/jpeg", dirtyJPEG(t, vips(t, plainPNG(t), "in.png", "out.jpg[interlace,strip]")), jpegs},
		{"CMYK JPEG with Adobe's marker", "image/jpeg", dirtyJPEG(t, cmykJPEG(t)), jpegs},
		{"PNG", "image/png", dirtyPNG(t), pngs},
		{"WebP", "image/webp", dirtyWebP(t, "VP8 ", false), webps},
		{"lossless WebP", "image/webp", dirtyWebP(t, "VP8L", false), webps},
		{"animated WebP", "image/webp", dirtyWebP(t, "VP8 ", true), animated},
		{"GIF", "image/gif", dirtyGIF(t), frames},
	} {
		t.Run(c.name, func(t *testing.T) {
			once := strip(t, c.dirty, c.mimeType)
			if bytes.Contains(once, []byte(secret)) || bytes.Contains(once, []byte("SEC")) {
				t.Errorf("a secret is still at %d", bytes.Index(once, []byte("SEC")))
			}
			if len(once) >= len(c.dirty) {
				t.Errorf("%d bytes became %d", len(c.dirty), len(once))
			}
			if !bytes.Equal(strip(t, c.dirty, c.mimeType), once) {
				t.Error("a second run gives other bytes")
			}
			if !bytes.Equal(strip(t, once, c.mimeType), once) {
				t.Error("a file without metadata was changed")
			}
			samePixels(t, c.dirty, once, c.decode)
			if c.mimeType == "image/gif" {
				return // the format cannot contain the rest
			}
			before, after := read(t, c.dirty, c.mimeType), read(t, once, c.mimeType)
			if !before.HasLocation || !before.HasSerial || after.HasLocation || after.HasSerial {
				t.Errorf("place %v then %v, serial %v then %v", before.HasLocation, after.HasLocation, before.HasSerial, after.HasSerial)
			}
			want := Info{Orientation: 6, Profile: colour.AdobeRGBProfile, Creator: creator, Rights: rights}
			want.otherRights[2], want.otherRights[4] = "https://example.org/terms?a=1&b=2", "http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED-AIMLTRAINING"
			if !reflect.DeepEqual(after, want) {
				t.Errorf("after: %d %q %q %q, profile %d", after.Orientation, after.Creator, after.Rights, after.otherRights, len(after.Profile))
			}
			if string(before.Preview) != secret+secret {
				t.Errorf("preview %q", before.Preview)
			}
			before.HasLocation, before.HasSerial, before.Preview = false, false, nil
			if !reflect.DeepEqual(before, want) {
				t.Errorf("before: %d %q %q %q, profile %d", before.Orientation, before.Creator, before.Rights, before.otherRights, len(before.Profile))
			}
			if c.name != "lossless WebP" { // the library cannot read on after a chunk of odd length
				theirs(t, once, c.mimeType)
			}
		})
	}
}

// theirs reads metadata with another library.
func theirs(t *testing.T, data []byte, mimeType string) {
	t.Helper()
	format := map[string]imagemeta.ImageFormat{"image/jpeg": imagemeta.JPEG, "image/png": imagemeta.PNG, "image/webp": imagemeta.WebP}[mimeType]
	got := map[string]any{}
	_, err := imagemeta.Decode(imagemeta.Options{
		R: bytes.NewReader(data), ImageFormat: format, Sources: imagemeta.EXIF | imagemeta.XMP,
		HandleTag: func(tag imagemeta.TagInfo) error {
			got[tag.Source.String()+" "+tag.Tag] = tag.Value
			return nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"EXIF Orientation": uint16(6), "EXIF Artist": creator, "EXIF Copyright": rights}
	if mimeType != "image/png" { // the library does not read the XMP of PNG
		want["XMP Creator"] = strings.Split(creator, "; ")
		want["XMP Rights"] = rights
		want["XMP WebStatement"] = "https://example.org/terms?a=1&b=2"
		want["XMP DataMining"] = "http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED-AIMLTRAINING"
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("the other library reads %v", got)
	}
}

// cmykJPEG is a JPEG of four components with the marker of Adobe, which says that ink is inverted.
func cmykJPEG(t testing.TB) []byte {
	t.Helper()
	return vipsConvert(t, plainPNG(t), "/usr/share/color/icc/ghostscript/default_cmyk.icc")
}

func TestCleanWithoutMetadata(t *testing.T) {
	plain := plainPNG(t)
	if !bytes.Equal(strip(t, plain, "image/png"), plain) {
		t.Error("a PNG without metadata changed")
	}
	simple := riff(webpPicture(t, "VP8 "))
	if !bytes.Equal(strip(t, simple, "image/webp"), simple) {
		t.Error("a WebP without metadata changed")
	}
	photo := plainJPEG(t)
	if !bytes.Equal(strip(t, photo, "image/jpeg"), photo) {
		t.Error("a JPEG without metadata changed")
	}
}

func TestStripRejectsOtherTypes(t *testing.T) {
	for _, mimeType := range []string{"image/tiff", "image/heic", "image/avif", "video/mp4", ""} {
		if err := Strip(&bytes.Buffer{}, bytes.NewReader(plainPNG(t)), mimeType); !errors.Is(err, ErrCannotStrip) {
			t.Errorf("%q: %v", mimeType, err)
		}
	}
}

func TestReadPrefersXMPThenIPTCThenEXIF(t *testing.T) {
	plain := plainJPEG(t)[2:]
	exif := jpegSegment(markerAPP1, "Exif\x00\x00", string(exifFixture(binary.BigEndian)))
	iptc := jpegSegment(markerAPPD, string(iptcFixture()))
	xmp := jpegSegment(markerAPP1, string(headXMP), xmpFixture)
	for _, c := range []struct {
		segments        [][]byte
		creator, rights string
	}{
		{nil, "", ""},
		{[][]byte{exif}, "someone else", "some other right"},
		{[][]byte{exif, iptc}, "Müller of IPTC", "rights of IPTC"},
		{[][]byte{exif, iptc, xmp}, creator, rights},
	} {
		file := append(append([]byte{0xff, markerSOI}, bytes.Join(c.segments, nil)...), plain...)
		if info := read(t, file, "image/jpeg"); info.Creator != c.creator || info.Rights != c.rights {
			t.Errorf("%d blocks: %q %q", len(c.segments), info.Creator, info.Rights)
		}
	}
}

func TestReadOthers(t *testing.T) {
	png := dirtyPNG(t)
	for _, name := range []string{"out.tif", "out.avif"} {
		mimeType := map[string]string{"out.tif": "image/tiff", "out.avif": "image/avif"}[name]
		info := read(t, vips(t, dirtyJPEG(t, plainJPEG(t)), "in.jpg", name), mimeType)
		if info.Creator != creator || info.Rights != rights {
			t.Errorf("%s: %q %q", name, info.Creator, info.Rights)
		}
		if mimeType == "image/tiff" && !bytes.Equal(info.Profile, colour.AdobeRGBProfile) {
			t.Errorf("%s: a profile of %d bytes", name, len(info.Profile))
		}
	}
	if info := read(t, png, "image/gif"); info.Orientation != 1 || info.Creator != "" {
		t.Errorf("GIF: %+v", info)
	}
	if info := read(t, pngWithText(t), "image/png"); info.Creator != "Ana Müller" || info.Rights != "hers" {
		t.Errorf("PNG's own texts: %q %q", info.Creator, info.Rights)
	}
}

func pngWithText(t *testing.T) []byte {
	plain := plainPNG(t)
	out := append([]byte(nil), plain[:33]...)
	out = append(out, pngChunk("tEXt", "Author\x00Ana M\xfcller")...)
	out = append(out, pngChunk("zTXt", "Copyright\x00\x00", deflate([]byte("hers")))...)
	return append(out, plain[33:]...)
}

// Colours that a file describes without a profile are converted as browsers and cameras interpret them.
func TestReadColoursWithoutProfile(t *testing.T) {
	drawing, photo := plainPNG(t), plainJPEG(t)
	inPNG := func(chunks ...[]byte) []byte {
		return append(append(append([]byte(nil), drawing[:33]...), bytes.Join(chunks, nil)...), drawing[33:]...)
	}
	numbers := func(n ...uint32) string {
		var b []byte
		for _, v := range n {
			b = binary.BigEndian.AppendUint32(b, v)
		}
		return string(b)
	}
	gamma := pngChunk("gAMA", numbers(45455))
	adobe := pngChunk("cHRM", numbers(31270, 32900, 64000, 33000, 21000, 71000, 15000, 6000))
	profile := pngChunk("iCCP", "x\x00\x00", deflate(colour.AdobeRGBProfile))
	camera := "MM\x00*\x00\x00\x00\x08\x00\x01\x87\x69\x00\x04\x00\x00\x00\x01\x00\x00\x00\x1a\x00\x00\x00\x00" +
		"\x00\x01\xa0\x05\x00\x04\x00\x00\x00\x01\x00\x00\x00\x2c\x00\x00\x00\x00" +
		"\x00\x01\x00\x01\x00\x02\x00\x00\x00\x04R03\x00\x00\x00\x00\x00"
	for name, c := range map[string]struct {
		mimeType string
		file     []byte
		red      uint8 // green of 255, 0, 0 after the conversion to P3; it differs between the spaces
		none     bool
	}{
		"cICP of P3":            {"image/png", inPNG(pngChunk("cICP", "\x0c\x0d\x00\x01")), 0, false},
		"cICP before iCCP":      {"image/png", inPNG(pngChunk("cICP", "\x0c\x0d\x00\x01"), profile), 0, false},
		"cICP of sRGB":          {"image/png", inPNG(pngChunk("cICP", "\x01\x0d\x00\x01"), profile), 0, true},
		"gamma and gamut":       {"image/png", inPNG(gamma, adobe), 0x40, false},
		"gamma alone":           {"image/png", inPNG(gamma), 0, true},
		"sRGB before gamut":     {"image/png", inPNG(pngChunk("sRGB", "\x00"), gamma, adobe), 0, true},
		"a gamut of nothing":    {"image/png", inPNG(gamma, pngChunk("cHRM", numbers(0, 0, 0, 0, 0, 0, 0, 0))), 0, true},
		"a gamut on a line":     {"image/png", inPNG(gamma, pngChunk("cHRM", numbers(1, 1, 2, 2, 3, 3, 4, 4))), 0, true},
		"a gamma of nothing":    {"image/png", inPNG(pngChunk("gAMA", numbers(0)), adobe), 0, true},
		"a camera in Adobe RGB": {"image/jpeg", append(append([]byte{0xff, markerSOI}, jpegSegment(markerAPP1, "Exif\x00\x00", camera)...), photo[2:]...), 0x40, false},
	} {
		for _, file := range [][]byte{c.file, strip(t, c.file, c.mimeType)} {
			info := read(t, file, c.mimeType)
			if c.none {
				if info.Profile != nil {
					t.Errorf("%s: a profile of %d bytes", name, len(info.Profile))
				}
				continue
			}
			p, err := colour.Parse(info.Profile)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			transform, err := colour.NewTransform(p, colour.DisplayP3)
			if err != nil {
				t.Fatal(err)
			}
			pix := []byte{255, 0, 0, 255}
			if transform.ConvertRGBA(pix); (pix[1] > 0x30) != (c.red > 0) {
				t.Errorf("%s: red becomes %v", name, pix)
			}
		}
	}
}

func TestRightsBlocks(t *testing.T) {
	if RightsXMP("", "") != nil || RightsEXIF("", "") != nil {
		t.Error("no rights give a block")
	}
	for _, names := range [][2]string{{creator, rights}, {"A", ""}, {"", "<&>\"'"}, {"A; B; C", "é"}} {
		var viaXMP, viaEXIF Info
		readXMP(RightsXMP(names[0], names[1]), &viaXMP)
		readEXIF(bytes.NewReader(RightsEXIF(names[0], names[1])), &viaEXIF)
		for _, got := range []Info{viaXMP, viaEXIF} {
			if got.Creator != names[0] || got.Rights != names[1] {
				t.Errorf("%q came back as %q %q", names, got.Creator, got.Rights)
			}
		}
	}
}
