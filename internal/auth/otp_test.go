package auth

import (
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S5-rule-4, S5-rule-5, S5-rule-8.
func TestRequestsForMessagesAreChecked(t *testing.T) {
	long := strings.Repeat("v", 43)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, c := range []struct {
			path, body string
			set        func(*Config)
			status     int
			code, text string // of the error
		}{
			{"otp", `{}`, open, 400, "validation_failed", "One of email or phone must be set"},
			{"otp", `{"email":"a@b.pt","phone":"351912345678"}`, open, 400, "validation_failed", "Only an email address or phone number should be provided"},
			{"otp", `{"email":"a@b.pt","channel":"sms"}`, open, 400, "validation_failed", "Channel should only be specified with Phone OTP"},
			{"otp", `{"phone":"351912345678","channel":"pigeon"}`, open, 400, "validation_failed", "Invalid channel, supported values are 'sms' or 'whatsapp'"},
			{"otp", `{"phone":"351912345678"}`, func(*Config) {}, 400, "phone_provider_disabled", "Unsupported phone provider"},
			{"otp", `{"phone":"abc"}`, open, 400, "validation_failed", "Invalid phone number format (E.164 required)"},
			{"otp", `{"email":"a"}`, open, 400, "validation_failed", "Unable to validate email address: invalid format"},
			{"otp", `{"email":"a@b.pt","code_challenge":"` + long + `"}`, open, 400, "validation_failed", "PKCE flow requires code_challenge_method and code_challenge parameters"},
			{"otp", `{"email":"a@b.pt","code_challenge":"short","code_challenge_method":"s256"}`, open, 400, "validation_failed", errCodeChallenge.Message},
			{"otp", `{"email":"a@b.pt","code_challenge":"` + long + `","code_challenge_method":"md5"}`, open, 400, "validation_failed", "PKCE flow requires code_challenge_method and code_challenge parameters"},
			{"otp", `{"email":"a@b.pt","data":{"x":"\u0000"}}`, open, errUnstorableText.Status, errUnstorableText.Code, errUnstorableText.Message},
			{"otp", `{"email":1}`, open, 400, "bad_json", "Could not parse request body as JSON"},
			{"magiclink", `{}`, open, 422, "validation_failed", "Password recovery requires an email"},
			{"magiclink", `{"email":"a"}`, open, 400, "validation_failed", "Unable to validate email address: invalid format"},
			{"recover", `{}`, open, 400, "validation_failed", "Password recovery requires an email"},
			{"recover", `{"email":"x y@b.pt"}`, open, 400, "validation_failed", "Unable to validate email address: invalid format"},
			{"recover", `{"email":"a@b.pt","code_challenge_method":"s256"}`, open, 400, "validation_failed", "PKCE flow requires code_challenge_method and code_challenge parameters"},
			{"resend", `{"email":"a@b.pt"}`, open, 400, "validation_failed", "Missing one of these types: signup, email_change, sms, phone_change"},
			{"resend", `{"type":"recovery","email":"a@b.pt"}`, open, 400, "validation_failed", "Missing one of these types: signup, email_change, sms, phone_change"},
			{"resend", `{"type":"signup","phone":"351912345678"}`, open, 400, "validation_failed", "Type provided requires an email address"},
			{"resend", `{"type":"sms","email":"a@b.pt"}`, open, 400, "validation_failed", "Type provided requires a phone number"},
			{"resend", `{"type":"sms","email":"a@b.pt","phone":"351912345678"}`, open, 400, "validation_failed", "Only an email address or phone number should be provided."},
			{"resend", `{"type":"email_change"}`, open, 400, "validation_failed", "Missing email address or phone number"},
			{"resend", `{"type":"sms","phone":"351912345678"}`, func(*Config) {}, 400, "phone_provider_disabled", "Phone logins are disabled"},
			{"resend", `{"type":"signup","email":"a"}`, open, 400, "validation_failed", "Unable to validate email address: invalid format"},
		} {
			h := newFixture(t, d, c.set, withoutLimits)
			r := h.call("POST", "/auth/v1/"+c.path, "", c.body)
			if r.status != c.status || r.code() != c.code || r.text("msg") != c.text {
				t.Errorf("%s %s: got %d %s", c.path, c.body, r.status, r.raw)
			}
		}
		h := newFixture(t, d)
		if h.count("auth_users") != 0 || h.count("jobs") != 0 {
			t.Error("a refused request did something")
		}
	})
}

// Proves S7-recover-1, A-set-6, A-safe-3.
//
// Responses and waits must not reveal who has an account, and no message is sent to an account that does not need it.
func TestKnownAndUnknownAccountsGetEqualResponses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.PhoneEnabled, c.SignupOpen = true, true })
		h.owner()
		h.exec("update auth_users set phone = $1, phone_confirmed_at = $2", newcomerPhone, h.clock.now())
		for _, c := range []struct {
			path   string
			known  fields
			strang fields
			code   string
		}{
			{"recover", fields{"email": email}, fields{"email": "nobody@example.pt"}, "over_email_send_rate_limit"},
			{"otp", fields{"email": email}, fields{"email": "someone@example.pt"}, "over_email_send_rate_limit"},
			{"magiclink", fields{"email": email}, fields{"email": "anyone@example.pt"}, "over_email_send_rate_limit"},
			{"otp", fields{"phone": newcomerPhone}, fields{"phone": "351900000001"}, "over_sms_send_rate_limit"},
			{"resend", fields{"type": "signup", "email": email}, fields{"type": "signup", "email": "nobody@example.pt"}, "over_email_send_rate_limit"},
			{"resend", fields{"type": "email_change", "email": email}, fields{"type": "email_change", "email": "nobody@example.pt"}, "over_email_send_rate_limit"},
			{"resend", fields{"type": "sms", "phone": newcomerPhone}, fields{"type": "sms", "phone": "351900000002"}, "over_sms_send_rate_limit"},
			{"resend", fields{"type": "phone_change", "phone": newcomerPhone}, fields{"type": "phone_change", "phone": "351900000002"}, "over_sms_send_rate_limit"},
			{"signup", fields{"email": email, "password": password}, fields{"email": "stranger@example.pt", "password": password}, "over_email_send_rate_limit"},
		} {
			h.clock.advance(2 * time.Minute)
			for _, body := range []fields{c.known, c.strang} {
				r := h.post(c.path, body)
				if r.status != 200 || c.path != "signup" && r.raw != "{}" {
					t.Errorf("%s %v: got %d %s", c.path, body, r.status, r.raw)
				}
			}
			h.clock.advance(20 * time.Second)
			var answers [2]reply
			for i, body := range []fields{c.known, c.strang} {
				answers[i] = h.post(c.path, body)
				h.expect(c.path+", too soon", answers[i], 429, c.code)
			}
			if answers[0].raw != answers[1].raw || answers[0].text("msg") != "For security purposes, you can only request this after 40 seconds." {
				t.Errorf("%s: %s and %s", c.path, answers[0].raw, answers[1].raw)
			}
			h.discardMessages()
		}
	})
}

// Proves S7-resend-2.
func TestResendSendsOnlyWhatIsPending(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		h.owner()
		h.exec("update auth_users set phone = $1, phone_confirmed_at = $2", newcomerPhone, h.clock.now())
		for _, body := range []fields{
			{"type": "signup", "email": email}, {"type": "email_change", "email": email}, {"type": "sms", "phone": newcomerPhone}, {"type": "phone_change", "phone": newcomerPhone},
			{"type": "signup", "email": "nobody@example.pt"}, {"type": "phone_change", "phone": "351900000000"},
		} {
			h.expect("resend", h.post("resend", body), 200, "")
			h.expectNoMessages(object(body))
		}
		h.expect("recover for nobody", h.post("recover", fields{"email": "nobody@example.pt"}), 200, "")
		h.expectNoMessages("recover for nobody")
		if h.count("auth_users") != 1 {
			t.Error("an account was made")
		}
	})
}

// Proves S7-otp-2, S7-verify-3, S7-resend-1.
func TestSMSCodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		h.expect("otp", h.post("otp", fields{"phone": "+" + newcomerPhone, "channel": "sms", "data": fields{"name": "Rita"}}), 200, "")
		first := h.text()
		h.expect("resend", h.post("resend", fields{"type": "sms", "phone": newcomerPhone}), 200, "")
		second := h.text()
		r := h.post("verify", fields{"type": "sms", "phone": newcomerPhone, "token": second.Code})
		h.expect("the second", r, 200, "")
		if u := r.body["user"].(map[string]any); u["phone_confirmed_at"] != at(h) || u["user_metadata"].(map[string]any)["name"] != "Rita" || h.method(r) != "otp" {
			t.Errorf("got %s", r.raw)
		}
		h.expect("again", h.post("verify", fields{"type": "sms", "phone": newcomerPhone, "token": second.Code}), 403, "otp_expired")
		h.expect("the first", h.post("verify", fields{"type": "sms", "phone": newcomerPhone, "token": first.Code}), 403, "otp_expired")
		h.expect("signing in", h.post("otp", fields{"phone": newcomerPhone, "create_user": false}), 200, "")
		code := h.text()
		h.clock.advance(codeLife)
		h.expect("too late", h.post("verify", fields{"type": "sms", "phone": newcomerPhone, "token": code.Code}), 403, "otp_expired")
		h.expect("signing in", h.post("otp", fields{"phone": newcomerPhone}), 200, "")
		h.expect("in time", h.post("verify", fields{"type": "sms", "phone": newcomerPhone, "token": h.text().Code}), 200, "")
	})
}

// Proves A-set-10.
func TestIPAddressesAreLimitedOverAllAccounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		here := from("198.51.100.9")
		for i := range messagesPerIP {
			h.expect("recover", h.post("recover", fields{"email": string(rune('a'+i%26)) + string(rune('a'+i/26)) + "@example.pt"}, here), 200, "")
		}
		h.expect("one too many", h.post("recover", fields{"email": "zz@example.pt"}, here), 429, "over_request_rate_limit")
		h.expect("elsewhere", h.post("recover", fields{"email": "zz@example.pt"}, from("198.51.100.10")), 200, "")
		for range verifiesPerIP {
			h.expect("verify", h.post("verify", fields{"type": "email", "token_hash": "x"}, here), 403, "otp_expired")
		}
		h.expect("one too many", h.post("verify", fields{"type": "email", "token_hash": "x"}, here), 429, "over_request_rate_limit")
		h.expect("one too many", h.call("GET", "/auth/v1/verify?type=email&token=x", "", "", here), 429, "over_request_rate_limit")
		h.expect("one too many", h.post("token?grant_type=pkce", fields{"auth_code": "x", "code_verifier": "y"}, here), 429, "over_request_rate_limit")
	})
}

// Proves A-safe-3, A-safe-4.
//
// Requests for a code do not reveal who has an account, also if sign-up is closed.
func TestRequestingACodeDoesNotRevealAccounts(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, func(c *Config) { c.PhoneEnabled = true })
		h.owner()
		for _, path := range []string{"otp", "magiclink"} {
			known := h.call("POST", "/auth/v1/"+path, "", object(fields{"email": email, "create_user": false}))
			unknown := h.call("POST", "/auth/v1/"+path, "", object(fields{"email": "nobody@example.pt", "create_user": false}))
			if known.status != 200 || known.raw != unknown.raw || unknown.status != 200 {
				t.Errorf("%s: known %d %s, unknown %d %s", path, known.status, known.raw, unknown.status, unknown.raw)
			}
			h.expect("a phone", h.call("POST", "/auth/v1/otp", "", object(fields{"phone": "351912345678"})), 200, "")
			h.deliver()
			if len(h.mails) != 1 || len(h.texts) != 0 || h.count("auth_users") != 1 {
				t.Errorf("%s: %d mails, %d messages, %d accounts", path, len(h.mails), len(h.texts), h.count("auth_users"))
			}
			if m := <-h.mails; m.To != email {
				t.Errorf("%s: mail to %s", path, m.To)
			}
			h.clock.advance(2 * time.Minute)
		}
	})
}
