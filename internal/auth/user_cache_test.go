package auth

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-sessions-4.
//
// TestGetUserIsNeverStale checks that the response of GetUser is up to date even if it comes from the cache.
func TestGetUserIsNeverStale(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.Sessions, c.JWTExpiry = SessionLimits{OwnerIdle: time.Hour}, 7*day })
		h.owner()
		token, other := h.mustSignIn().text("access_token"), h.mustSignIn().text("access_token")
		// repeat requests the account until the response comes from the cache, and returns the last response.
		repeat := func(token string) reply {
			t.Helper()
			var r reply
			for range 4 { // the third response comes from the cache
				r = h.user(token)
				h.expect("own user", r, 200, "")
			}
			if stored := len(h.users.entries); (stored > 0) != (d.Dialect == db.SQLite) {
				t.Fatalf("%d cached values are stored", stored)
			}
			return r
		}
		first := repeat(token)
		if got := repeat(other); got.raw != first.raw {
			t.Errorf("%s for one session, %s for the other", got.raw, first.raw)
		}

		h.exec(`update auth_users set user_metadata = '{"full_name":"Inês"}'`)
		if r := h.user(token); r.raw == first.raw {
			t.Errorf("an old response: %s", r.raw)
		}
		repeat(token)
		h.exec("update auth_users set banned_until = $1", h.clock.now().Add(time.Minute))
		h.expect("banned", h.user(token), 403, "user_banned")
		h.clock.advance(time.Minute)
		repeat(token)

		claims := h.claims(other)
		repeat(other)
		h.exec("delete from auth_sessions where id = $1", claims["session_id"])
		h.expect("ended by somebody", h.user(other), 403, "session_not_found")
		repeat(token)

		h.clock.advance(58*time.Minute - time.Second) // with the minute above, a second less than 59 minutes after the sign-in; OwnerIdle is an hour
		h.user(token)
		h.user(token)
		h.clock.advance(2 * time.Minute)
		h.expect("ended by time", h.user(token), 403, "session_not_found")
		third := h.mustSignIn().text("access_token")
		repeat(third)
		h.expect("sign-out", h.call("POST", "/auth/v1/logout", third, ""), 204, "")
		h.expect("signed out", h.user(third), 403, "session_not_found")
	})
}
