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

// exportStallTimeout is how long a client may read nothing before its connection is closed. The whole file has no time limit.
const exportStallTimeout = time.Minute

// exportFile is a file that is sent as the response to a request.
type exportFile struct {
	*bufio.Writer
	sink *deadlineWriter // receives what the buffered Writer flushes
}

// deadlineWriter moves the connection's write deadline at each write. This replaces the server's time limit for a whole response.
type deadlineWriter struct {
	http.ResponseWriter
	conn  *http.ResponseController
	begun bool // whether anything was written
}

func (d *deadlineWriter) Write(b []byte) (int, error) {
	d.begun = true
	// ErrNotSupported: the ResponseWriter has no connection, as in tests.
	if err := d.conn.SetWriteDeadline(time.Now().Add(exportStallTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return d.ResponseWriter.Write(b)
}

// startExportFile begins a file that the browser saves under name. Its type is application/octet-stream, because Supabase's
// client (functions.invoke) decodes responses of other types, as JSON or text.
func startExportFile(w http.ResponseWriter, name string) *exportFile {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	sink := &deadlineWriter{ResponseWriter: w, conn: http.NewResponseController(w)}
	return &exportFile{bufio.NewWriterSize(sink, 32<<10), sink}
}

// end completes the file if err is nil. If err is not nil, or the file cannot be completed, and nothing was sent yet, it returns the error,
// so that the client gets an ordinary error response. If a part of the file was sent, end aborts the connection (by a panic with
// http.ErrAbortHandler), because an incomplete file would look complete.
func (d *exportFile) end(ctx context.Context, err error) error {
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
