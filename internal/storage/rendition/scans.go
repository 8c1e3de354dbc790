package rendition

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// maxScans bounds the passes of a progressive JPEG: encoders write about ten, and each goes over all of the picture,
// so that a few kilobytes of empty ones keep a decoder busy for minutes.
const maxScans = 100

// checkScans counts the starts of scans. Inside of a scan the two bytes cannot stand (ITU T.81 §B.1.1.5); those of a
// thumbnail in the metadata count too, and are few.
func checkScans(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var magic [2]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil || magic != [2]byte{0xff, 0xd8} {
		return nil // no JPEG; what else it is others find out
	}
	start := []byte("\xff\xda")
	for buf, kept, scans := make([]byte, 1<<16), 0, 0; ; {
		n, err := f.Read(buf[kept:])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		seen := buf[:kept+n]
		if scans += bytes.Count(seen, start); scans > maxScans {
			return ErrUnreadable.Becausef("more than %d scans", maxScans)
		}
		kept = 0
		if seen[len(seen)-1] == 0xff {
			buf[0], kept = 0xff, 1
		}
	}
}
