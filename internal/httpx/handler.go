// Package httpx contains the HTTP code that all surfaces share: handlers that return errors, and middleware for request ids, the access
// log, panics, CORS, and the client's IP address. A surface is a part of the API with its own prefix and format of errors, such as
// /auth/v1.
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
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
)

// Handler responds to a request, or returns an error. Handle then writes the response for the error. If the handler has already begun
// to write a response, the error is only logged.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ErrorWriter writes an error in the format of one surface.
type ErrorWriter func(w http.ResponseWriter, r *http.Request, e *apperr.Error)

// errClientClosed is logged if the client closes the connection before the response. nginx logs the same status, 499.
var errClientClosed = apperr.New(499, "client_closed_request", "The client closed the connection")

// ErrNoDatabase is the error for requests that fail during an outage of the database. Surfaces may replace its code.
var ErrNoDatabase = &apperr.Error{
	Status:     http.StatusServiceUnavailable,
	Code:       "database_unavailable",
	Message:    "The database cannot be reached at the moment, please try again",
	RetryAfter: 5, // seconds
}

// MarkStale marks a response as served from a cache during an outage of the database: in the Cache-Status header (RFC 9211) and
// in the access log. age is the time since the node (this server) last knew that the cached response was up to date.
func MarkStale(w http.ResponseWriter, r *http.Request, age time.Duration) {
	// A negative ttl says for how many seconds the response has been stale. Without the 1, it would be 0 in the first second.
	w.Header().Set("Cache-Status", "atelie; hit; ttl=-"+strconv.Itoa(int(age.Seconds())+1)+"; detail=database_unavailable")
	requestInfoOf(r.Context()).stale = true
}

// Handle returns an http.Handler that runs fn and writes its error with writeError. A panic in fn is logged, and the response has the
// status 500.
func Handle(writeError ErrorWriter, fn Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// rec.status tells whether fn has begun to write a response. Usually w is the recorder of Log. If middleware has wrapped that recorder,
		// for example to compress the response, the middleware may hold back what fn writes. Handle then needs a recorder of its own.
		rec, ok := w.(*recorder)
		if !ok {
			rec = &recorder{ResponseWriter: w}
		}
		err := runRecovering(fn, rec, r)
		if err == nil {
			return
		}
		e := apperr.From(err)
		_, isPanic := errors.AsType[*panicError](err)
		_, hasCode := errors.AsType[*apperr.Error](err)
		// If the request's context has ended, an error without a code of its own only results from that: from the request timeout, or from
		// a client that has closed the connection.
		if ctxErr := r.Context().Err(); ctxErr != nil && !isPanic && !hasCode {
			e = errClientClosed.Because(err)
			if errors.Is(ctxErr, context.DeadlineExceeded) {
				e = apperr.Timeout.Because(err)
			}
		}
		if e.Status >= http.StatusInternalServerError && !isPanic && errors.Is(err, db.ErrUnavailable) {
			e = ErrNoDatabase.Because(err)
		}
		NoteError(r.Context(), e)
		switch {
		case rec.status == 0: // fn has not begun to write a response
			if e.RetryAfter > 0 {
				rec.Header().Set("Retry-After", strconv.Itoa(e.RetryAfter))
			}
			writeError(rec, r, e)
		case isPanic:
			panic(http.ErrAbortHandler) // abort the connection: the client must notice that the response is incomplete
		}
	})
}

// panicError is the error for a panic of a handler.
type panicError struct {
	value any
	stack []byte
}

func (p *panicError) Error() string { return fmt.Sprintf("panic: %v\n%s", p.value, p.stack) }

// runRecovering runs fn and returns a panic of fn as a panicError. It does not recover http.ErrAbortHandler.
func runRecovering(fn Handler, w http.ResponseWriter, r *http.Request) (err error) {
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

// isAbort reports whether a panic is http.ErrAbortHandler, with which handlers of net/http abort a connection.
func isAbort(p any) bool {
	err, ok := p.(error)
	return ok && errors.Is(err, http.ErrAbortHandler)
}

// JSON writes a response with the status and with v as JSON.
func JSON(w http.ResponseWriter, status int, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return JSONText(w, status, body)
}

// JSONText writes a response with the status and with body, which is JSON.
func JSONText(w http.ResponseWriter, status int, body []byte) error {
	h := w.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", "application/json; charset=utf-8")
	}
	h.Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(status)
	_, err := w.Write(body)
	return err
}

// Errors of reading a request body. Surfaces replace their codes.
var (
	ErrTooLarge = apperr.New(http.StatusRequestEntityTooLarge, "payload_too_large", "The request is too large")
	ErrBadJSON  = apperr.New(http.StatusBadRequest, "bad_json", "Could not parse request body as JSON")
)

// ReadBody reads the request body. It returns ErrTooLarge if the body has more than limit bytes. With an error it returns what it
// has read.
func ReadBody(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case tooLarge:
		return body, ErrTooLarge.Becausef("body over %d bytes", limit)
	case err != nil:
		return body, apperr.New(http.StatusBadRequest, "bad_request", "The request could not be read").Because(err)
	}
	return body, nil
}

// DecodeJSON decodes the request body, one JSON value of at most limit bytes, into dst. An empty body is treated as {}.
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
