package s3client

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
	"time"
)

func TestStalledWriteTimesOut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here, there := net.Pipe()
		var taken int
		go func() { // a slow server, which then stops reading
			piece := make([]byte, writeChunk)
			for range 3 {
				time.Sleep(writeTimeout - time.Second)
				n, err := io.ReadFull(there, piece)
				if err != nil {
					t.Error(err)
				}
				taken += n
			}
		}()
		began := time.Now()
		n, err := stallTimeoutConn{here}.Write(make([]byte, 10*writeChunk))
		synctest.Wait() // the server has stopped, so taken is complete
		if !errors.Is(err, os.ErrDeadlineExceeded) || n != 3*writeChunk || n != taken {
			t.Errorf("%d bytes written and %d taken (%v), want %d", n, taken, err, 3*writeChunk)
		}
		if took, want := time.Since(began), 3*(writeTimeout-time.Second)+writeTimeout; took != want {
			t.Errorf("took %s, want %s", took, want)
		}
		if err := errors.Join(here.Close(), there.Close()); err != nil {
			t.Error(err)
		}
	})
}
