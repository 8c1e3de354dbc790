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
		client, server := net.Pipe()
		var received int
		go func() { // a slow server, which then stops reading
			piece := make([]byte, writeChunk)
			for range 3 {
				time.Sleep(writeTimeout - time.Second)
				n, err := io.ReadFull(server, piece)
				if err != nil {
					t.Error(err)
				}
				received += n
			}
		}()
		began := time.Now()
		n, err := stallTimeoutConn{client}.Write(make([]byte, 10*writeChunk))
		synctest.Wait() // the server has stopped, so received is complete
		if !errors.Is(err, os.ErrDeadlineExceeded) || n != 3*writeChunk || n != received {
			t.Errorf("%d bytes written and %d received (%v), want %d", n, received, err, 3*writeChunk)
		}
		if took, want := time.Since(began), 3*(writeTimeout-time.Second)+writeTimeout; took != want {
			t.Errorf("took %s, want %s", took, want)
		}
		if err := errors.Join(client.Close(), server.Close()); err != nil {
			t.Error(err)
		}
	})
}
