package functions

import (
	"log/slog"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// The refusals of this surface. Those of the gateway before a function have the hosted gateway's shape; those of a
// function have the function's own (READING §3.28).
var (
	errNoFunction  = apperr.New(http.StatusNotFound, "NOT_FOUND", "Requested function was not found")
	errForbidden   = apperr.New(http.StatusForbidden, "FORBIDDEN", "This key may not call the function")
	errNoMethod    = apperr.New(http.StatusMethodNotAllowed, "method_not_allowed", "Method not allowed")
	errBadForm     = apperr.New(http.StatusBadRequest, "bad_form", "Could not parse request body as a form")
	errUnknownType = apperr.New(http.StatusUnsupportedMediaType, "unsupported_media_type", "The body must be application/json, application/x-www-form-urlencoded or multipart/form-data, in UTF-8")
	errNoMessage   = apperr.New(http.StatusNotFound, "no_message", "There is no such message in quarantine")
	errTooMany     = apperr.New(http.StatusTooManyRequests, "too_many_requests", "Too many messages. Please try again in a minute.")
)

func errInvalid(text string) *apperr.Error {
	return apperr.New(http.StatusBadRequest, "invalid", text)
}

// gateway lists the errors that are answered before a function runs, by their code here.
var gateway = map[string]struct{ code, message string }{
	errNoFunction.Code:        {errNoFunction.Code, errNoFunction.Message},
	"not_found":               {errNoFunction.Code, errNoFunction.Message}, // of an address below a function
	errForbidden.Code:         {errForbidden.Code, errForbidden.Message},
	identity.ErrNoKey.Code:    {"UNAUTHORIZED_NO_AUTH_HEADER", "Missing authorization header"},
	identity.ErrBadToken.Code: {"UNAUTHORIZED_INVALID_JWT_FORMAT", "Invalid JWT"},
}

// WriteError answers {code, message} for what the gateway refuses and {success: false, error} for what a function does.
func WriteError(w http.ResponseWriter, r *http.Request, e *apperr.Error) {
	var body any = struct {
		Success bool   `json:"success"`
		Error   string `json:"error"`
	}{false, e.Message}
	if g, ok := gateway[e.Code]; ok {
		body = struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		}{g.code, g.message}
	}
	if err := httpx.JSON(w, e.Status, body); err != nil { // the visitor has gone
		slog.DebugContext(r.Context(), "error not delivered", "cause", err)
	}
}
