package storage

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// stallTimeout ends a transfer that makes no progress. The whole transfer has no time limit, because a film may take an hour.
const stallTimeout = time.Minute

// stream wraps a request's body and its answer. Each Read and Write sets the connection's deadlines anew. They replace the
// server's time limit for a whole request.
type stream struct {
	http.ResponseWriter
	body io.ReadCloser // the body that Read reads; nil if only the answer is long
	conn *http.ResponseController
}

func newStream(w http.ResponseWriter, body io.ReadCloser) *stream {
	return &stream{w, body, http.NewResponseController(w)}
}

// end removes the deadlines. Without it they would interrupt the answer to a long upload, or the connection's next request.
func (s *stream) end() {
	if err := s.setDeadlines(time.Time{}); err != nil {
		slog.Debug("connection is gone", "cause", err)
	}
}

// setDeadlines sets the deadlines of reading and writing. It does nothing for writers without a connection, as in tests.
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
		s.end() // net/http now reads to notice that the client disconnects; an expired deadline would look the same
	}
	return n, err
}

// Close closes the body.
func (s *stream) Close() error { return s.body.Close() }

// Write writes the answer.
func (s *stream) Write(b []byte) (int, error) {
	if err := s.setDeadlines(time.Now().Add(stallTimeout)); err != nil {
		return 0, err
	}
	return s.ResponseWriter.Write(b)
}
