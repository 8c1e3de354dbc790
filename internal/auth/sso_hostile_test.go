//go:build !race

package auth

import (
	"testing"

	"atelie/internal/auth/saml/samltest"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-safe-18.
//
// The test is not built with the race detector, with which it takes half a minute. The detector would find nothing, because the test sends its
// responses, more than a hundred on each database, one after the other.
func TestHostileSAMLResponsesNeverOpenASession(t *testing.T) {
	if testing.Short() {
		t.Skip("a large corpus, which -short leaves out: more than a hundred responses on each database; make test sends them all")
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newSSOFixture(t, d)
		for _, c := range samltest.Hostile(h.idp) {
			s := h.start(nil)
			l := h.post(s.relay, c.Make(t, h.target(s.id)))
			if code := l.query.Get("error_code"); l.session() || code != "validation_failed" && code != "request_entity_too_large" {
				t.Errorf("%s: %+v", c.Name, l)
			}
		}
		for name, body := range map[string]string{"no form": "%", "empty": "", "without a response": "RelayState=" + h.start(nil).relay, "JSON": `{"SAMLResponse":"x"}`} {
			h.refused(name, h.postForm(body), "validation_failed")
		}
		h.refused("unknown state that is no address", h.post("hello there", h.idp.Draft(h.target("")).Encode(t)), "validation_failed")
		for _, table := range []string{"auth_sessions", "auth_users", "auth_refresh_tokens"} {
			if n := h.count(table); n != 0 {
				t.Errorf("%d rows in %s", n, table)
			}
		}
		h.mustLand(h.signIn(nil)) // a service that accepts no response at all would pass the checks above
	})
}
