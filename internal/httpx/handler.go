// Package httpx lets handlers return errors, and holds what every request passes through: id, log, recovery, CORS,
// limits, the client's address.
package httpx

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"atelie/internal/apperr"
)

// Handler answers a request or returns why not. After it has begun to write, an error only reaches the log.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ErrorWriter writes an error in the shape of one surface's contract.
type ErrorWriter func(w http.ResponseWriter, r *http.Request, e *apperr.Error)

// errGone is for a caller who hung up before the answer: no failure of ours. The status is nginx's, for the log.
var errGone = apperr.New(499, "client_closed_request", "The caller hung up")

// errLate is for a request whose context has run out of time, as it does when the database hangs.
var errLate = apperr.New(http.StatusGatewayTimeout, "request_timeout", "The request took too long, please try again")

// Handle runs fn and writes the error it returns, or its panic as a 500, in one place per surface.
func Handle(write ErrorWriter, fn Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec, ok := w.(*recorder)
		if !ok { // something stands between, such as compression, which may hold back what was written
			rec = &recorder{ResponseWriter: w}
		}
		err := withoutPanic(fn, rec, r)
		if err == nil {
			return
		}
		e := apperr.From(err)
		var (
			panicked *panicError
			known    *apperr.Error
		)
		isPanic := errors.As(err, &panicked)
		if over := r.Context().Err(); over != nil && !isPanic && !errors.As(err, &known) {
			e = errGone.Because(err)
			if errors.Is(over, context.DeadlineExceeded) {
				e = errLate.Because(err)
			}
		}
		NoteError(r.Context(), e)
		switch {
		case rec.status == 0:
			write(rec, r, e)
		case isPanic:
			panic(http.ErrAbortHandler) // half an answer must not look like a whole one
		}
	})
}

// panicError is what a handler's panic said, and where.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

func withoutPanic(fn Handler, w http.ResponseWriter, r *http.Request) (err error) {
	defer func() {
		p := recover()
		if isAbort(p) {
			panic(p)
		}
		if p != nil {
			err = &panicError{p, debug.Stack()}
		}
	}()
	return fn(w, r)
}

// isAbort tells net/http's own way to cut a connection from other panics.
func isAbort(p any) bool {
	err, ok := p.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// JSON writes v with the status.
func JSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err = w.Write(body)
	return err
}

// ErrTooLarge is returned for a body over the limit; ErrBadJSON for one that cannot be read. The surfaces give
// them their own codes.
var (
	ErrTooLarge = apperr.New(http.StatusRequestEntityTooLarge, "payload_too_large", "The request is too large")
	ErrBadJSON  = apperr.New(http.StatusBadRequest, "bad_json", "Could not parse request body as JSON")
)

// ReadBody reads at most limit bytes.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, ErrTooLarge.Becausef("body over %d bytes", limit)
	case err != nil:
		return nil, apperr.New(http.StatusBadRequest, "bad_request", "The request could not be read").Because(err)
	}
	return body, nil
}

// DecodeJSON reads one JSON value of at most limit bytes into dst; an empty body counts as {}.
func DecodeJSON(w http.ResponseWriter, r *http.Request, limit int64, dst any) error {
	body, err := ReadBody(w, r, limit)
	if err != nil {
		return err
	}
	if len(bytes.TrimSpace(body)) == 0 {
		body = []byte("{}")
	}
	if err := json.Unmarshal(body, dst); err != nil {
		return ErrBadJSON.Because(err)
	}
	return nil
}

// RawPath gives the escaped rest of the request's path after prefix.
func RawPath(r *http.Request, prefix string) string {
	return strings.TrimPrefix(r.URL.EscapedPath(), prefix)
}
