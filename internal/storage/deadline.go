package storage

import (
	"errors"
	"io"
	"net/http"
	"os"
	"time"
)

// This file ends transfers (uploads, copies and downloads) that make no progress.

// stallTimeout is the time without progress after which a transfer is ended. The whole transfer has no time limit, because the upload of a
// video can take an hour.
const stallTimeout = time.Minute

// stream is a long transfer on the connection of a request: an upload, a copy or a download. Each Read of its body and each piece of its
// response sets a new deadline of the connection. This replaces the server's time limit for a whole request.
type stream struct {
	http.ResponseWriter
	body io.ReadCloser // what Read reads: the request's body or a stored file; nil for a download
	conn *http.ResponseController
}

func newStream(w http.ResponseWriter, body io.ReadCloser) *stream {
	return &stream{w, body, http.NewResponseController(w)}
}

// clearDeadlines removes the deadlines after a transfer. If they stayed, they would expire later and interrupt the response to a long
// upload, or the connection's next request.
func (s *stream) clearDeadlines() {
	_ = s.setDeadlines(time.Time{}) // an error means that the connection is closed
}

// setDeadlines sets the deadlines of reading and writing; the zero time removes them. It does nothing for a ResponseWriter without
// a connection, as in tests.
func (s *stream) setDeadlines(at time.Time) error {
	err := errors.Join(s.conn.SetReadDeadline(at), s.conn.SetWriteDeadline(at))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

// Read reads the body.
func (s *stream) Read(b []byte) (int, error) {
	if err := s.setDeadlines(time.Now().Add(stallTimeout)); err != nil {
		return 0, err
	}
	n, err := s.body.Read(b)
	if err != nil {
		// From now on net/http reads the connection, to notice when the client disconnects. If a deadline expired during that read,
		// net/http would treat that as a disconnection and cancel the request's context.
		s.clearDeadlines()
	}
	return n, err
}

// Close closes the body.
func (s *stream) Close() error { return s.body.Close() }

// sendPiece is how many bytes of a response must be sent within stallTimeout.
const sendPiece = 128 << 10

// Write writes the response.
func (s *stream) Write(b []byte) (sent int, err error) {
	for {
		if err := s.setDeadlines(time.Now().Add(stallTimeout)); err != nil {
			return sent, err
		}
		n, err := s.ResponseWriter.Write(b[sent:min(len(b), sent+sendPiece)])
		sent += n
		if err != nil || sent == len(b) {
			return sent, err
		}
	}
}

// ReadFrom writes the response from src. If http.ServeContent passes a file on disk, net/http sends it by sendfile, without copying it
// into the process. It recognizes a file as the source of one LimitedReader, but not of two.
func (s *stream) ReadFrom(src io.Reader) (sent int64, err error) {
	whole, ok := src.(*io.LimitedReader)
	if ok {
		_, ok = whole.R.(*os.File)
	}
	if !ok {
		return io.Copy(struct{ io.Writer }{s}, src) // by Write: io.Copy must not call ReadFrom again
	}
	for whole.N > 0 {
		if err := s.setDeadlines(time.Now().Add(stallTimeout)); err != nil {
			return sent, err
		}
		piece := &io.LimitedReader{R: whole.R, N: min(whole.N, sendPiece)}
		n, err := io.Copy(s.ResponseWriter, piece)
		sent += n
		whole.N -= n
		if err != nil || piece.N > 0 { // piece.N > 0: the file has ended
			return sent, err
		}
	}
	return sent, nil
}
