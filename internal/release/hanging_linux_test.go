package release

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// silentServer stands for a server that does not respond.
type silentServer struct{}

func (silentServer) RoundTrip(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

// Proves H-release-daily.
func TestHangingReleaseFileTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		_, err := read(t.Context(), &http.Client{Transport: silentServer{}}, "https://example.com/release.json")
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != readTimeout {
			t.Errorf("%v after %s", err, time.Since(began))
		}
	})
	// A named pipe stands for a file on a disk that hangs: nothing interrupts the open.
	pipe := filepath.Join(t.TempDir(), "release.json")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Read(ctx, pipe); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	other, err := os.OpenFile(pipe, os.O_RDWR, 0) // ends the blocked open
	if err == nil {
		err = other.Close()
	}
	if err != nil {
		t.Error(err)
	}
}
