// Package httpx lets handlers return errors, and holds what every request passes through: id, log, recovery, CORS,
// limits, the client's address.
package httpx

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"atelie/internal/apperr"
)

// Handler answers a request or returns why not. After it has begun to write, an error only reaches the log.
type Handler func(w http.ResponseWriter, r *http.Request) error

// ErrorWriter writes an error in the shape of one surface's contract.
type ErrorWriter func(w http.ResponseWriter, r *http.Request, e *apperr.Error)

// Handle runs fn and writes the error it returns, in one place per surface.
func Handle(write ErrorWriter, fn Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := fn(w, r)
		if err == nil {
			return
		}
		e := apperr.From(err)
		noteError(r.Context(), e)
		if rec, ok := w.(*recorder); ok && rec.status != 0 {
			return // the answer is already on its way
		}
		write(w, r, e)
	})
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
