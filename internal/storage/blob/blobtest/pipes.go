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

// This file serves HTTP to tests over connections within the process (net.Pipe). Tests with the fake clock of testing/synctest need such
// connections: that clock does not advance while a goroutine waits for a network socket.

// Pipes serves handler and returns a function that opens connections to the server. handler may send a body that never ends, because the
// server is closed at the end of the test.
func Pipes(t *testing.T, handler http.HandlerFunc) s3client.Dial {
	t.Helper()
	return ServePipes(t, &http.Server{Handler: handler})
}

// ServePipes is like Pipes, but serves with the given server and its settings.
func ServePipes(t *testing.T, server *http.Server) s3client.Dial {
	t.Helper()
	l := &pipeListener{conns: make(chan net.Conn), closed: make(chan struct{})}
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

// pipeListener is a net.Listener for connections within the process.
type pipeListener struct {
	conns  chan net.Conn
	once   sync.Once
	closed chan struct{}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }
