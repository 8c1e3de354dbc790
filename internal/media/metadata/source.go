package metadata

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// This file has the reader of picture files (source), and the list of parts from which a copy of a file is written (plan).

// source reads a file, and records the position and the first error. After an error, the methods of source do nothing and return zero
// values, so that callers can check err once, after many reads.
type source struct {
	f    io.ReadSeeker
	br   *bufio.Reader
	pos  int64 // offset of the next byte
	size int64 // size of the file in bytes
	err  error // the first error, or nil
}

// newSource returns a source that reads f from its beginning.
func newSource(f io.ReadSeeker) *source {
	s := &source{f: f, br: bufio.NewReaderSize(f, 64<<10)}
	s.size, s.err = f.Seek(0, io.SeekEnd)
	s.seek(0)
	return s
}

// fail records an error, unless there is one already.
func (s *source) fail(err error) {
	if s.err == nil {
		s.err = err
	}
}

// seek continues at an offset of the file.
func (s *source) seek(pos int64) {
	if s.err != nil {
		return
	}
	_, s.err = s.f.Seek(pos, io.SeekStart)
	s.br.Reset(s.f)
	s.pos = pos
}

// readBytes reads n bytes into a new slice. After an error it returns nil. Callers limit n, because the slice is allocated at once.
func (s *source) readBytes(n int64) []byte {
	if n < 0 || n > s.size-s.pos {
		s.fail(errTruncated)
	}
	if s.err != nil {
		return nil
	}
	b := make([]byte, n)
	read, err := io.ReadFull(s.br, b)
	s.pos += int64(read)
	if s.err = convertEOF(err); err != nil {
		return nil
	}
	return b
}

// readHead reads n bytes. After an error it returns n zeros, so that callers can index the result.
func (s *source) readHead(n int64) []byte {
	if b := s.readBytes(n); b != nil {
		return b
	}
	return make([]byte, n)
}

// readStart reads the first n bytes. If the file is shorter, or valid returns false, readStart records an error that wraps ErrDamaged and
// names the format.
func (s *source) readStart(n int64, format string, valid func(head []byte) bool) []byte {
	head := s.readHead(n)
	if errors.Is(s.err, errTruncated) || (s.err == nil && !valid(head)) {
		s.err = damagedError("its start is not that of a %s file", format)
	}
	return head
}

// readByte reads a byte; 0 after an error.
func (s *source) readByte() byte {
	if s.err != nil {
		return 0
	}
	b, err := s.br.ReadByte()
	if err != nil {
		s.err = convertEOF(err)
		return 0
	}
	s.pos++
	return b
}

// skip skips n bytes. It seeks only if n is large, because seek discards the buffer.
func (s *source) skip(n int64) {
	if n < 0 || n > s.size-s.pos {
		s.fail(errTruncated)
	}
	switch {
	case s.err != nil:
	case n > int64(s.br.Buffered())+64<<10:
		s.seek(s.pos + n)
	default:
		_, err := s.br.Discard(int(n))
		s.pos += n
		s.err = convertEOF(err)
	}
}

// nextMarker skips everything up to and including the next JPEG marker, and returns its code; 0 after an error. Stuffed
// bytes and restart markers are skipped too, because they belong to a scan.
func (s *source) nextMarker() byte {
	for s.err == nil {
		if _, err := s.br.Peek(1); err != nil {
			s.err = convertEOF(err)
			break
		}
		buffered, err := s.br.Peek(s.br.Buffered())
		if err != nil {
			s.err = err
			break
		}
		n := bytes.IndexByte(buffered, 0xff)
		if n < 0 {
			s.skip(int64(len(buffered)))
			continue
		}
		s.skip(int64(n) + 1)
		code := byte(0xff)
		for code == 0xff && s.err == nil {
			code = s.readByte()
		}
		if code != 0 && (code < 0xd0 || code > 0xd7) {
			return code
		}
	}
	return 0
}

// ReadAt implements io.ReaderAt, for TIFF and HEIF, which refer to offsets in the file. A read beyond the end returns errTruncated but does
// not set err.
func (s *source) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 || at > s.size-int64(len(p)) {
		return 0, errTruncated
	}
	if s.seek(at); s.err != nil {
		return 0, s.err
	}
	n, err = io.ReadFull(s.br, p)
	s.pos += int64(n)
	if err = convertEOF(err); !errors.Is(err, errTruncated) {
		s.err = err
	}
	return n, err
}

// convertEOF returns errTruncated in place of an error that means the end of the file.
func convertEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	return err
}

// piece is a part of a copy without metadata: data or, if that is nil, a range of the source.
type piece struct {
	data       []byte
	from, size int64
}

// maxPieces limits the pieces of a plan. A plan with more pieces does not grow further, and write returns an error for it.
const maxPieces = 100_000

// plan lists the pieces of a copy without metadata in order.
type plan []piece

func (p *plan) append(pieces ...piece) {
	if len(*p) <= maxPieces {
		*p = append(*p, pieces...)
	}
}

// add appends data to the copy.
func (p *plan) add(data []byte) { p.append(piece{data: data}) }

// keep appends a range of the source to the copy. It joins ranges that follow each other.
func (p *plan) keep(from, to int64) {
	if n := len(*p); n > 0 {
		if last := &(*p)[n-1]; last.data == nil && last.from+last.size == from {
			last.size += to - from
			return
		}
	}
	p.append(piece{from: from, size: to - from})
}

func (p plan) size() (n int64) {
	for _, x := range p {
		n += x.size + int64(len(x.data))
	}
	return n
}

func (p plan) write(dst io.Writer, s *source) error {
	if len(p) > maxPieces {
		return damagedError("it is in too many pieces")
	}
	for _, x := range p {
		if x.data != nil {
			if _, err := dst.Write(x.data); err != nil {
				return err
			}
			continue
		}
		if s.seek(x.from); s.err != nil {
			return s.err
		}
		if _, err := io.CopyN(dst, s.br, x.size); err != nil {
			return convertEOF(err)
		}
	}
	return nil
}
