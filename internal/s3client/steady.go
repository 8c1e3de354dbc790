package s3client

import (
	"net"
	"time"
)

// Limits of a connection that stands still.
const (
	writeTimeout = 30 * time.Second // until it takes the next writePiece bytes of a request
	writePiece   = 64 << 10
)

// steadyConn limits each write. A server that takes no more of a request would hold it for as long as TCP tries: headerTimeout begins
// after the last byte.
type steadyConn struct{ net.Conn }

func (c steadyConn) Write(p []byte) (written int, err error) {
	for err == nil && written < len(p) {
		if err = c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			break
		}
		var n int
		n, err = c.Conn.Write(p[written:min(written+writePiece, len(p))])
		written += n
	}
	return written, err
}
