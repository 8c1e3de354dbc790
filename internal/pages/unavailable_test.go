package pages

import (
	"net/http/httptest"
	"strings"
	"testing"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
)

// Proves P-outage-page, P-outage-hang.
func TestBrowsersGetAPageWhileTheDatabaseDoesNotRespond(t *testing.T) {
	// The page has both languages, and each case checks one of them. Responses in plain text end with the id of the request. Errors that
	// are not an outage are plain text for browsers too.
	for _, c := range []struct {
		err    *apperr.Error
		accept string
		status int
		text   string
	}{
		{apperr.Timeout, "text/html", 504, "não é possível mostrar esta página"},
		{apperr.Timeout, "*/*", 504, "The request took too long, please try again\nRequest"},
		{httpx.ErrNoDatabase, "text/html", 503, "This page cannot be shown right now"},
		{apperr.New(500, "unexpected_failure", "Unexpected failure"), "text/html", 500, "Unexpected failure\nRequest"},
	} {
		r := httptest.NewRequest("GET", "/gallery/mural", nil)
		r.Header.Set("Accept", c.accept)
		rec := httptest.NewRecorder()
		WriteError(rec, r, c.err)
		if rec.Code != c.status || !strings.Contains(rec.Body.String(), c.text) {
			t.Errorf("%s for %s: %d %s", c.err.Code, c.accept, rec.Code, rec.Body)
		}
	}
}
