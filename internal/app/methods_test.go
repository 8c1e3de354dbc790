package app

import (
	"encoding/json"
	"net/http"
	"testing"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Proves W-auth-2, F-wire-method.
//
// TestKnownPathsRefuseOtherMethods checks that every surface responds with 405 and the header Allow in its own error format, with and
// without a key.
func TestKnownPathsRefuseOtherMethods(t *testing.T) {
	a := newApp(t, db.SQLite)
	for _, c := range []struct{ method, target, allow, field string }{ // field: one that an error of this surface has
		{"POST", "/auth/v1/user", "GET, HEAD, PUT", "error_code"},
		{"GET", "/auth/v1/token?grant_type=password", "POST", "error_code"},
		{"PATCH", "/auth/v1/admin/users/7", "GET, HEAD, PUT, DELETE", "error_code"},
		{"OPTIONS", "/auth/v1/signup", "POST", "error_code"},
		{"TRACE", "/rest/v1/products", "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE", "code"},
		{"PATCH", "/rest/v1/rpc/reorder_reviews", "OPTIONS,POST", "code"},
		{"PATCH", "/storage/v1/bucket/product-images", "GET, HEAD, PUT, DELETE", "statusCode"},
		{"PUT", "/storage/v1/object/move", "POST, DELETE", "statusCode"},
		{"POST", "/storage/v1/render/image/public/product-images/a.png", "GET, HEAD", "statusCode"},
		{"PUT", "/storage/v1/upload/resumable/abc", "HEAD, PATCH, DELETE, OPTIONS", "statusCode"},
		{"DELETE", "/functions/v1/submit-contact", "GET, HEAD, POST, OPTIONS", "error"},
		{"POST", "/realtime/v1/websocket", "GET, HEAD", "code"},
		{"GET", "/realtime/v1/api/broadcast", "POST", "code"},
	} {
		rec := sendRequest(a, c.method, c.target, key(t, a, identity.Anon))
		var body map[string]any
		if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil || body[c.field] == nil {
			t.Errorf("%s %s: %s", c.method, c.target, rec.Body)
		}
		if rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != c.allow {
			t.Errorf("%s %s: %d, Allow %q, want %q", c.method, c.target, rec.Code, rec.Header().Get("Allow"), c.allow)
		}
	}
	for target, allow := range map[string]string{"/csp-reports": "POST", "/health/live": "GET, HEAD", "/gallery": "GET, HEAD", "/robots.txt": "GET, HEAD"} {
		method := "POST"
		if allow == "POST" {
			method = "GET"
		}
		if rec := sendRequest(a, method, target, ""); rec.Code != http.StatusMethodNotAllowed || rec.Header().Get("Allow") != allow {
			t.Errorf("%s %s: %d, Allow %q", method, target, rec.Code, rec.Header().Get("Allow"))
		}
	}
}
