package auth

import (
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-surface-1.
func TestHealthFollowsTheDatabase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		r := h.call("GET", "/auth/v1/health", "", "")
		if r.status != 200 || r.raw != `{"version":"1.2.3","name":"atelie","description":"Authentication service"}` {
			t.Errorf("got %d %s", r.status, r.raw)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		h.expect("without its database", h.call("GET", "/auth/v1/health", "", ""), 503, "unexpected_failure")
	})
}
