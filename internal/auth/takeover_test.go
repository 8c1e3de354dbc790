package auth

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// A person who knew the password before the owner enrolled a second factor may have begun an enrolment too. That factor must not become
// valid afterwards.
func TestOlderEnrolmentsAreRefusedAfterTheFirstFactor(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, phonesOn, withoutLimits)
		h.owner()
		thief := h.mustSignIn().text("access_token")
		r := h.enrol(thief, fields{"factor_type": "phone", "friendly_name": "x", "phone": "351900000001"})
		h.expect("enrol", r, http.StatusOK, "")
		planted := r.text("id")
		owner := h.mustSignIn().text("access_token")
		h.mustVerifyFactor(owner, h.mustEnrol(owner, "mine"))

		thief = h.mustSignIn().text("access_token")
		c := h.challenge(thief, planted)
		h.expect("challenge", c, http.StatusOK, "")
		refused := h.verifyFactor(thief, planted, c.text("id"), h.text().Code)
		if refused.code() != "insufficient_aal" || h.count("auth_factors where status = 'verified'") != 1 {
			t.Errorf("a planted factor was accepted: %d %s", refused.status, refused.raw)
		}
	})
}

// With a provider that does not verify addresses, anybody can create an account with another person's address. When that person proves
// the address by mail, everything that was added to the account before must stop working.
func TestUnverifiedIdentityIsRemovedWhenTheAddressIsProven(t *testing.T) {
	verify := func(g *oauthFixture, kind string, m Mail) {
		g.t.Helper()
		g.expect("verify", g.post("verify", fields{"type": kind, "email": newcomer, "token": m.Code}), http.StatusOK, "")
	}
	for name, prove := range map[string]func(g *oauthFixture){
		"magic link": func(g *oauthFixture) {
			g.expect("otp", g.post("otp", fields{"email": newcomer}), http.StatusOK, "")
			verify(g, "magiclink", g.mail(MailMagicLink))
		},
		"recovery": func(g *oauthFixture) {
			g.expect("recover", g.post("recover", fields{"email": newcomer}), http.StatusOK, "")
			verify(g, "recovery", g.mail(MailRecovery))
		},
		"sign-up": func(g *oauthFixture) {
			g.expect("signup", g.post("signup", fields{"email": newcomer, "password": password}), http.StatusOK, "")
			verify(g, "signup", g.mail(MailConfirmation))
		},
		"invitation": func(g *oauthFixture) {
			g.expect("invite", g.call("POST", "/auth/v1/invite", g.service, object(fields{"email": newcomer})), http.StatusOK, "")
			verify(g, "invite", g.mail(MailInvite))
		},
		"owner": func(g *oauthFixture) {
			if err := g.AddOwner(g.t.Context(), newcomer, password); err != nil {
				g.t.Fatal(err)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				g := newOAuthFixture(t, d, withoutLimits)
				attacker := userClaims("66", newcomer, false)
				g.refused("unproven", g.visit("provider=house", attacker), "https://ines.example?", "access_denied", "provider_email_needs_verification")
				g.mail(MailConfirmation)
				g.clock.advance(time.Second)
				prove(g)
				if g.value("select email from auth_users where email_confirmed_at is not null") != newcomer {
					t.Fatal("the address was not proven")
				}
				g.refused("afterwards", g.visit("provider=house", attacker), "https://ines.example?", "access_denied", "provider_email_needs_verification")
				if n := g.count("auth_identities where provider = 'house'"); n != 0 {
					t.Errorf("%d identities of the attacker are left", n)
				}
			})
		})
	}
}

// A new password, or a sign-out everywhere, takes an account back. Flows that a thief has begun must not succeed afterwards.
func TestPendingFlowsEndWithTheSessions(t *testing.T) {
	for name, takeBack := range map[string]func(g *oauthFixture, token string){
		"password": func(g *oauthFixture, token string) {
			g.expect("password", g.put(token, fields{"password": "another horse battery"}), http.StatusOK, "")
		},
		"command": func(g *oauthFixture, _ string) {
			if err := g.SetPassword(g.t.Context(), email, "another horse battery", false); err != nil {
				g.t.Fatal(err)
			}
		},
		"logout": func(g *oauthFixture, token string) {
			g.expect("logout", g.call("POST", "/auth/v1/logout", token, ""), http.StatusNoContent, "")
		},
		"second factor": func(g *oauthFixture, token string) { g.mustVerifyFactor(token, g.mustEnrol(token, "mine")) },
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				g := newOAuthFixture(t, d)
				g.owner()
				g.session(userClaims("7", email, true))
				token, thief := g.mustSignIn().text("access_token"), g.mustSignIn().text("access_token")
				r := g.call("GET", "/auth/v1/user/identities/authorize?provider=house&skip_http_redirect=true", thief, "")
				back := g.idp.Consent(r.text("url"), userClaims("66", "thief@example.com", true))
				code := g.visit("provider=house&code_challenge_method=s256&code_challenge="+exampleChallenge, userClaims("7", email, true)).query.Get("code")

				takeBack(g, token)
				g.refused("a link to an identity", g.browse("GET", "/auth/v1/callback?"+back.Encode(), "", nil), "https://ines.example?", "invalid_request", "bad_oauth_state")
				r = g.call("POST", "/auth/v1/token?grant_type=pkce", "", object(fields{"auth_code": code, "code_verifier": exampleVerifier}))
				g.expect("a code that was not picked up", r, http.StatusNotFound, "flow_state_not_found")
			})
		})
	}
}

// An account that is proven by its phone number can have an address that is not proven yet. A person who signs up with that address must
// not change the account.
func TestSignUpDoesNotChangeAnAccountProvenByPhone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		r := h.call("POST", "/auth/v1/admin/users", h.service, object(fields{"email": newcomer, "phone": newcomerPhone, "phone_confirm": true, "password": password}))
		h.expect("create", r, http.StatusOK, "")
		h.expect("sign-up", h.post("signup", fields{"email": newcomer, "password": "another horse battery"}), http.StatusOK, "")
		r = h.post("token?grant_type=password", fields{"phone": newcomerPhone, "password": password})
		h.expect("the password of before", r, http.StatusOK, "")
	})
}

// Metadata at the size limit must be refused or accepted in the same way, whether or not the address has an account.
func TestOversizedMetadataRevealsNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		h.confirmedAccount("known@example.pt")
		h.signUp("begun1@example.pt", password)
		data := fields{"a": strings.Repeat("x", maxMetadataBytes-len(`{"a":""}`))}
		for _, path := range []string{"signup", "otp"} {
			for _, address := range []string{"known@example.pt", "begun1@example.pt", "nobody@example.pt"} {
				r := h.post(path, fields{"email": address, "password": password, "data": data})
				h.expect(path+" "+address, r, http.StatusBadRequest, "validation_failed")
			}
		}
		if h.count("jobs where failed_at is not null") != 0 {
			t.Error("a job failed")
		}
	})
}

func TestReplacedRefreshTokensAreForgotten(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		first := h.mustSignIn().text("refresh_token")
		current := first
		for range 4 {
			current = h.refreshWith(current).text("refresh_token")
		}
		h.expect("wrong password", h.signInAs(email, "x"), http.StatusBadRequest, "invalid_credentials")
		h.clock.advance(100 * 24 * time.Hour)
		if err := h.Purge(t.Context()); err != nil {
			t.Fatal(err)
		}
		if n := h.count("auth_refresh_tokens"); n != 2 { // the current token and its parent, because the last response may be lost
			t.Errorf("%d tokens are left", n)
		}
		if h.count("auth_audit_log where action = 'sign_in_refused'") != 1 || h.count("auth_audit_log where action = 'token_refreshed'") != 0 || h.count("auth_audit_log where action = 'login'") != 1 {
			t.Error("the audit log keeps the wrong entries")
		}
		h.expect("a deleted refresh token", h.refreshWith(first), http.StatusBadRequest, "refresh_token_not_found")
		if r := h.refreshWith(current); r.status != http.StatusOK {
			t.Errorf("the current one: %d %s", r.status, r.raw)
		}
	})
}
