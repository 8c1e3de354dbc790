// Package apperr holds the one error type that crosses package borders: a stable code for programs, a safe text for
// people, and a hidden cause for the log. It knows nothing of response bodies; each surface writes its own shape.
package apperr

import (
	"errors"
	"fmt"
	"net/http"
)

// Error is a refusal or a failure with three faces. Code and Message may be shown to anyone; Cause never is.
type Error struct {
	Status  int    // HTTP status that fits the refusal
	Code    string // stable, from the contract's own list
	Message string // safe for people
	Details string // safe, optional (the tables surface shows it)
	Hint    string // safe, optional (the tables surface shows it)
	Cause   error  // for the log alone
}

// Error shows the cause too: it is meant for logs and tests, not for responses.
func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Message, e.Cause)
	}
	return e.Code + ": " + e.Message
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Cause }

// Is lets errors.Is find a shared error value among its copies with causes.
func (e *Error) Is(target error) bool {
	t, ok := target.(*Error)
	return ok && e.Status == t.Status && e.Code == t.Code && e.Message == t.Message
}

// New makes an error without a cause.
func New(status int, code, message string) *Error {
	return &Error{Status: status, Code: code, Message: message}
}

// Because returns a copy that carries the cause, so that shared error values stay unchanged.
func (e *Error) Because(cause error) *Error {
	c := *e
	c.Cause = cause
	return &c
}

// Becausef is Because with a formatted cause.
func (e *Error) Becausef(format string, args ...any) *Error {
	return e.Because(fmt.Errorf(format, args...))
}

// From returns err as an *Error; anything unknown becomes a 500 whose text gives nothing away.
func From(err error) *Error {
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return &Error{Status: http.StatusInternalServerError, Code: "unexpected_failure", Message: "Unexpected failure, please check server logs for more information", Cause: err}
}
