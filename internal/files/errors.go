package files

import (
	"errors"
	"net/http"

	"atelie/internal/apperr"
)

// Errors that both storage and media return. As in Supabase, the HTTP status of most responses is 400, and the JSON body contains the
// status that is given here.
var (
	ErrNoBucket = apperr.New(http.StatusNotFound, "NoSuchBucket", "Bucket not found")
	ErrNoObject = apperr.New(http.StatusNotFound, "NoSuchKey", "Object not found")
)

// ErrInvalidKey returns the error for a name that no object may have.
func ErrInvalidKey(name string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "InvalidKey", "Invalid key: "+name)
}

// ErrInvalidParameter returns the error for a parameter with a wrong value; text tells the client which values are allowed.
func ErrInvalidParameter(text string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "InvalidParameter", text)
}

// ErrNotSupported returns the error for an option of Supabase's client that this server does not support. The request is rejected, because
// a response that ignores the option would not be what the client requested.
func ErrNotSupported(option string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "FeatureNotEnabled", option+" is not offered here")
}

// IsRefusal reports whether the request caused the error (a status below 500), and not the server.
func IsRefusal(err error) bool {
	e, ok := errors.AsType[*apperr.Error](err)
	return ok && e.Status < http.StatusInternalServerError
}
