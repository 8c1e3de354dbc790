package auth

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// limited sets limits of sessions. Those of owners differ from those of other accounts.
func limited(c *Config) {
	c.Sessions = SessionLimits{Idle: 10 * day, Max: 20 * day, OwnerIdle: 30 * day, OwnerMax: 180 * day}
}

// refreshUntilEnd refreshes a session every five days until it ends, and returns how long it lasted. It stops after
// limit.
func (h *fixture) refreshUntilEnd(token string, limit time.Duration) time.Duration {
	h.t.Helper()
	var lived time.Duration
	for lived < limit {
		h.clock.advance(5 * day)
		lived += 5 * day
		r := h.refreshWith(token)
		if r.status != 200 {
			h.expect("the end", r, 400, "session_expired")
			h.expect("after the end", h.refreshWith(token), 400, "refresh_token_not_found")
			return lived
		}
		token = r.text("refresh_token")
	}
	return lived
}

// Proves A-sessions-3.
func TestSessionsEndByThemselves(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, limited, withoutLimits)
		h.owner()
		now := h.clock.now()
		h.addUser("rui@example.pt", password, &now)
		for _, c := range []struct {
			who       string
			idle, max time.Duration
		}{{email, 30 * day, 180 * day}, {"rui@example.pt", 10 * day, 20 * day}} {
			idle := h.signInAs(c.who, password)
			h.clock.advance(c.idle - time.Second)
			if r := h.refreshWith(idle.text("refresh_token")); r.status != 200 {
				t.Fatalf("%s, a second before: %s", c.who, r.raw)
			} else {
				idle = r
			}
			h.clock.advance(c.idle)
			h.expect(c.who+", unused", h.refreshWith(idle.text("refresh_token")), 400, "session_expired")
			if lived := h.refreshUntilEnd(h.signInAs(c.who, password).text("refresh_token"), 2*c.max); lived != c.max {
				t.Errorf("%s: a session in use lived for %v", c.who, lived)
			}
		}
	})
}

// Proves A-sessions-3.
func TestSessionsWithoutLimitsLast(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits)
		h.owner()
		token := h.mustSignIn().text("refresh_token")
		h.clock.advance(3 * 365 * day)
		if r := h.refreshWith(token); r.status != 200 {
			t.Errorf("status %d: %s", r.status, r.raw)
		}
	})
}

// Proves A-sessions-4.
//
// A session that has ended is unknown on every surface immediately, also for access tokens that have not expired.
func TestAnEndedSessionIsUnknownEverywhere(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) {
			c.Sessions, c.JWTExpiry = SessionLimits{OwnerIdle: time.Hour}, 7*day
		})
		h.owner()
		there := h.mustSignIn().text("access_token")
		claims := h.claims(there)
		session := identity.Session{UserID: claims["sub"].(string), ID: claims["session_id"].(string), AAL: "aal1"}
		look := func() (admin, alive bool) {
			t.Helper()
			list, err := h.SessionStatuses(t.Context(), []identity.Session{session})
			if err != nil {
				t.Fatal(err)
			}
			admin, err = h.IsAdmin(t.Context(), session.UserID, session.ID)
			if err != nil || admin != list[0].Admin {
				t.Errorf("alone %v, %v, together %+v", admin, err, list[0])
			}
			return admin, list[0].Alive
		}
		if admin, alive := look(); !admin || !alive || h.user(there).status != 200 {
			t.Fatal("the session does not count")
		}
		h.clock.advance(time.Hour)
		if admin, alive := look(); admin || alive {
			t.Errorf("ended: admin %v, alive %v", admin, alive)
		}
		h.expect("its account", h.user(there), 403, "session_not_found")
		h.expect("a factor", h.enrol(there, fields{"factor_type": "totp"}), 403, "session_not_found")
		here := h.mustSignIn().text("access_token")
		if list, r := h.sessions(here); len(list) != 1 {
			t.Errorf("the list: %s", r.raw)
		}
		if err := h.Purge(t.Context()); err != nil || h.count("auth_sessions") != 1 {
			t.Errorf("expired sessions: %v, %d left", err, h.count("auth_sessions"))
		}
	})
}

// Proves A-factor-1.
func TestSecondFactorCanBeRequiredOfOwners(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.RequireSecondFactor = true })
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		claims := h.claims(bearer)
		adminStatus := func(aal string) bool {
			t.Helper()
			list, err := h.SessionStatuses(t.Context(), []identity.Session{{UserID: claims["sub"].(string), ID: claims["session_id"].(string), AAL: aal}})
			if err != nil {
				t.Fatal(err)
			}
			return list[0].Admin
		}
		if h.admin(bearer) || adminStatus("aal1") {
			t.Error("an owner without a factor has rights")
		}
		if admin, err := h.IsAdmin(t.Context(), claims["sub"].(string), ""); err != nil || admin {
			t.Errorf("a token without a session: %v, %v", admin, err)
		}
		raised := h.mustVerifyFactor(bearer, h.mustEnrol(bearer, "phone")).text("access_token")
		if !h.admin(raised) || !adminStatus("aal2") {
			t.Error("an owner at aal2 has no rights")
		}
		if h.admin(bearer) {
			t.Error("a token of before rises with its session")
		}
	})
}
