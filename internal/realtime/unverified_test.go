package realtime

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/coder/websocket"
)

// A message of a client whose rights could not be read in time is not lost silently: the socket is closed, so that the client connects again.
func TestSocketIsClosedIfItsRightsAreNotReadInTime(t *testing.T) {
	running := t.Context()
	ended, cancel := context.WithCancel(running)
	cancel()
	late, cancel := context.WithDeadline(running, time.Now().Add(-time.Second))
	defer cancel()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		closed bool
	}{
		{"the query failed", running, true},
		{"the time of the frame is over", late, true},
		{"the socket has ended", ended, false},
	} {
		s := &Service{log: slog.New(slog.DiscardHandler)}
		sock := &socket{service: s, done: make(chan struct{})}
		s.dropUnverified(c.ctx, &member{socket: sock}, errors.New("no rights"))
		if sock.closed != c.closed || c.closed && sock.closeCode != websocket.StatusTryAgainLater {
			t.Errorf("%s: closed %v with %d", c.name, sock.closed, sock.closeCode)
		}
	}
}
