package auth

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S5-rule-2, S5-rule-8, S5-rule-10, W-auth-11, A-set-2, A-set-4, A-safe-15.
func TestSignupRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		long := strings.Repeat("v", 43)
		for _, c := range []struct {
			name   string
			set    func(*Config)
			body   string
			status int
			code   string
			text   string
		}{
			{"closed", func(*Config) {}, `{"email":"rita@example.pt","password":"correct horse battery"}`, 422, "signup_disabled", "Signups not allowed for this instance"},
			{"anonymous, closed", func(*Config) {}, `{"data":{}}`, 422, "anonymous_provider_disabled", "Anonymous sign-ins are disabled"},
			{"anonymous, open", open, `{}`, 422, "anonymous_provider_disabled", "Anonymous sign-ins are disabled"},
			{"neither", open, `{"password":"correct horse battery"}`, 400, "validation_failed", "Sign up only available with email or phone provider"},
			{"no password", open, `{"email":"rita@example.pt"}`, 400, "validation_failed", "Signup requires a valid password"},
			{"short password", open, `{"email":"rita@example.pt","password":"short"}`, 422, "weak_password", "Password should be at least 10 characters."},
			{"both", open, `{"email":"rita@example.pt","phone":"351912345678","password":"correct horse battery"}`, 400, "validation_failed", "Only an email address or phone number should be provided on signup."},
			{"no address", open, `{"email":"rita","password":"correct horse battery"}`, 400, "validation_failed", "Unable to validate email address: invalid format"},
			{"header injection", open, `{"email":"rita@example.pt\r\nBcc: x@example.pt","password":"correct horse battery"}`, 400, "validation_failed", "Unable to validate email address: invalid format"},
			{"no number", open, `{"phone":"0123","password":"correct horse battery"}`, 400, "validation_failed", "Invalid phone number format (E.164 required)"},
			{"phone switched off", func(c *Config) { c.SignupOpen = true }, `{"phone":"351912345678","password":"correct horse battery"}`, 400, "phone_provider_disabled", "Phone signups are disabled"},
			{"channel", open, `{"phone":"351912345678","password":"correct horse battery","channel":"pigeon"}`, 400, "validation_failed", "Invalid channel, supported values are 'sms' or 'whatsapp'"},
			{"phone with PKCE", open, `{"phone":"351912345678","password":"correct horse battery","code_challenge":"` + long + `","code_challenge_method":"s256"}`, 400, "validation_failed", "PKCE not supported for phone signups"},
			{"half a challenge", open, `{"email":"rita@example.pt","password":"correct horse battery","code_challenge":"` + long + `"}`, 400, "validation_failed", "PKCE flow requires code_challenge_method and code_challenge parameters"},
			{"data no object", open, `{"email":"rita@example.pt","password":"correct horse battery","data":[1]}`, 400, "bad_json", "Could not parse request body as JSON"},
			{"data with NUL", open, `{"email":"rita@example.pt","password":"correct horse battery","data":{"a":["\u0000"]}}`, errUnstorableText.Status, errUnstorableText.Code, errUnstorableText.Message},
			{"too much data", open, `{"email":"rita@example.pt","password":"correct horse battery","data":{"a":"` + strings.Repeat("x", maxMetadataBytes) + `"}}`, 400, "validation_failed", errMetadata.Message},
			{"malformed", open, `{"email":`, 400, "bad_json", "Could not parse request body as JSON"},
		} {
			h := newFixture(t, d, c.set, withoutLimits)
			r := h.call("POST", "/auth/v1/signup", "", c.body)
			if r.status != c.status || r.code() != c.code || r.text("msg") != c.text {
				t.Errorf("%s: got %d %s", c.name, r.status, r.raw)
			}
			if n := h.count("auth_users"); n != 0 {
				t.Errorf("%s: %d accounts", c.name, n)
			}
		}
	})
}

// Proves S6-role-2, S7-signup-1.
func TestSignupSendsALinkAndACode(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open)
		r := h.post("signup", fields{
			"email": "  RITA@example.pt", "password": password, "data": fields{"name": "Rita", "email_verified": true, "role": "admin", "locale": "pt-PT"},
			"gotrue_meta_security": fields{"captcha_token": "x"}, "app_metadata": fields{"role": "admin"}, "role": "service_role",
		})
		if r.status != 200 || r.text("email") != newcomer || r.text("confirmation_sent_at") != at(h) || r.body["email_confirmed_at"] != nil || r.body["confirmed_at"] != nil || r.body["access_token"] != nil {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		if got := fmt.Sprint(r.body["app_metadata"]); got != "map[provider:email providers:[email]]" || r.text("role") != "authenticated" {
			t.Errorf("app_metadata %s", got)
		}
		own := r.body["user_metadata"].(map[string]any)
		if own["name"] != "Rita" || own["email_verified"] != false || own["sub"] != r.body["id"] || own["email"] != newcomer {
			t.Errorf("user_metadata %v", own)
		}
		identity := r.body["identities"].([]any)[0].(map[string]any)
		if identity["provider"] != "email" || identity["id"] != r.body["id"] || identity["identity_data"].(map[string]any)["email_verified"] != false {
			t.Errorf("identity %v", identity)
		}
		m := h.mail(MailConfirmation)
		hash, u := h.linkOf(m)
		if m.To != newcomer || len(m.Code) != 6 || m.Language != "pt" || u.Query().Get("type") != "signup" || u.Query().Get("redirect_to") != "https://ines.example" || len(hash) < 43 {
			t.Errorf("mail %+v", m)
		}
		h.expect("before the confirmation", h.signInAs(newcomer, password), 400, "email_not_confirmed")

		h.expect("the code", h.post("verify", fields{"type": "signup", "email": newcomer, "token": m.Code}), 200, "")
		session := h.signInAs(newcomer, password)
		user := session.body["user"].(map[string]any)
		if session.status != 200 || user["email_confirmed_at"] != at(h) || user["user_metadata"].(map[string]any)["email_verified"] != true ||
			user["identities"].([]any)[0].(map[string]any)["identity_data"].(map[string]any)["email_verified"] != true {
			t.Errorf("afterwards: %d %s", session.status, session.raw)
		}
		if h.count("user_roles") != 0 || h.claims(session.text("access_token"))["role"] != "authenticated" {
			t.Error("a sign-up gave a role")
		}
	})
}

// Proves S7-token-2, S7-signup-4.
func TestSignupWithoutConfirmation(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, func(c *Config) { c.MailAutoconfirm, c.PhoneAutoconfirm = true, true })
		r := h.post("signup", fields{"email": newcomer, "password": password})
		if r.status != 200 || r.text("access_token") == "" || h.method(r) != "password" {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		h.expect("the session lives", h.user(r.text("access_token")), 200, "")
		h.expect("again", h.post("signup", fields{"email": newcomer, "password": password}), 422, "user_already_exists")
		h.expect("phone", h.post("signup", fields{"phone": "+" + newcomerPhone, "password": password}), 200, "")
		h.expectNoMessages("sign-up")
		r = h.post("token?grant_type=password", fields{"phone": newcomerPhone, "password": password})
		h.expect("phone and password", r, 200, "")
		if h.claims(r.text("access_token"))["phone"] != newcomerPhone {
			t.Errorf("claims %v", h.claims(r.text("access_token")))
		}
		h.expect("wrong password", h.post("token?grant_type=password", fields{"phone": newcomerPhone, "password": "not the password"}), 400, "invalid_credentials")
	})
}

// Proves S5-rule-8, S7-token-4, S7-signup-2.
func TestSignupByPhone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open)
		r := h.post("signup", fields{"phone": "+351 912 345 678", "password": password, "channel": "whatsapp"})
		if r.status != 200 || r.text("phone") != newcomerPhone || fmt.Sprint(r.body["app_metadata"]) != "map[provider:phone providers:[phone]]" {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		m := h.text()
		if m.Phone != newcomerPhone || m.Channel != "whatsapp" || m.Type != "sms" || m.UserID != r.text("id") {
			t.Errorf("SMS %+v", m)
		}
		h.expect("before", h.post("token?grant_type=password", fields{"phone": newcomerPhone, "password": password}), 400, "phone_not_confirmed")
		h.expect("as an e-mail type", h.post("verify", fields{"type": "signup", "phone": newcomerPhone, "token": m.Code}), 400, "validation_failed")
		h.expect("the code", h.post("verify", fields{"type": "sms", "phone": "+" + newcomerPhone, "token": m.Code}), 200, "")
		h.expect("after", h.post("token?grant_type=password", fields{"phone": newcomerPhone, "password": password}), 200, "")
	})
}

// Proves S7-signup-3, A-safe-4.
func TestSignUpWithATakenAddressReturnsADecoy(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		h.owner()
		n := h.hashes()
		r := h.post("signup", fields{"email": email, "password": "some other password", "data": fields{"name": "x"}})
		if r.status != 200 || len(r.body["identities"].([]any)) != 0 || r.text("email") != email || r.text("role") != "" || r.text("confirmation_sent_at") != at(h) || r.body["email_confirmed_at"] != nil {
			t.Errorf("got %d %s", r.status, r.raw)
		}
		if r.text("id") == h.value("select id from auth_users") || fmt.Sprint(r.body["user_metadata"]) != "map[name:x]" {
			t.Errorf("got %s", r.raw)
		}
		if *n != 1 {
			t.Errorf("%d hashes", *n)
		}
		if h.count("auth_users") != 1 || h.count("auth_identities") != 1 {
			t.Error("something of the decoy was stored")
		}
		h.expectNoMessages("a taken address")
		h.expect("the owner", h.signInAs(email, password), 200, "")
		*n = 0
		h.expect("a free address", h.post("signup", fields{"email": newcomer, "password": password}), 200, "")
		if *n != 1 {
			t.Errorf("%d hashes for a free address", *n)
		}
	})
}

// Proves A-safe-12.
//
// Whoever reads the mail confirms an account, also one that somebody else has created with another password.
func TestNobodyPlantsAPasswordInAnotherPersonsAccount(t *testing.T) {
	const planted = "the thief knows this"
	for name, rescue := range map[string]func(h *fixture) reply{
		"sign-up": func(h *fixture) reply {
			_, m := h.signUp(newcomer, password)
			return h.post("verify", fields{"type": "signup", "email": newcomer, "token": m.Code})
		},
		"magic link": func(h *fixture) reply {
			h.expect("otp", h.post("otp", fields{"email": newcomer}), 200, "")
			return h.post("verify", fields{"type": "email", "email": newcomer, "token": h.mail(MailMagicLink).Code})
		},
		"recovery": func(h *fixture) reply {
			h.expect("recover", h.post("recover", fields{"email": newcomer}), 200, "")
			return h.post("verify", fields{"type": "recovery", "email": newcomer, "token": h.mail(MailRecovery).Code})
		},
	} {
		t.Run(name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				h := newFixture(t, d, open, withoutLimits)
				_, stale := h.signUp(newcomer, planted)
				session := rescue(h)
				h.expect("the address's owner", session, 200, "")
				h.expect("the thief", h.signInAs(newcomer, planted), 400, "invalid_credentials")
				h.expect("the thief's code", h.post("verify", fields{"type": "signup", "email": newcomer, "token": stale.Code}), 403, "otp_expired")
				h.expect("a password of one's own", h.put(session.text("access_token"), fields{"password": "my own new password"}), 200, "")
				h.expect("works", h.signInAs(newcomer, "my own new password"), 200, "")
			})
		})
	}
}

// Proves S7-signup-5.
func TestSigningUpTwiceWithOnePasswordKeepsIt(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open)
		first, m1 := h.signUp(newcomer, password)
		h.expect("at once", h.post("signup", fields{"email": newcomer, "password": password}), 429, "over_email_send_rate_limit")
		h.clock.advance(h.cfg.MailMinInterval)
		again, m2 := h.signUp(newcomer, password)
		if again.text("id") != first.text("id") || len(again.body["identities"].([]any)) != 1 {
			t.Errorf("got %s", again.raw)
		}
		h.expect("the first code", h.post("verify", fields{"type": "signup", "email": newcomer, "token": m1.Code}), 200, "")
		h.expect("the second", h.post("verify", fields{"type": "signup", "email": newcomer, "token": m2.Code}), 403, "otp_expired")
		h.expect("password", h.signInAs(newcomer, password), 200, "")
	})
}

// Proves S7-signup-6.
func TestManySignUpsAtOnceOpenOneAccount(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() {
				h.expect("sign-up", h.post("signup", fields{"email": newcomer, "password": password}), 200, "")
			})
		}
		wg.Wait()
		if h.count("auth_users") != 1 || h.count("auth_identities") != 1 {
			t.Errorf("%d accounts, %d identities", h.count("auth_users"), h.count("auth_identities"))
		}
	})
}
