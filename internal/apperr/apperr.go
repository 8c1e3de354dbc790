// Package apperr defines the error type that all packages return to the HTTP layer. An error has a stable code for programs, a
// text that may be shown to anyone, and a cause that is only logged. Each surface (a part of the API, such as /auth/v1) writes errors in
// its own format.
package apperr

import (
	"context"
	"errors"
	"fmt"
	"net/http"
)

// Error describes why a request was rejected or failed. All fields except Cause may be shown to anyone.
type Error struct {
	Status  int    // HTTP status of the response
	Code    string // identifies the error; must not change, because programs compare it
	Message string // text for people; may change
	Details string // optional; only responses of /rest/v1 contain it
	Hint    string // optional; only responses of /rest/v1 contain it
	Cause   error  // only for the log, because it can contain secrets; nil if there is none

	RetryAfter int // value of the Retry-After header in seconds; 0 means that the response has no such header
}

// Error returns code, message and cause. It is for logs and tests, not for responses, because the cause can contain secrets.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return e.Code + ": " + e.Message
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is reports whether target is an Error with the same code. Errors that callers must distinguish need different codes.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && e.Code == t.Code
}

// New returns an error without a cause.
func New(status int, code, message string) *Error {
	return &Error{Status: status, Code: code, Message: message}
}

// Because returns a copy of e with a cause. It does not change e itself, because e is usually a package variable.
func (e *Error) Because(cause error) *Error {
	withCause := *e
	withCause.Cause = cause
	return &withCause
}

// Becausef is Because with a formatted cause.
func (e *Error) Becausef(format string, args ...any) *Error {
	return e.Because(fmt.Errorf(format, args...))
}

// NoSpace is the error for requests that would store something while the disk is full.
var NoSpace = New(http.StatusInsufficientStorage, "insufficient_storage", "The server's disk is full: nothing new can be stored until there is room again.")

// Timeout is the error for requests that took too long, for example because the database does not respond.
var Timeout = New(http.StatusGatewayTimeout, "request_timeout", "The request took too long, please try again")

// From returns err as an *Error. An error of another type becomes NoSpace if the disk is full, Timeout if a deadline has passed, and
// otherwise an Error with status 500 and a general text, because its own text may contain secrets.
func From(err error) *Error {
	var e *Error
	switch {
	case errors.As(err, &e):
		return e
	case IsDiskFull(err):
		return NoSpace.Because(err)
	case errors.Is(err, context.DeadlineExceeded):
		return Timeout.Because(err)
	}
	return &Error{
		Status: http.StatusInternalServerError, Code: "unexpected_failure",
		Message: "Unexpected failure, please check server logs for more information", Cause: err,
	}
}
