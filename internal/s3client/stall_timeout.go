package s3client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"
)

// This file ends requests to an S3 server that stops in the middle of reading a request or sending a response.

// Timeouts for a server that makes no progress.
const (
	writeTimeout = 30 * time.Second // maximum time until the server has accepted the next writeChunk bytes of a request
	writeChunk   = 64 << 10         // bytes
	readTimeout  = 30 * time.Second // maximum duration of one read of a response's body
)

// stallTimeoutConn is a connection that limits the time of each write. Without this limit, a request to a server that stops reading would
// last until TCP gives up, because headerTimeout begins only after the last byte of the request.
type stallTimeoutConn struct{ net.Conn }

func (c stallTimeoutConn) Write(p []byte) (written int, err error) {
	for err == nil && written < len(p) {
		if err = c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			break
		}
		var n int
		n, err = c.Conn.Write(p[written:min(written+writeChunk, len(p))])
		written += n
	}
	return written, err
}

// stallTimeoutTransport limits the time of each read of a response's body. Without this limit, the reader of a body that stops would wait
// until its context ends, because headerTimeout limits only the wait for the headers.
type stallTimeoutTransport struct{ http.RoundTripper }

func (t stallTimeoutTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	ctx, cancel := context.WithCancelCause(r.Context())
	response, err := t.RoundTripper.RoundTrip(r.WithContext(ctx))
	if err != nil {
		cancel(nil)
		return nil, err
	}
	response.Body = &stallTimeoutBody{ReadCloser: response.Body, ctx: ctx, cancel: cancel}
	return response, nil
}

// stallTimeoutBody is a body whose request ends when a read takes longer than readTimeout. The time between two reads does not count.
type stallTimeoutBody struct {
	io.ReadCloser
	ctx    context.Context // a field, because Read has no context parameter
	cancel context.CancelCauseFunc
	timer  *time.Timer // nil before the first Read
}

func (b *stallTimeoutBody) Read(p []byte) (int, error) {
	if b.timer == nil {
		b.timer = time.AfterFunc(readTimeout, func() { b.cancel(errStalled) })
	} else {
		b.timer.Reset(readTimeout)
	}
	n, err := b.ReadCloser.Read(p)
	b.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) && errors.Is(context.Cause(b.ctx), errStalled) {
		err = errStalled // and not "context canceled", because the caller has not cancelled the request
	}
	return n, err
}

func (b *stallTimeoutBody) Close() error {
	defer b.cancel(nil)
	return b.ReadCloser.Close()
}

// stallError is the error of a body that stalls.
type stallError struct{}

var errStalled error = stallError{}

func (stallError) Error() string {
	return fmt.Sprintf("the server stopped in the middle of a response: it sent nothing for %s", readTimeout)
}

// Timeout makes the SDK retry a request whose response the SDK itself reads, such as a list.
func (stallError) Timeout() bool { return true }
