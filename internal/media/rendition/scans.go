package rendition

import (
	"bytes"
	"errors"
	"io"
	"os"
)

// maxScans limits the scans of a progressive JPEG. A scan is a pass over the picture that adds detail. Encoders write about ten. A decoder
// processes the whole picture for each scan, so a few kilobytes of empty scans would take minutes.
const maxScans = 100

// checkScans returns an ErrUnreadable for a JPEG with more than maxScans scans, and nil for other files. A worker calls it before it
// decodes a picture. checkScans counts the two bytes that begin a scan. They cannot occur within the data of a scan (ITU T.81 §B.1.1.5).
// The few scans of a thumbnail in the metadata are counted too.
func checkScans(path string) (err error) {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	var magic [2]byte
	if _, err := io.ReadFull(f, magic[:]); err != nil || magic != [2]byte{0xff, 0xd8} {
		return nil // not a JPEG
	}
	scanStart := []byte("\xff\xda")
	buf, scans := make([]byte, 1<<16), 0
	kept := 0 // number of bytes of the previous read that are kept at the beginning of buf
	for {
		n, err := f.Read(buf[kept:])
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		seen := buf[:kept+n]
		if scans += bytes.Count(seen, scanStart); scans > maxScans {
			return ErrUnreadable.Becausef("more than %d scans", maxScans)
		}
		kept = 0
		if seen[len(seen)-1] == 0xff { // perhaps the first half of scanStart
			buf[0], kept = 0xff, 1
		}
	}
}
