package httpx

import (
	"errors"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/identity"
)

// This file has helpers for packages that handle functions at /rest/v1/rpc. The codes of errors are those of PostgREST, the program behind
// this path in Supabase. PostgREST has codes of its own (PGRST…), and otherwise responds with the SQLSTATE of PostgreSQL.

// ErrRPCBadJSON is the error of DecodeRPC for a body that is not the JSON of a request.
var ErrRPCBadJSON = apperr.New(http.StatusBadRequest, "PGRST102", "Empty or invalid json")

// errRPCTooLarge has the SQLSTATE program_limit_exceeded.
var errRPCTooLarge = apperr.New(http.StatusRequestEntityTooLarge, "54000", "The request is too large")

// DeniedError returns the error for a caller who may not use what: 401 for callers who are not signed in, otherwise 403. The code is the
// SQLSTATE insufficient_privilege.
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
