package realtime

import (
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
)

// Errors of the HTTP endpoints and of the WebSocket handshake.
var (
	errTooManySockets = apperr.New(http.StatusServiceUnavailable, "too_many_connections", "Too many live connections, please try again later")
	errTooManyFromIP  = apperr.New(http.StatusTooManyRequests, "too_many_connections", "Too many live connections from this IP address")
	errStopping       = apperr.New(http.StatusServiceUnavailable, "shutting_down", "The server is shutting down")
	errVersion        = apperr.New(http.StatusBadRequest, "unsupported_version", "vsn must be 1.0.0 or 2.0.0")
	errForbidden      = apperr.New(http.StatusForbidden, "unauthorized", "Only administrators may send messages on channels")
	errPersist        = apperr.New(http.StatusUnprocessableEntity, "persist_unsupported", "Messages are not stored: persist is not supported")
	errHandshake      = apperr.New(http.StatusUpgradeRequired, "upgrade_required", "This URL requires a WebSocket handshake")
)

// errInvalid returns the error for an HTTP request with an invalid message. what describes the mistake.
func errInvalid(what string) *apperr.Error {
	return apperr.New(http.StatusUnprocessableEntity, "invalid_message", what)
}

// WriteError writes an error in the form that supabase-js expects: {code, message}.
func WriteError(w http.ResponseWriter, _ *http.Request, e *apperr.Error) {
	// An error here means that the client has gone.
	_ = httpx.JSON(w, e.Status, struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	}{e.Code, e.Message})
}
