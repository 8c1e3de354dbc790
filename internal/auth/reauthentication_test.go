package auth

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/httpx"
)

// Adds the endpoint of this file to those that newFixture serves.
var _ = serve(func(s *Service) map[string]httpx.Handler {
	return map[string]httpx.Handler{"POST /auth/v1/reauthenticate": s.ConfirmReauthentication}
})

// confirmWith sends a request to reauthenticate the session of bearer. fields has the proof, such as a password.
func (h *fixture) confirmWith(bearer string, fields fields) reply {
	h.t.Helper()
	return h.call("POST", "/auth/v1/reauthenticate", bearer, object(fields))
}

// nonce requests a reauthentication and returns the code that was sent.
func (h *fixture) nonce(bearer string) string {
	h.t.Helper()
	h.clock.advance(h.cfg.MailMinInterval)
	if r := h.call("GET", "/auth/v1/reauthenticate", bearer, ""); r.status != 200 {
		h.t.Fatalf("reauthenticate: %d %s", r.status, r.raw)
	}
	return h.mail(MailReauthentication).Code
}

// changesNeedingReauthentication are the changes for which an account with a role needs a recent sign-in.
var changesNeedingReauthentication = map[string]func(h *fixture, bearer string, proof fields) reply{
	"password": func(h *fixture, bearer string, proof fields) reply {
		proof["password"] = "yet another password " + h.clock.now().Format(time.TimeOnly)
		return h.put(bearer, proof)
	},
	"email": func(h *fixture, bearer string, proof fields) reply {
		proof["email"] = newAddress
		return h.put(bearer, proof)
	},
	"factor": func(h *fixture, bearer string, proof fields) reply {
		proof["factor_type"], proof["friendly_name"] = "totp", "phone"
		return h.enrol(bearer, proof)
	},
}

// Proves A-confirm-1.
func TestOwnerReauthenticatesAfterAWhile(t *testing.T) {
	for name, change := range changesNeedingReauthentication {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				h := newFixture(t, d, withoutLimits, func(c *Config) { c.JWTExpiry = 100 * time.Hour })
				h.owner()
				session := h.mustSignIn()
				bearer := session.text("access_token")
				h.clock.advance(reauthenticateAfter + time.Second)
				h.expect("an old sign-in", change(h, bearer, fields{}), 400, "reauthentication_needed")
				refreshed := h.refreshWith(session.text("refresh_token")).text("access_token")
				h.expect("a refresh is no sign-in", change(h, refreshed, fields{}), 400, "reauthentication_needed")
				h.expect("wrong password", change(h, bearer, fields{"current_password": "not this one"}), 400, "current_password_mismatch")
				h.expect("wrong code", change(h, bearer, fields{"nonce": "000000"}), 422, "reauthentication_not_valid")
				if r := h.put(bearer, fields{"data": map[string]any{"a": 1}}); r.status != 200 {
					t.Errorf("data need no confirmation: %s", r.raw)
				}
				if name == "password" { // the other changes are not in the response
					h.expect("a fresh sign-in elsewhere", change(h, h.mustSignIn().text("access_token"), fields{}), 200, "")
					return
				}
				h.expect("with the password", change(h, bearer, fields{"current_password": password}), 200, "")
			})
		})
	}
}

// Proves A-confirm-2.
func TestReauthenticationCodeWorksOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.JWTExpiry = 100 * time.Hour })
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		h.clock.advance(time.Hour)
		nonce := h.nonce(bearer)
		h.expect("the password", h.put(bearer, fields{"password": "yet another password", "nonce": nonce}), 200, "")
		h.expect("again", h.put(bearer, fields{"password": "and one more password", "nonce": nonce}), 422, "reauthentication_not_valid")
		h.expect("the new password counts", h.put(bearer, fields{"email": newAddress, "current_password": "yet another password"}), 200, "")
		nonce = h.nonce(bearer)
		h.expect("a factor", h.enrol(bearer, fields{"factor_type": "totp", "friendly_name": "a", "nonce": nonce}), 200, "")
		h.expect("another one", h.enrol(bearer, fields{"factor_type": "totp", "friendly_name": "b", "nonce": nonce}), 422, "reauthentication_not_valid")
	})
}

// Proves A-confirm-3.
//
// supabase-js cannot send a proof with every request. After a reauthentication, the session counts as recent for ten minutes.
func TestReauthenticationMakesTheSessionRecent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.JWTExpiry = 100 * time.Hour })
		h.owner()
		bearer := h.mustSignIn().text("access_token")
		other := h.mustSignIn().text("access_token")
		h.clock.advance(time.Hour)
		h.expect("nothing", h.confirmWith(bearer, fields{}), 400, "validation_failed")
		h.expect("wrong", h.confirmWith(bearer, fields{"current_password": "not this one"}), 400, "current_password_mismatch")
		h.expect("not confirmed", h.enrol(bearer, fields{"factor_type": "totp"}), 400, "reauthentication_needed")
		h.expect("password", h.confirmWith(bearer, fields{"current_password": password}), 200, "")
		h.clock.advance(reauthenticateAfter)
		h.expect("fresh", h.enrol(bearer, fields{"factor_type": "totp", "friendly_name": "a"}), 200, "")
		h.expect("another session", h.enrol(other, fields{"factor_type": "totp", "friendly_name": "b"}), 400, "reauthentication_needed")
		h.clock.advance(time.Second)
		h.expect("old again", h.enrol(bearer, fields{"factor_type": "totp", "friendly_name": "c"}), 400, "reauthentication_needed")
		nonce := h.nonce(bearer)
		h.expect("code", h.confirmWith(bearer, fields{"nonce": nonce}), 200, "")
		h.expect("the code again", h.confirmWith(bearer, fields{"nonce": nonce}), 422, "reauthentication_not_valid")
		if r := h.put(bearer, fields{"email": newAddress}); r.status != 200 {
			t.Errorf("after the code: %s", r.raw)
		}
	})
}

// Proves A-confirm-1.
func TestSecondFactorCountsAsReauthentication(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.JWTExpiry = 100 * time.Hour })
		factor, raised := h.ownerWithFactor()
		h.clock.advance(time.Hour)
		bearer := raised.text("access_token")
		h.expect("old", h.put(bearer, fields{"password": "yet another password"}), 400, "reauthentication_needed")
		bearer = h.mustVerifyFactor(bearer, factor).text("access_token")
		h.expect("the code of the factor", h.put(bearer, fields{"password": "yet another password"}), 200, "")
	})
}

// Proves A-confirm-4.
func TestReauthenticationWithoutARole(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.JWTExpiry = 1000 * time.Hour })
		now := h.clock.now()
		h.addUser("rui@example.pt", password, &now)
		bearer := h.signInAs("rui@example.pt", password).text("access_token")
		h.clock.advance(30 * day)
		h.expect("password", h.put(bearer, fields{"password": "yet another password"}), 200, "")
		h.expect("factor", h.enrol(bearer, fields{"factor_type": "totp"}), 200, "")
	})
}

// Proves A-confirm-2.
func TestTriesAtTheCurrentPasswordAreLimited(t *testing.T) {
	h := newFixture(t, dbtest.Open(t, db.SQLite))
	h.owner()
	bearer := h.mustSignIn().text("access_token")
	for range reauthenticationsPerAccount {
		h.expect("a guess", h.confirmWith(bearer, fields{"current_password": "not this one"}), 400, "current_password_mismatch")
	}
	h.expect("one too many", h.confirmWith(bearer, fields{"current_password": password}), 429, "over_request_rate_limit")
}

// Proves A-confirm-1, A-confirm-3, A-confirm-4.
func TestFactorsAndCodesNeedARecentSignIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.JWTExpiry = 100 * time.Hour })
		factor, raised := h.ownerWithFactor()
		bearer := raised.text("access_token")
		unfinished := h.mustEnrol(bearer, "tablet")
		unenrol := func(a authenticator, proof fields) reply {
			return h.call("DELETE", "/auth/v1/factors/"+a.id, bearer, object(proof))
		}
		codes := func(proof fields) reply { return h.call("POST", recoveryPath, bearer, object(proof)) }
		h.clock.advance(reauthenticateAfter)
		h.expect("a factor", unenrol(factor, fields{}), 400, "reauthentication_needed")
		h.expect("codes", codes(fields{}), 400, "reauthentication_needed")
		h.expect("a wrong password", codes(fields{"current_password": "not this one"}), 400, "current_password_mismatch")
		h.expect("a factor that was never verified", unenrol(unfinished, fields{}), 200, "")
		h.expect("codes with the password", codes(fields{"current_password": password}), 200, "")
		nonce := h.nonce(bearer)
		h.expect("codes with a mailed code", codes(fields{"nonce": nonce}), 200, "")
		h.expect("a factor with the same code", unenrol(factor, fields{"nonce": nonce}), 422, "reauthentication_not_valid")
		h.exec("update user_roles set role = 'none'")
		h.expect("codes without the role", codes(fields{}), 200, "")
		h.exec("update user_roles set role = 'admin'")
		h.expect("a factor", h.call("DELETE", "/auth/v1/factors/"+factor.id, bearer, ""), 400, "reauthentication_needed")
		h.expect("confirm", h.confirmWith(bearer, fields{"current_password": password}), 200, "")
		h.expect("a factor, as supabase-js asks", h.call("DELETE", "/auth/v1/factors/"+factor.id, bearer, ""), 200, "")
	})
}

// Proves A-confirm-1, A-confirm-3.
func TestIdentitiesNeedARecentSignIn(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d, func(c *Config) { c.JWTExpiry = 100 * time.Hour })
		g.owner()
		token := g.mustSignIn().text("access_token")
		id := g.value("select id from auth_identities")
		link := func() reply {
			return g.call("GET", "/auth/v1/user/identities/authorize?provider=house&skip_http_redirect=true", token, "")
		}
		byToken := func() reply {
			return g.call("POST", "/auth/v1/token?grant_type=id_token", token, object(fields{"provider": "house", "id_token": g.idp.IDToken(userClaims("7", "x@example.com", true)), "link_identity": true}))
		}
		unlink := func() reply { return g.call("DELETE", "/auth/v1/user/identities/"+id, token, "") }
		g.clock.advance(reauthenticateAfter + time.Second)
		for name, change := range map[string]func() reply{"link": link, "link by ID token": byToken, "unlink": unlink} {
			g.expect(name, change(), 400, "reauthentication_needed")
		}
		g.expect("confirm", g.confirmWith(token, fields{"current_password": password}), 200, "")
		g.expect("link", link(), 200, "")
		g.expect("link by ID token", byToken(), 200, "")
		g.expect("unlink", unlink(), 200, "")
	})
}

// Proves A-confirm-1.
//
// A sign-in under a clock that was a day ahead does not count as recent for that day, once the clock is corrected.
func TestSignInFromTheFutureIsNotRecent(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.JWTExpiry = 100 * time.Hour })
		h.owner()
		h.clock.advance(26 * time.Hour)
		bearer := h.mustSignIn().text("access_token")
		h.clock.advance(-26 * time.Hour)
		h.expect("the wrong clock's", h.put(bearer, fields{"email": newAddress}), 400, "reauthentication_needed")
		h.expect("confirm", h.confirmWith(bearer, fields{"current_password": password}), 200, "")
		h.expect("confirmed", h.put(bearer, fields{"email": newAddress}), 200, "")
		h.clock.advance(reauthenticateAfter + time.Second)
		h.expect("old", h.put(bearer, fields{"email": newAddress}), 400, "reauthentication_needed")
	})
}
