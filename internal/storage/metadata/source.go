package metadata

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// source reads a file from its start and knows where it is.
type source struct {
	f    io.ReadSeeker
	br   *bufio.Reader
	pos  int64
	size int64

	failed error // of ReadAt, when it was not the end
}

func newSource(f io.ReadSeeker) (*source, error) {
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, err
	}
	s := &source{f: f, br: bufio.NewReaderSize(f, 64<<10), size: size}
	return s, s.seek(0)
}

func (s *source) seek(pos int64) error {
	if _, err := s.f.Seek(pos, io.SeekStart); err != nil {
		return err
	}
	s.br.Reset(s.f)
	s.pos = pos
	return nil
}

// bytes reads n bytes into memory of their own; callers bound n.
func (s *source) bytes(n int64) ([]byte, error) {
	if n < 0 || n > s.size-s.pos {
		return nil, errTruncated
	}
	b := make([]byte, n)
	read, err := io.ReadFull(s.br, b)
	s.pos += int64(read)
	return b, early(err)
}

// start reads the first n bytes, of which is says whether they are those of the format. A short file has another one.
func (s *source) start(n int64, format string, is func(head []byte) bool) ([]byte, error) {
	head, err := s.bytes(n)
	if err != nil && !errors.Is(err, errTruncated) {
		return nil, err
	}
	if err != nil || !is(head) {
		return nil, damaged("it does not start as a %s", format)
	}
	return head, nil
}

func (s *source) byte() (byte, error) {
	b, err := s.br.ReadByte()
	if err == nil {
		s.pos++
	}
	return b, early(err)
}

func (s *source) skip(n int64) error {
	if n < 0 || n > s.size-s.pos {
		return errTruncated
	}
	if n > int64(s.br.Buffered())+64<<10 {
		return s.seek(s.pos + n)
	}
	_, err := s.br.Discard(int(n))
	s.pos += n
	return early(err)
}

// toMarker goes beyond the next JPEG marker in a scan, which is neither a stuffed byte nor a restart.
func (s *source) toMarker() (byte, error) {
	for {
		if _, err := s.br.Peek(1); err != nil {
			return 0, early(err)
		}
		buffered, err := s.br.Peek(s.br.Buffered())
		if err != nil {
			return 0, err
		}
		n := bytes.IndexByte(buffered, 0xff)
		found := n >= 0
		if n++; !found {
			n = len(buffered)
		}
		if err := s.skip(int64(n)); err != nil {
			return 0, err
		}
		if !found {
			continue
		}
		b := byte(0xff)
		for b == 0xff {
			if b, err = s.byte(); err != nil {
				return 0, err
			}
		}
		if b != 0 && (b < 0xd0 || b > 0xd7) {
			return b, nil
		}
	}
}

// ReadAt lets TIFF jump around.
func (s *source) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 || at+int64(len(p)) > s.size {
		return 0, errTruncated
	}
	if err = s.seek(at); err == nil {
		n, err = io.ReadFull(s.br, p)
		s.pos += int64(n)
	}
	if err = early(err); err != nil && !errors.Is(err, errTruncated) {
		s.failed = err
	}
	return n, err
}

func early(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errTruncated
	}
	return err
}

// piece is a part of a cleaned file: bytes, or a range of the source.
type piece struct {
	data       []byte
	from, size int64
}

// maxPieces bounds the plan of a cleaned file; ranges that follow each other are one piece.
const maxPieces = 100_000

type plan []piece

func (p *plan) add(data []byte) { *p = append(*p, piece{data: data}) }

func (p *plan) keep(from, to int64) error {
	if n := len(*p); n > 0 {
		if last := &(*p)[n-1]; last.data == nil && last.from+last.size == from {
			last.size += to - from
			return nil
		}
	}
	if len(*p) >= maxPieces {
		return damaged("it is in too many pieces")
	}
	*p = append(*p, piece{from: from, size: to - from})
	return nil
}

func (p plan) size() (n int64) {
	for _, x := range p {
		n += x.size + int64(len(x.data))
	}
	return n
}

func (p plan) write(dst io.Writer, s *source) error {
	for _, x := range p {
		if x.data != nil {
			if _, err := dst.Write(x.data); err != nil {
				return err
			}
			continue
		}
		if err := s.seek(x.from); err != nil {
			return err
		}
		if _, err := io.CopyN(dst, s.br, x.size); err != nil {
			return early(err)
		}
	}
	return nil
}
