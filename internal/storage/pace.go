package storage

import (
	"errors"
	"io"
	"log/slog"
	"net/http"
	"time"
)

// stall is how long a transfer may stand still. A film may take an hour, so that no limit fits the whole; a
// connection that moves nothing for a minute is dropped.
const stall = time.Minute

// pacer moves a connection's deadlines on with every piece, in place of the server's limits for a whole request.
type pacer struct {
	w http.ResponseWriter
	c *http.ResponseController
}

func pace(w http.ResponseWriter) *pacer { return &pacer{w, http.NewResponseController(w)} }

func (p *pacer) reader(body io.ReadCloser) io.ReadCloser { return pacedReader{body, p} }

func (p *pacer) writer() http.ResponseWriter { return pacedWriter{p.w, p} }

// end takes the deadlines away: they must not meet the answer to a long upload, nor the connection's next request.
func (p *pacer) end() {
	if err := p.set(time.Time{}); err != nil {
		slog.Debug("connection is gone", "cause", err)
	}
}

// set passes over writers without a connection behind them.
func (p *pacer) set(deadline time.Time) error {
	err := errors.Join(p.c.SetReadDeadline(deadline), p.c.SetWriteDeadline(deadline))
	if errors.Is(err, http.ErrNotSupported) {
		return nil
	}
	return err
}

type pacedReader struct {
	io.ReadCloser
	p *pacer
}

func (r pacedReader) Read(b []byte) (int, error) {
	if err := r.p.set(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	n, err := r.ReadCloser.Read(b)
	if err != nil {
		r.p.end() // net/http now waits for the client to leave, which a deadline would look like
	}
	return n, err
}

type pacedWriter struct {
	http.ResponseWriter
	p *pacer
}

func (w pacedWriter) Write(b []byte) (int, error) {
	if err := w.p.set(time.Now().Add(stall)); err != nil {
		return 0, err
	}
	return w.ResponseWriter.Write(b)
}
