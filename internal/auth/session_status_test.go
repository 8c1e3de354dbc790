package auth

import (
	"slices"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// Proves RT-token-5, RT-token-6.
//
// SessionStatuses checks many sessions at once, for live changes. It must agree with IsAdmin, with which all other surfaces check one session.
func TestSessionStatuses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		now := h.clock.now()
		userID := h.addUser("rui@example.pt", password, &now)
		session := func(token string) identity.Session {
			claims := h.claims(token)
			return identity.Session{UserID: claims["sub"].(string), ID: claims["session_id"].(string), AAL: claims["aal"].(string)}
		}
		mine, theirs := session(h.mustSignIn().text("access_token")), session(h.signInAs("rui@example.pt", password).text("access_token"))
		second := session(h.signInAs("rui@example.pt", password).text("access_token"))
		raised := mine // the same session after a second factor
		raised.AAL = "aal2"
		sessions := []identity.Session{
			mine, raised, theirs, second, {UserID: mine.UserID}, {UserID: userID}, {UserID: newID()},
			{UserID: mine.UserID, ID: newID()}, {UserID: mine.UserID, ID: theirs.ID}, {UserID: userID, ID: mine.ID},
			{UserID: mine.UserID, ID: "nonsense"}, {UserID: "nonsense"}, {},
		}
		alive := []bool{true, true, true, true, true, true, true}
		// admins are the indexes of the sessions that have the rights of an owner.
		expect := func(when string, admins ...int) {
			t.Helper()
			got, err := h.SessionStatuses(t.Context(), sessions)
			if err != nil || len(got) != len(sessions) {
				t.Fatalf("%s: %v, %v", when, got, err)
			}
			for i, of := range sessions {
				admin, err := h.IsAdmin(identity.With(t.Context(), identity.Caller{AAL: of.AAL}), of.UserID, of.ID)
				want := identity.SessionStatus{Alive: i < len(alive) && alive[i], Admin: slices.Contains(admins, i)}
				if err != nil || got[i] != want || admin != want.Admin {
					t.Errorf("%s: session %d: got %+v, want %+v; IsAdmin returns %v, %v", when, i, got[i], want, admin, err)
				}
			}
		}
		expect("at first", 0, 1, 4)
		h.do("another owner", h.AddOwner(t.Context(), "rui@example.pt", ""))
		expect("a role that was given", 0, 1, 2, 3, 4, 5)
		h.do("one owner less", h.RemoveOwner(t.Context(), "rui@example.pt"))
		expect("a role that was taken", 0, 1, 4)
		h.exec("delete from auth_sessions where id = $1", second.ID)
		alive[3] = false
		expect("signed out", 0, 1, 4)
		h.exec("update auth_sessions set not_after = $2 where id = $1", theirs.ID, now)
		alive[2] = false
		expect("expired", 0, 1, 4)
		h.exec("update auth_sessions set not_after = $2 where id = $1", theirs.ID, now.Add(time.Hour))
		alive[2] = true
		h.exec("update auth_users set banned_until = $2 where id = $1", userID, now.Add(time.Minute))
		alive[2], alive[5] = false, false
		expect("banned", 0, 1, 4)
		h.clock.advance(time.Minute)
		alive[2], alive[5] = true, true
		expect("after the ban", 0, 1, 4)
		h.exec(`insert into auth_factors (id, user_id, friendly_name, factor_type, status, secret, created_at, updated_at) values ($1, $2, '', 'totp', 'verified', '', $3, $3)`, newID(), mine.UserID, now)
		expect("with a second factor")
		h.exec("update auth_sessions set aal = 'aal2' where id = $1", mine.ID)
		expect("that was shown", 1)
		h.exec("delete from auth_users where id = $1", mine.UserID)
		alive[0], alive[1] = false, false // a token without a session has no session that could have ended
		expect("deleted")
	})
}
