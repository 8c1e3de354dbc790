package blobtest

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"testing"

	"atelie/internal/s3client"
)

// Pipes serves handler and returns a function that opens connections to it. The connections are within the process, so that the clock of
// testing/synctest advances while a test waits for data. handler may send bodies that never end: the end of the test closes the server.
func Pipes(t *testing.T, handler http.HandlerFunc) s3client.Dial {
	t.Helper()
	return ServePipes(t, &http.Server{Handler: handler})
}

// ServePipes is Pipes for a server with settings of its own.
func ServePipes(t *testing.T, server *http.Server) s3client.Dial {
	t.Helper()
	l := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
		if err := <-served; !errors.Is(err, http.ErrServerClosed) {
			t.Error(err)
		}
	})
	return func(ctx context.Context, _, _ string) (net.Conn, error) {
		clientEnd, serverEnd := net.Pipe()
		select {
		case l.conns <- serverEnd:
			return clientEnd, nil
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// Stall sends the beginning of a body, and then nothing until the request ends.
func Stall(w http.ResponseWriter, r *http.Request, beginning string) {
	if _, err := io.WriteString(w, beginning); err != nil {
		return // the client has gone
	}
	if err := http.NewResponseController(w).Flush(); err != nil {
		return
	}
	<-r.Context().Done()
}

// pipes is a listener for connections within the process.
type pipes struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
