package realtime

import (
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
)

var (
	errTooManySockets = apperr.New(http.StatusServiceUnavailable, "too_many_connections", "Too many live connections, please try again later")
	errTooManyHere    = apperr.New(http.StatusTooManyRequests, "too_many_connections", "Too many live connections from this address")
	errStopping       = apperr.New(http.StatusServiceUnavailable, "shutting_down", "The server is shutting down")
	errVersion        = apperr.New(http.StatusBadRequest, "unsupported_version", "vsn must be 1.0.0 or 2.0.0")
	errForbidden      = apperr.New(http.StatusForbidden, "unauthorized", "Only administrators may send messages on channels")
	errPersist        = apperr.New(http.StatusUnprocessableEntity, "persist_unsupported", "Messages are not stored: persist is not supported")
	errHandshake      = apperr.New(http.StatusUpgradeRequired, "upgrade_required", "This address speaks WebSocket")
)

func errInvalid(what string) *apperr.Error {
	return apperr.New(http.StatusUnprocessableEntity, "invalid_message", what)
}

// WriteError writes an error as the client's httpSend reads it.
func WriteError(w http.ResponseWriter, _ *http.Request, e *apperr.Error) {
	// The caller may be gone; there is nobody left to tell.
	_ = httpx.JSON(w, e.Status, struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}{e.Code, e.Message})
}
