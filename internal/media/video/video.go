// Package video reads the size, duration and codec of MP4, MOV and WebM files. It also moves the index of an MP4 (the moov box, which
// says where in the file the frames are) to the beginning of the file, so that browsers can play the video before they have received all
// of it. The package does not decode or encode frames.
package video

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxIndex is the maximum size in bytes of the index of an MP4 (its moov box), because the index is held in memory.
const maxIndex = 64 << 20

// ErrUnreadable is the error for a file that does not follow its format or ends early.
var ErrUnreadable = errors.New("not a readable video")

// ErrTruncated is wrapped by the error for an MP4 or MOV that ends before the end of its frames or its index. It wraps ErrUnreadable.
var ErrTruncated = fmt.Errorf("%w: its end is missing", ErrUnreadable)

// Info is the information in the headers of a video.
type Info struct {
	Width, Height int           // pixels as shown, after the rotation that phones record
	Duration      time.Duration // 0 if unknown, as in live recordings
	// Codec is the name of the codec in the file. In MP4 and MOV it has four letters (avc1, hvc1, apch). In WebM it is the CodecID
	// without "V_" (VP8, VP9, AV1).
	Codec string
	Audio bool // the video has sound
	// IndexFirst is true if playback can start with the first bytes, because the index is at the beginning or in every fragment.
	IndexFirst bool
}

// browserCodecs are the values of Info.Codec that every current browser can play. HEVC (hvc1) and ProRes (apch) are not among them.
var browserCodecs = map[string]bool{"avc1": true, "avc3": true, "av01": true, "vp08": true, "vp09": true, "VP8": true, "VP9": true, "AV1": true}

// Plays reports whether every current browser can play the video.
func (i Info) Plays() bool { return browserCodecs[i.Codec] }

// Probe reads the headers of an MP4, MOV or WebM: a few kilobytes and the index, but not the frames. It reads at most maxReads times,
// because each read may be a request to a remote store. The error wraps ErrUnreadable if the file is invalid or would need more reads.
func Probe(file io.ReadSeeker) (Info, error) {
	f := &pagedReader{file: file}
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return Info{}, err
	}
	head := make([]byte, min(size, 12)) // contains the EBML id, with which a WebM begins (4 bytes)
	if err := readAt(f, head, 0); err != nil {
		return Info{}, err
	}
	if len(head) >= 4 && binary.BigEndian.Uint32(head) == idEBML {
		return probeWebM(f, size)
	}
	m, err := readBoxes(f, size)
	if err != nil {
		return Info{}, err
	}
	return m.readInfo()
}

const (
	pageSize = 64 << 10 // bytes
	maxReads = 500      // maximum number of reads of one file
)

// pagedReader reads a file in pages of pageSize, and larger parts in one read, so that many small reads cost few requests.
type pagedReader struct {
	file   io.ReadSeeker
	at     int64  // position of the next Read
	page   []byte // the page that was read most recently
	pageAt int64  // offset of page in the file
	reads  int    // number of reads of file so far
}

func (r *pagedReader) Seek(offset int64, whence int) (int64, error) {
	if whence == io.SeekEnd {
		var err error
		r.at, err = r.file.Seek(offset, whence)
		return r.at, err
	}
	r.at = offset // whence is io.SeekStart, because no caller seeks from the current position
	return r.at, nil
}

func (r *pagedReader) Read(p []byte) (int, error) {
	if inside := r.at - r.pageAt; inside >= 0 && inside < int64(len(r.page)) {
		n := copy(p, r.page[inside:])
		r.at += int64(n)
		return n, nil
	}
	if r.reads++; r.reads > maxReads {
		return 0, fmt.Errorf("%w: in more than %d places", ErrUnreadable, maxReads)
	}
	if _, err := r.file.Seek(r.at, io.SeekStart); err != nil {
		return 0, err
	}
	if len(p) >= pageSize { // a large part, such as the index
		n, err := io.ReadFull(r.file, p)
		r.at += int64(n)
		return n, ignoreShortRead(n, err)
	}
	if r.page == nil {
		r.page = make([]byte, pageSize)
	}
	n, err := io.ReadFull(r.file, r.page[:pageSize])
	r.page, r.pageAt = r.page[:n], r.at
	if err = ignoreShortRead(n, err); err != nil || n == 0 {
		return 0, err
	}
	n = copy(p, r.page)
	r.at += int64(n)
	return n, nil
}

// ignoreShortRead returns nil in place of the error of a read that reached the end of the file after n > 0 bytes.
func ignoreShortRead(n int, err error) error {
	if errors.Is(err, io.ErrUnexpectedEOF) && n > 0 {
		return nil
	}
	return err
}

// readAt fills b with the bytes from offset at of the file. The error wraps ErrUnreadable if the file ends too early.
func readAt(f io.ReadSeeker, b []byte, at int64) error {
	if _, err := f.Seek(at, io.SeekStart); err != nil {
		return err
	}
	_, err := io.ReadFull(f, b)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: ends at %d", ErrUnreadable, at)
	}
	return err
}
