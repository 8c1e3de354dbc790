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

// This file sends exports (files that an owner saves, such as all messages). An export can have any size, and sending it can take any time.

// exportStallTimeout is how long one write may wait for the client. After that the connection is closed.
const exportStallTimeout = time.Minute

// exportFile is a file that is being sent as the response to a request. Its content is written to the buffered Writer.
type exportFile struct {
	*bufio.Writer

	sink *deadlineWriter // where the Writer writes its full buffers
}

// deadlineWriter lets a response take any time while the client keeps reading: it moves the connection's write deadline at each write.
type deadlineWriter struct {
	http.ResponseWriter
	conn    *http.ResponseController
	started bool // whether anything was written
}

func (d *deadlineWriter) Write(b []byte) (int, error) {
	d.started = true
	// ErrNotSupported means that the ResponseWriter has no connection, as in tests.
	if err := d.conn.SetWriteDeadline(time.Now().Add(exportStallTimeout)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return 0, err
	}
	return d.ResponseWriter.Write(b)
}

// startExportFile begins a file that the browser saves under name. Its type is application/octet-stream, because Supabase's client
// (functions.invoke) would decode other types as JSON or text.
func startExportFile(w http.ResponseWriter, name string) *exportFile {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	sink := &deadlineWriter{ResponseWriter: w, conn: http.NewResponseController(w)}
	return &exportFile{Writer: bufio.NewWriterSize(sink, 32<<10), sink: sink}
}

// end completes the file. err is the error of making its content, or nil. There are two cases of an error:
//   - Nothing was sent yet. end returns the error, and the client gets an ordinary error response.
//   - A part of the file was sent. end panics with http.ErrAbortHandler, which aborts the connection. Without this, the client would take
//     the incomplete file for a complete one.
func (f *exportFile) end(ctx context.Context, err error) error {
	if err == nil {
		err = f.Flush()
	}
	if err == nil {
		return nil
	}
	if !f.sink.started {
		f.sink.Header().Del("Content-Type")
		f.sink.Header().Del("Content-Disposition")
		return err
	}
	httpx.NoteError(ctx, apperr.From(err))
	panic(http.ErrAbortHandler)
}
