package auth

import (
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-logout-1, S7-logout-2.
func TestLogoutScopes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, c := range []struct {
			query               string
			meAlive, otherAlive bool // whether my session and my other session still work after the logout
		}{
			{"", false, false}, {"?scope=", false, false}, {"?scope=global", false, false}, {"?scope=local", false, true}, {"?scope=others", true, false},
		} {
			t.Run("scope"+c.query, func(t *testing.T) {
				h := newFixture(t, d)
				h.owner()
				if err := h.AddOwner(t.Context(), "rui@example.pt", password); err != nil {
					t.Fatal(err)
				}
				me, other, somebodyElse := h.mustSignIn(), h.mustSignIn(), h.signInAs("rui@example.pt", password)
				r := h.call("POST", "/auth/v1/logout"+c.query, me.text("access_token"), "")
				if r.status != 204 || r.raw != "" {
					t.Fatalf("got %d %s", r.status, r.raw)
				}
				if got := h.value("select action from auth_audit_log where action = 'logout'"); got != "logout" {
					t.Errorf("audit %q", got)
				}
				h.exec("delete from auth_audit_log")
				check := func(who string, session reply, alive bool) {
					t.Helper()
					if got := h.user(session.text("access_token")); alive && got.status != 200 || !alive && (got.status != 403 || got.code() != "session_not_found") {
						t.Errorf("%s: user %d %s", who, got.status, got.raw)
					}
					if got := h.refreshWith(session.text("refresh_token")); alive && got.status != 200 || !alive && got.code() != "refresh_token_not_found" {
						t.Errorf("%s: refresh %d %s", who, got.status, got.raw)
					}
					claims := h.claims(session.text("access_token"))
					admin, err := h.IsAdmin(t.Context(), claims["sub"].(string), claims["session_id"].(string))
					if err != nil || admin != alive {
						t.Errorf("%s: admin %v, %v", who, admin, err)
					}
				}
				check("me", me, c.meAlive)
				check("my other session", other, c.otherAlive)
				check("another account", somebodyElse, true)
			})
		}
	})
}

// Proves S7-logout-3.
func TestLogoutRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		me := h.mustSignIn()
		r := h.call("POST", "/auth/v1/logout?scope=%22everyone", me.text("access_token"), "")
		h.expect("unknown scope", r, 400, "validation_failed")
		if r.text("msg") != `Unsupported logout scope "\"everyone"` {
			t.Errorf("message %q", r.text("msg"))
		}
		h.expect("public key", h.call("POST", "/auth/v1/logout", "", ""), 403, "bad_jwt")
		h.expect("service key", h.call("POST", "/auth/v1/logout", h.service, ""), 403, "bad_jwt")
		h.expect("still signed in", h.user(me.text("access_token")), 200, "")
		h.expect("local", h.call("POST", "/auth/v1/logout?scope=local", me.text("access_token"), ""), 204, "")
		h.expect("twice", h.call("POST", "/auth/v1/logout?scope=local", me.text("access_token"), ""), 403, "session_not_found")
	})
}

func TestATokenWithoutSessionSignsOutEverywhere(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		claims := h.claims(h.mustSignIn().text("access_token"))
		delete(claims, "session_id")
		h.expect("logout", h.call("POST", "/auth/v1/logout?scope=local", h.sign(claims), ""), 204, "")
		if n := h.count("auth_sessions"); n != 0 {
			t.Errorf("%d sessions", n)
		}
	})
}
