package httpx

import (
	"errors"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/identity"
)

// This file has helpers for packages that handle functions at /rest/v1/rpc. In Supabase the program PostgREST serves this path. Therefore
// the errors have its codes: PGRST and a number, or the SQLSTATE (error code) of PostgreSQL.

// ErrRPCBadJSON is the error of DecodeRPC for a body that is not JSON, or whose values have wrong types.
var ErrRPCBadJSON = apperr.New(http.StatusBadRequest, "PGRST102", "Empty or invalid json")

// errRPCTooLarge has the SQLSTATE program_limit_exceeded.
var errRPCTooLarge = apperr.New(http.StatusRequestEntityTooLarge, "54000", "The request is too large")

// DeniedError returns the error for a caller without permission. The status is 401 for callers who are not signed in, and 403 for all
// others. The code is the SQLSTATE insufficient_privilege. what names the function or table in the text of the error.
func DeniedError(caller identity.Caller, what string) error {
	status := http.StatusForbidden
	if caller.Role == identity.Anon || caller.Role == "" {
		status = http.StatusUnauthorized
	}
	return apperr.New(status, "42501", "permission denied for "+what)
}

// DecodeRPC is DecodeJSON with PostgREST's error codes.
func DecodeRPC(w http.ResponseWriter, r *http.Request, limit int64, dst any) error {
	switch err := DecodeJSON(w, r, limit, dst); {
	case errors.Is(err, ErrTooLarge):
		return errRPCTooLarge.Because(err)
	case errors.Is(err, ErrBadJSON):
		return ErrRPCBadJSON.Because(err)
	default:
		return err
	}
}

// UncachedJSON responds with v as JSON that no cache may store.
func UncachedJSON(w http.ResponseWriter, v any) error {
	w.Header().Set("Cache-Control", "no-store")
	return JSON(w, http.StatusOK, v)
}
