package functions

import (
	"bufio"
	"context"
	"errors"
	"net/http"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
)

// downloadStall ends a download whose client reads nothing. The download as a whole has no time limit.
const downloadStall = time.Minute

// download writes a file as the answer to a request.
type download struct {
	*bufio.Writer
	sink *deadlineWriter
}

// deadlineWriter sets the connection's deadline anew at each write, in place of the server's time limit for a whole answer.
type deadlineWriter struct {
	http.ResponseWriter
	conn  *http.ResponseController
	begun bool // whether anything was written
}

func (d *deadlineWriter) Write(b []byte) (int, error) {
	d.begun = true
	// A writer without a connection, as in tests, has no deadlines.
	if err := d.conn.SetWriteDeadline(time.Now().Add(downloadStall)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return d.ResponseWriter.Write(b)
}

// startDownload begins a file that the browser saves under name. Its type is application/octet-stream, because Supabase's client
// hands over only such an answer byte for byte.
func startDownload(w http.ResponseWriter, name string) *download {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	sink := &deadlineWriter{ResponseWriter: w, conn: http.NewResponseController(w)}
	return &download{bufio.NewWriterSize(sink, 32<<10), sink}
}

// end completes the file, unless err is not nil. Before the first bytes an error becomes an ordinary answer. Later it cuts the
// connection: otherwise an incomplete file would look complete.
func (d *download) end(ctx context.Context, err error) error {
	if err == nil {
		err = d.Flush()
	}
	if err == nil {
		return nil
	}
	if !d.sink.begun {
		for _, name := range []string{"Content-Type", "Content-Disposition"} {
			d.sink.Header().Del(name)
		}
		return err
	}
	httpx.NoteError(ctx, apperr.From(err))
	panic(http.ErrAbortHandler)
}
