package metadata

import (
	"errors"
	"io"
	"time"

	"github.com/bep/imagemeta"
)

// readTIFF reads a TIFF file, which is built as EXIF is.
func readTIFF(s *source) (Info, error) {
	info := Info{Orientation: 1}
	blocks := readEXIF(s, &info)
	if s.failed != nil {
		return info, s.failed
	}
	said := Info{Creator: info.Creator, Rights: info.Rights}
	info.Creator, info.Rights = "", ""
	p := parts{xmp: blocks.xmp, iptc: blocks.iptc, icc: blocks.icc, author: said.Creator, copyright: said.Rights}
	other := p.info()
	other.Orientation = info.Orientation
	other.HasLocation = other.HasLocation || info.HasLocation
	other.HasSerial = other.HasSerial || info.HasSerial
	return other, nil
}

// Limits on HEIF files, whose boxes imagemeta reads.
const (
	heifTags = 5000
	heifTime = 3 * time.Second
)

// readHEIF reads HEIC and AVIF. Their orientation is that of the boxes, which decoders apply by themselves, and so is
// their profile.
func readHEIF(s *source) (Info, error) {
	var p parts
	info := Info{Orientation: 1}
	limited := &timed{f: s.f, end: time.Now().Add(heifTime)}
	if err := s.seek(0); err != nil {
		return info, err
	}
	// What it cannot read is as if it were not there; only the file itself can fail.
	if _, err := imagemeta.Decode(imagemeta.Options{
		R:            limited,
		ImageFormat:  imagemeta.HEIF,
		Sources:      imagemeta.EXIF | imagemeta.XMP,
		LimitNumTags: heifTags,
		ShouldHandleTag: func(t imagemeta.TagInfo) bool {
			switch t.Tag {
			case "SerialNumber", "LensSerialNumber", "CameraSerialNumber":
				info.HasSerial = true
			case "GPSLatitude", "GPSLongitude":
				info.HasLocation = true
			}
			return t.Tag == "Artist" || t.Tag == "Copyright"
		},
		HandleTag: func(t imagemeta.TagInfo) error {
			text, _ := t.Value.(string)
			if t.Tag == "Artist" {
				p.author = text
			} else {
				p.copyright = text
			}
			return nil
		},
		HandleXMP: func(r io.Reader) (err error) {
			p.xmp, err = io.ReadAll(io.LimitReader(r, maxBlock))
			return err
		},
	}); err != nil && limited.failed != nil {
		return info, limited.failed
	}
	other := p.info()
	other.HasLocation = other.HasLocation || info.HasLocation
	other.HasSerial = other.HasSerial || info.HasSerial
	return other, nil
}

var errSlow = errors.New("reading took too long")

// timed stops reading at a time, and remembers a failure of the file itself.
type timed struct {
	f      io.ReadSeeker
	end    time.Time
	failed error
}

func (t *timed) Read(p []byte) (int, error) {
	if time.Now().After(t.end) {
		return 0, errSlow
	}
	n, err := t.f.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		t.failed = err
	}
	return n, err
}

func (t *timed) Seek(offset int64, whence int) (int64, error) {
	if time.Now().After(t.end) {
		return 0, errSlow
	}
	return t.f.Seek(offset, whence)
}
