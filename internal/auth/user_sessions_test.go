package auth

import (
	"encoding/json"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// sessions returns the list of sessions of the account.
func (h *fixture) sessions(bearer string) (list []SessionInfo, r reply) {
	h.t.Helper()
	r = h.call("GET", "/auth/v1/user/sessions", bearer, "")
	if r.status == 200 {
		if err := json.Unmarshal([]byte(r.raw), &list); err != nil {
			h.t.Fatal(err)
		}
	}
	return list, r
}

// Proves A-sessions-1.
func TestSessionsAreListedAndEnded(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		other := h.signInAs(email, password, header{"User-Agent", "Safari"}, header{"X-Forwarded-For", "203.0.113.9"})
		h.clock.advance(time.Minute)
		current := h.signInAs(email, password, header{"User-Agent", "Firefox"})
		bearer := current.text("access_token")
		list, r := h.sessions(bearer)
		if len(list) != 2 || r.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		if s := list[0]; !s.Current || s.UserAgent != "Firefox" || s.AAL != "aal1" || s.Device.String() != "Firefox" || s.ID != h.claims(bearer)["session_id"] || !s.CreatedAt.Equal(h.clock.now()) {
			t.Errorf("the current session: %+v", s)
		}
		if s := list[1]; s.Current || s.UserAgent != "Safari" || s.IP != "203.0.113.9" {
			t.Errorf("the other session: %+v", s)
		}
		end := func(id string) reply { return h.call("DELETE", "/auth/v1/user/sessions/"+id, bearer, "") }
		if r := end(list[1].ID); r.status != 204 {
			t.Fatalf("end: %d %s", r.status, r.raw)
		}
		h.expect("its token", h.user(other.text("access_token")), 403, "session_not_found")
		h.expect("its refresh token", h.refreshWith(other.text("refresh_token")), 400, "refresh_token_not_found")
		h.expect("again", end(list[1].ID), 404, "session_not_found")
		h.expect("no id", end("x"), 404, "validation_failed")
		if r := end(list[0].ID); r.status != 204 {
			t.Errorf("ending another session: %d %s", r.status, r.raw)
		}
		h.expect("afterwards", h.user(bearer), 403, "session_not_found")
		h.expect("public key", h.call("GET", "/auth/v1/user/sessions", "", ""), 403, "bad_jwt")
	})
}

// Proves A-sessions-2.
func TestAnotherAccountsSessionsAreOutOfReach(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		if err := h.AddOwner(t.Context(), "rui@example.pt", password); err != nil {
			t.Fatal(err)
		}
		mine, theirs := h.mustSignIn(), h.signInAs("rui@example.pt", password)
		id := h.claims(theirs.text("access_token"))["session_id"].(string)
		h.expect("end", h.call("DELETE", "/auth/v1/user/sessions/"+id, mine.text("access_token"), ""), 404, "session_not_found")
		if list, r := h.sessions(mine.text("access_token")); len(list) != 1 {
			t.Errorf("got %s", r.raw)
		}
	})
}

// Proves A-sessions-2.
func TestAPasswordAloneDoesNotShowSessions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		_, raised := h.ownerWithFactor()
		low := h.mustSignIn().text("access_token")
		_, r := h.sessions(low)
		h.expect("list", r, 403, "insufficient_aal")
		other := h.claims(raised.text("access_token"))["session_id"].(string)
		h.expect("end another", h.call("DELETE", "/auth/v1/user/sessions/"+other, low, ""), 403, "insufficient_aal")
		own := h.claims(low)["session_id"].(string)
		if r := h.call("DELETE", "/auth/v1/user/sessions/"+own, low, ""); r.status != 204 {
			t.Errorf("end the own one: %d %s", r.status, r.raw)
		}
		if list, r := h.sessions(raised.text("access_token")); len(list) != 1 || list[0].AAL != "aal2" {
			t.Errorf("at aal2: %d %s", r.status, r.raw)
		}
	})
}
