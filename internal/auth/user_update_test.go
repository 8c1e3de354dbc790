package auth

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

const newAddress = "ines@elsewhere.example.pt"

// Proves S6-role-2, S7-user-7, S7-user-9, A-safe-15.
func TestUserUpdateRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		h.owner()
		h.confirmedAccount(newcomer)
		h.exec("update auth_users set phone = $1 where email = $2", newcomerPhone, newcomer)
		h.discardMessages()
		token := h.mustSignIn().text("access_token")
		for _, c := range []struct {
			name, body string
			status     int
			code, text string
		}{
			{"no address", `{"email":"ines"}`, 400, "validation_failed", "Unable to validate email address: invalid format"},
			{"header injection", `{"email":"x@example.pt\nBcc: y@example.pt"}`, 400, "validation_failed", "Unable to validate email address: invalid format"},
			{"taken address", `{"email":"RITA@example.pt"}`, 422, "email_exists", "A user with this email address has already been registered"},
			{"no number", `{"phone":"x"}`, 400, "validation_failed", "Invalid phone number format (E.164 required)"},
			{"taken number", `{"phone":"+351912345678"}`, 422, "phone_exists", "A user with this phone number has already been registered"},
			{"channel", `{"phone":"351911111111","channel":"pigeon"}`, 400, "validation_failed", "Invalid channel, supported values are 'sms' or 'whatsapp'"},
			{"short password", `{"password":"short"}`, 422, "weak_password", "Password should be at least 10 characters."},
			{"empty password", `{"password":""}`, 422, "weak_password", "Password should be at least 10 characters."},
			{"long password", `{"password":"` + strings.Repeat("x", maxPasswordBytes+1) + `"}`, 400, "validation_failed", errPasswordTooLong.Message},
			{"the same password", `{"password":"correct horse battery"}`, 422, "same_password", "New password should be different from the old password."},
			{"app_metadata", `{"app_metadata":{"role":"admin"}}`, 403, "not_admin", "Updating app_metadata requires admin privileges"},
			{"NUL", `{"data":{"a":"\u0000"}}`, errUnstorableText.Status, errUnstorableText.Code, errUnstorableText.Message},
			{"data no object", `{"data":"x"}`, 400, "bad_json", "Could not parse request body as JSON"},
			{"half a challenge", `{"email":"z@example.pt","code_challenge_method":"s256"}`, 400, "validation_failed", errChallengeMethod.Message},
		} {
			r := h.call("PUT", "/auth/v1/user", token, c.body)
			if r.status != c.status || r.code() != c.code || r.text("msg") != c.text {
				t.Errorf("%s: got %d %s", c.name, r.status, r.raw)
			}
		}
		h.expectNoMessages("refusals")
		h.expect("public key", h.put("", fields{"data": fields{}}), 403, "bad_jwt")
		h.expect("service key", h.put(h.service, fields{"data": fields{}}), 403, "bad_jwt")
		h.exec("update auth_users set is_sso_user = " + map[db.Dialect]string{db.SQLite: "1", db.Postgres: "true"}[d.Dialect] + " where email = '" + email + "'")
		h.expect("an identity provider's account", h.put(token, fields{"password": "another password"}), 422, "user_sso_managed")
		h.expect("its data", h.put(token, fields{"data": fields{"a": 1}}), 200, "")
		h.exec("delete from auth_sessions")
		h.expect("signed out", h.put(token, fields{"data": fields{"a": 1}}), 403, "session_not_found")
	})
}

// Proves S7-user-2.
func TestDataIsMerged(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		token := h.mustSignIn().text("access_token")
		h.put(token, fields{"data": fields{"name": "Inês", "colour": "blue", "list": []int{1}}})
		h.clock.advance(time.Minute)
		r := h.put(token, fields{"data": fields{"colour": nil, "locale": "pt"}})
		own := r.body["user_metadata"].(map[string]any)
		if r.status != 200 || own["name"] != "Inês" || own["locale"] != "pt" || own["email_verified"] != true || r.text("updated_at") != at(h) {
			t.Errorf("got %d %s", r.status, r.raw)
		}
		if _, kept := own["colour"]; kept {
			t.Errorf("null did not delete: %v", own)
		}
		h.expect("grown too large", h.put(token, fields{"data": fields{"a": strings.Repeat("x", maxMetadataBytes-200)}}), 200, "")
		h.expect("grown too large", h.put(token, fields{"data": fields{"b": strings.Repeat("x", 300)}}), 400, "validation_failed")
		h.expect("nothing", h.put(token, fields{}), 200, "")
		h.expectNoMessages("data")
	})
}

// Proves S7-user-3, A-mail-11.
func TestNewPasswordEndsOtherSessionsAndSentLinks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		here, there := h.mustSignIn(), h.mustSignIn()
		h.expect("recover", h.post("recover", fields{"email": email}), 200, "")
		stale := h.mail(MailRecovery)
		h.expect("change", h.put(here.text("access_token"), fields{"password": "my own new password"}), 200, "")
		m := h.mail(MailPasswordChanged)
		if m.To != email || m.Link != "" || m.Code != "" {
			t.Errorf("notice %+v", m)
		}
		h.expect("this session", h.user(here.text("access_token")), 200, "")
		h.expect("the other", h.user(there.text("access_token")), 403, "session_not_found")
		h.expect("its refresh token", h.refreshWith(there.text("refresh_token")), 400, "refresh_token_not_found")
		h.expect("the old password", h.signInAs(email, password), 400, "invalid_credentials")
		h.expect("the new one", h.signInAs(email, "my own new password"), 200, "")
		h.expect("an old link", h.post("verify", fields{"type": "recovery", "email": email, "token": stale.Code}), 403, "otp_expired")
		if h.value("select action from auth_audit_log where action = 'user_updated_password'") == "" {
			t.Error("no audit")
		}
	})
}

func TestOfTwoPasswordChangesFromTwoSessionsOneSucceeds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		var (
			wg   sync.WaitGroup
			good atomic.Int32
		)
		for _, s := range []reply{h.mustSignIn(), h.mustSignIn(), h.mustSignIn()} {
			wg.Go(func() {
				r := h.put(s.text("access_token"), fields{"password": "new password " + s.text("refresh_token")})
				switch {
				case r.status == 200:
					good.Add(1)
				case r.status != 403 || r.code() != "session_not_found":
					t.Errorf("got %d %s", r.status, r.raw)
				}
			})
		}
		wg.Wait()
		if good.Load() != 1 || h.count("auth_sessions") != 1 {
			t.Errorf("%d changes, %d sessions", good.Load(), h.count("auth_sessions"))
		}
	})
}

// Proves S7-user-8.
func TestASecondFactorGuardsTheAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, open)
		h.owner()
		s := h.mustSignIn()
		token, id := s.text("access_token"), s.body["user"].(map[string]any)["id"]
		h.exec("insert into auth_factors (id, user_id, factor_type, status, created_at, updated_at) values ($1, $2, 'totp', 'unverified', $3, $3)", newID(), id, h.clock.now())
		h.expect("an unverified factor", h.put(token, fields{"password": "my own new password"}), 200, "")
		h.exec("update auth_factors set status = 'verified'")
		for _, body := range []fields{{"password": "yet another password"}, {"email": newAddress}, {"phone": newcomerPhone}} {
			h.expect("aal1", h.put(token, body), 401, "insufficient_aal")
		}
		h.expect("data", h.put(token, fields{"data": fields{"a": 1}, "email": email}), 200, "")
		stray := h.sign(jwt.MapClaims{"sub": id, "role": "authenticated", "aal": "aal2", "exp": h.clock.now().Add(time.Hour).Unix()})
		h.expect("a claim alone", h.put(stray, fields{"password": "yet another password"}), 401, "insufficient_aal")
		h.exec("update auth_sessions set aal = 'aal2'")
		h.expect("a token of before", h.put(token, fields{"password": "yet another password"}), 401, "insufficient_aal")
		raised := h.claims(token)
		raised["aal"] = "aal2"
		h.expect("aal2", h.put(h.sign(raised), fields{"password": "yet another password"}), 200, "")
	})
}

// Proves S7-reauth-1, A-set-12.
func TestOldSessionNeedsANonceIfConfigured(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.PasswordReauth, c.JWTExpiry = true, 100*time.Hour })
		h.owner()
		token := h.mustSignIn().text("access_token")
		h.expect("a young session", h.put(token, fields{"password": "my own new password"}), 200, "")
		h.clock.advance(passwordReauthAfter + time.Second)
		h.expect("an old one", h.put(token, fields{"password": "yet another password"}), 400, "reauthentication_needed")
		h.expect("nothing was sent", h.put(token, fields{"password": "yet another password", "nonce": "123456"}), 422, "reauthentication_not_valid")
		h.discardMessages()
		r := h.call("GET", "/auth/v1/reauthenticate", token, "")
		if r.status != 200 || r.raw != "{}" {
			t.Errorf("got %d %s", r.status, r.raw)
		}
		m := h.mail(MailReauthentication)
		if m.To != email || len(m.Code) != 6 || m.Link != "" {
			t.Errorf("mail %+v", m)
		}
		h.expect("a wrong nonce", h.put(token, fields{"password": "yet another password", "nonce": wrong(m.Code)}), 422, "reauthentication_not_valid")
		h.expect("no way to sign in", h.post("verify", fields{"type": "email", "email": email, "token": m.Code}), 403, "otp_expired")
		h.expect("the nonce", h.put(token, fields{"password": "yet another password", "nonce": m.Code}), 200, "")
		h.expect("once", h.put(token, fields{"password": "a fourth password", "nonce": m.Code}), 422, "reauthentication_not_valid")
		h.call("GET", "/auth/v1/reauthenticate", token, "")
		m = h.mail(MailReauthentication)
		h.clock.advance(codeLife)
		h.expect("too late", h.put(token, fields{"password": "a fourth password", "nonce": m.Code}), 422, "reauthentication_not_valid")
		h.call("GET", "/auth/v1/reauthenticate", token, "")
		m = h.mail(MailReauthentication)
		h.exec("update auth_users set email = $1", newAddress)
		h.expect("sent elsewhere", h.put(token, fields{"password": "a fourth password", "nonce": m.Code}), 422, "reauthentication_not_valid")
	})
}

// Proves S7-reauth-1.
func TestReauthenticate(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open)
		h.owner()
		token := h.mustSignIn().text("access_token")
		sendRequest := func() reply { return h.call("GET", "/auth/v1/reauthenticate", token, "") }
		h.expect("public key", h.call("GET", "/auth/v1/reauthenticate", "", ""), 403, "bad_jwt")
		h.expect("first", sendRequest(), 200, "")
		h.expect("too soon", sendRequest(), 429, "over_email_send_rate_limit")
		h.clock.advance(h.cfg.MailMinInterval)
		h.exec("update auth_users set email_confirmed_at = null")
		h.expect("unproven address", sendRequest(), 422, "email_not_confirmed")
		h.exec("update auth_users set email = null")
		h.expect("neither", sendRequest(), 400, "validation_failed")
		h.exec("update auth_users set phone = $1", newcomerPhone)
		h.expect("unproven number", sendRequest(), 422, "phone_not_confirmed")
		h.exec("update auth_users set phone_confirmed_at = $1", h.clock.now())
		h.expect("by SMS", sendRequest(), 200, "")
		if m := h.text(); m.Phone != newcomerPhone || m.Type != "reauthentication" {
			t.Errorf("SMS %+v", m)
		}
		h.expect("too soon", sendRequest(), 429, "over_sms_send_rate_limit")
	})
}

// Proves S7-verify-4, S7-user-4.
//
// Both addresses must confirm the change, in any order, by code, hash or link.
func TestAnEmailChangeNeedsBothAddresses(t *testing.T) {
	type confirm func(h *fixture, address string, m Mail) (first bool)
	isFirst := func(h *fixture, r reply) bool {
		h.expect("confirmation", r, 200, map[bool]string{true: "200", false: ""}[r.body["msg"] != nil])
		return r.text("msg") == firstConfirmationText && r.text("code") == "200" && r.body["access_token"] == nil
	}
	ways := map[string]confirm{
		"code": func(h *fixture, address string, m Mail) bool {
			return isFirst(h, h.post("verify", fields{"type": "email_change", "email": address, "token": m.Code}))
		},
		"hash": func(h *fixture, _ string, m Mail) bool {
			hash, _ := h.linkOf(m)
			return isFirst(h, h.post("verify", fields{"type": "email_change", "token_hash": hash}))
		},
		"link": func(h *fixture, _ string, m Mail) bool {
			_, to := h.follow(m.Link)
			v := fragment(h, to)
			if !v.Has("message") && v.Get("access_token") == "" {
				h.t.Errorf("link leads to %s", to)
			}
			return v.Get("message") == firstConfirmationText
		},
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for name, way := range ways {
			for _, newFirst := range []bool{true, false} {
				h := newFixture(t, d, withoutLimits)
				h.exec("delete from auth_users")
				h.owner()
				token := h.mustSignIn().text("access_token")
				r := h.put(token, fields{"email": " Ines@Elsewhere.example.pt"})
				if r.status != 200 || r.text("email") != email || r.text("new_email") != newAddress || r.text("email_change_sent_at") != at(h) {
					t.Fatalf("got %d %s", r.status, r.raw)
				}
				var current, fresh Mail
				h.deliver()
				for current.To == "" || fresh.To == "" {
					switch m := <-h.mails; m.Kind {
					case MailEmailChange:
						current = m
					case MailEmailChangeNew:
						fresh = m
					}
				}
				if current.To != email || fresh.To != newAddress || current.NewEmail != newAddress || current.Code == fresh.Code && current.Link == fresh.Link {
					t.Errorf("mails %+v and %+v", current, fresh)
				}
				a, b, first, second := email, newAddress, current, fresh
				if newFirst {
					a, b, first, second = newAddress, email, fresh, current
				}
				if !way(h, a, first) {
					t.Errorf("%s, new first %v: the first confirmation was enough", name, newFirst)
				}
				if got := h.user(token); got.text("email") != email {
					t.Errorf("changed after one confirmation: %s", got.raw)
				}
				hash, _ := h.linkOf(first)
				h.expect("the first again", h.post("verify", fields{"type": "email_change", "token_hash": hash}), 403, "otp_expired")
				if way(h, b, second) {
					t.Errorf("%s, new first %v: the second confirmation was not enough", name, newFirst)
				}
				got := h.user(token)
				if got.text("email") != newAddress || got.body["new_email"] != nil || got.body["identities"].([]any)[0].(map[string]any)["email"] != newAddress {
					t.Errorf("afterwards %s", got.raw)
				}
				if m := h.mail(MailEmailChanged); m.To != email || m.Link != "" || m.Code != "" {
					t.Errorf("notice %+v", m)
				}
				h.expect("password with the new address", h.signInAs(newAddress, password), 200, "")
				h.expect("with the old one", h.signInAs(email, password), 400, "invalid_credentials")
			}
		}
	})
}

func TestAnAccountWithoutAddressTakesOneWithOneConfirmation(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		h.post("otp", fields{"phone": newcomerPhone})
		s := h.post("verify", fields{"type": "sms", "phone": newcomerPhone, "token": h.text().Code})
		h.expect("sign-in", s, 200, "")
		h.clock.advance(time.Minute)
		h.expect("change", h.put(s.text("access_token"), fields{"email": newcomer}), 200, "")
		r := h.post("verify", fields{"type": "email_change", "email": newcomer, "token": h.mail(MailEmailChangeNew).Code})
		h.expect("confirmation", r, 200, "")
		u := r.body["user"].(map[string]any)
		if u["email"] != newcomer || u["email_confirmed_at"] == nil || len(u["identities"].([]any)) != 2 || object(u["app_metadata"].(map[string]any)) != `{"provider":"phone","providers":["phone","email"]}` {
			t.Errorf("got %s", r.raw)
		}
		h.discardMessages()
		h.expect("a first password", h.put(r.text("access_token"), fields{"password": password}), 200, "")
		h.expect("signs in", h.signInAs(newcomer, password), 200, "")
	})
}

// Proves S7-resend-1.
func TestEmailChangeEdges(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open)
		h.owner()
		token := h.mustSignIn().text("access_token")
		h.expect("change", h.put(token, fields{"email": newAddress}), 200, "")
		old := h.mail(MailEmailChangeNew)
		h.discardMessages()
		h.expect("too soon", h.put(token, fields{"email": "x@example.pt"}), 429, "over_email_send_rate_limit")
		h.expect("resend, too soon", h.post("resend", fields{"type": "email_change", "email": email}), 429, "over_email_send_rate_limit")
		h.clock.advance(time.Minute)
		h.expect("resend", h.post("resend", fields{"type": "email_change", "email": email}), 200, "")
		h.deliver()
		var current, fresh Mail
		for current.To == "" || fresh.To == "" {
			switch m := <-h.mails; m.Kind {
			case MailEmailChange:
				current = m
			case MailEmailChangeNew:
				fresh = m
			}
		}
		hash, _ := h.linkOf(old)
		if _, err := h.findLink(t.Context(), hash); err != nil {
			t.Errorf("what was sent before: %v", err)
		}
		h.expect("first", h.post("verify", fields{"type": "email_change", "email": email, "token": current.Code}), 200, "200")
		// Meanwhile somebody creates an account with the new address.
		h.clock.advance(time.Minute)
		h.expect("sign-up", h.post("signup", fields{"email": newAddress, "password": password}), 200, "")
		h.expect("taken since", h.post("verify", fields{"type": "email_change", "email": newAddress, "token": fresh.Code}), 422, "email_exists")
		hash, _ = h.linkOf(fresh)
		if _, to := h.follow("/auth/v1/verify?type=email_change&token=" + hash); fragment(h, to).Get("error_code") != "email_exists" {
			t.Errorf("the link leads to %s", to)
		}
		if got := h.user(token); got.text("email") != email {
			t.Errorf("got %s", got.raw)
		}
	})
}

// Proves S7-verify-3, S7-resend-1, S7-user-6.
func TestAPhoneChange(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open)
		h.owner()
		token := h.mustSignIn().text("access_token")
		r := h.put(token, fields{"phone": "+351 912 345 678"})
		if r.status != 200 || r.text("phone") != "" || r.text("new_phone") != newcomerPhone || r.text("phone_change_sent_at") != at(h) {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		first := h.text()
		if first.Type != "phone_change" || first.Phone != newcomerPhone {
			t.Errorf("SMS %+v", first)
		}
		h.expect("too soon", h.put(token, fields{"phone": newcomerPhone}), 429, "over_sms_send_rate_limit")
		h.clock.advance(time.Minute)
		h.expect("resend", h.post("resend", fields{"type": "phone_change", "phone": newcomerPhone}), 200, "")
		m := h.text()
		h.expect("as a sign-in", h.post("verify", fields{"type": "sms", "phone": newcomerPhone, "token": m.Code}), 403, "otp_expired")
		h.expect("wrong", h.post("verify", fields{"type": "phone_change", "phone": newcomerPhone, "token": wrong(m.Code)}), 403, "otp_expired")
		r = h.post("verify", fields{"type": "phone_change", "phone": newcomerPhone, "token": m.Code})
		h.expect("right", r, 200, "")
		u := r.body["user"].(map[string]any)
		if u["phone"] != newcomerPhone || u["phone_confirmed_at"] != at(h) || u["new_phone"] != nil || len(u["identities"].([]any)) != 2 {
			t.Errorf("got %s", r.raw)
		}
		h.expect("phone and password", h.post("token?grant_type=password", fields{"phone": newcomerPhone, "password": password}), 200, "")

		auto := newFixture(t, d, open, func(c *Config) { c.PhoneAutoconfirm = true })
		auto.clock.advance(2 * time.Minute)
		r = auto.put(token, fields{"phone": "351911111111"})
		if r.status != 200 || r.text("phone") != "351911111111" || r.text("new_phone") != "" {
			t.Errorf("without confirmation: %d %s", r.status, r.raw)
		}
		off := newFixture(t, d)
		off.clock.advance(2 * time.Minute)
		off.expect("switched off", off.put(token, fields{"phone": "351922222222"}), 422, "phone_provider_disabled")
	})
}
