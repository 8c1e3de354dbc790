package auth

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-verify-5.
func TestVerifyRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		h.owner()
		for _, c := range []struct {
			name, body string
			status     int
			code, text string
		}{
			{"no type", `{"token":"123456","email":"ines@example.pt"}`, 400, "validation_failed", "Verify requires a verification type"},
			{"no token", `{"type":"email","email":"ines@example.pt"}`, 400, "validation_failed", "Verify requires either a token or a token hash"},
			{"both tokens", `{"type":"email","token":"1","token_hash":"2"}`, 400, "validation_failed", "Verify requires either a token or a token hash"},
			{"token of nobody", `{"type":"email","token":"123456"}`, 400, "validation_failed", "Only an email address or phone number should be provided on verify"},
			{"token of two", `{"type":"email","token":"123456","email":"ines@example.pt","phone":"351912345678"}`, 400, "validation_failed", "Only an email address or phone number should be provided on verify"},
			{"hash and address", `{"type":"email","token_hash":"abc","email":"ines@example.pt"}`, 400, "validation_failed", "Only the token_hash and type should be provided"},
			{"hash and redirect", `{"type":"email","token_hash":"abc","redirect_to":"https://ines.example"}`, 400, "validation_failed", "Only the token_hash and type should be provided"},
			{"unknown type", `{"type":"x","token_hash":"abc"}`, 400, "validation_failed", "Invalid email verification type"},
			{"hash of an SMS", `{"type":"sms","token_hash":"abc"}`, 400, "validation_failed", "Invalid email verification type"},
			{"e-mail with a phone's type", `{"type":"sms","token":"123456","email":"ines@example.pt"}`, 400, "validation_failed", "Unsupported verification type"},
			{"phone with a mail's type", `{"type":"recovery","token":"123456","phone":"351912345678"}`, 400, "validation_failed", "Unsupported verification type"},
			{"no address", `{"type":"email","token":"123456","email":"ines"}`, 400, "validation_failed", "Unable to validate email address: invalid format"},
			{"no number", `{"type":"sms","token":"123456","phone":"12a"}`, 400, "validation_failed", "Invalid phone number format (E.164 required)"},
			{"nothing was sent", `{"type":"email","token":"123456","email":"ines@example.pt"}`, 403, "otp_expired", "Token has expired or is invalid"},
			{"unknown account", `{"type":"email","token":"123456","email":"nobody@example.pt"}`, 403, "otp_expired", "Token has expired or is invalid"},
			{"unknown number", `{"type":"sms","token":"123456","phone":"351900000000"}`, 403, "otp_expired", "Token has expired or is invalid"},
			{"unknown change", `{"type":"email_change","token":"123456","email":"nobody@example.pt"}`, 403, "otp_expired", "Token has expired or is invalid"},
			{"unknown change of number", `{"type":"phone_change","token":"123456","phone":"351900000000"}`, 403, "otp_expired", "Token has expired or is invalid"},
			{"unknown hash", `{"type":"email","token_hash":"abc"}`, 403, "otp_expired", "Email link is invalid or has expired"},
			{"malformed", `{"type":`, 400, "bad_json", "Could not parse request body as JSON"},
		} {
			r := h.call("POST", "/auth/v1/verify", "", c.body)
			if r.status != c.status || r.code() != c.code || r.text("msg") != c.text {
				t.Errorf("%s: got %d %s", c.name, r.status, r.raw)
			}
		}
		for query, text := range map[string]string{"?token=abc": "Verify requires a verification type", "?type=signup": "Verify requires a token or a token hash"} {
			if r := h.call("GET", "/auth/v1/verify"+query, "", ""); r.status != 400 || r.text("msg") != text {
				t.Errorf("%s: got %d %s", query, r.status, r.raw)
			}
		}
	})
}

// Proves S7-otp-1, S7-verify-1, S7-verify-6, S7-verify-8, S7-resend-1, A-safe-7.
//
// Each mail signs in once: by its code, by the hash of its link, or by the link.
func TestEachMailSignsInOnceByCodeHashOrLink(t *testing.T) {
	for _, c := range []struct {
		name  string
		send  func(h *fixture) Mail
		types []string // the types that accept it; the first one is in the link
	}{
		{"sign-up", func(h *fixture) Mail { _, m := h.signUp(newcomer, password); return m }, []string{"signup", "email", "invite"}},
		{"sign-up by code", func(h *fixture) Mail {
			h.expect("otp", h.post("otp", fields{"email": newcomer, "data": fields{"name": "Rita"}}), 200, "")
			return h.mail(MailConfirmation)
		}, []string{"signup", "email"}},
		{"sign-up sent again", func(h *fixture) Mail {
			h.signUp(newcomer, password)
			h.clock.advance(time.Hour)
			h.expect("resend", h.post("resend", fields{"type": "signup", "email": newcomer}), 200, "")
			return h.mail(MailConfirmation)
		}, []string{"signup", "email"}},
		{"magic link", func(h *fixture) Mail {
			h.confirmedAccount(newcomer)
			h.clock.advance(time.Hour)
			h.expect("otp", h.post("otp", fields{"email": newcomer, "create_user": false}), 200, "")
			return h.mail(MailMagicLink)
		}, []string{"magiclink", "email", "recovery"}},
		{"magic link, old name", func(h *fixture) Mail {
			h.confirmedAccount(newcomer)
			h.expect("magiclink", h.post("magiclink", fields{"email": newcomer}), 200, "")
			return h.mail(MailMagicLink)
		}, []string{"magiclink", "email"}},
		{"recovery", func(h *fixture) Mail {
			h.confirmedAccount(newcomer)
			h.expect("recover", h.post("recover", fields{"email": newcomer}), 200, "")
			return h.mail(MailRecovery)
		}, []string{"recovery", "email", "magiclink"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				for _, kind := range c.types {
					h := newFixture(t, d, open)
					m := c.send(h)
					r := h.post("verify", fields{"type": kind, "email": newcomer, "token": m.Code})
					if r.status != 200 || h.method(r) != "otp" || r.body["user"].(map[string]any)["email"] != newcomer || r.body["user"].(map[string]any)["email_confirmed_at"] == nil {
						t.Errorf("code as %s: %d %s", kind, r.status, r.raw)
					}
					h.expect("the session", h.user(r.text("access_token")), 200, "")
					h.expect("the code again", h.post("verify", fields{"type": kind, "email": newcomer, "token": m.Code}), 403, "otp_expired")
					hash, _ := h.linkOf(m)
					h.expect("its link", h.post("verify", fields{"type": kind, "token_hash": hash}), 403, "otp_expired")
					h.exec("delete from auth_users")
					h.exec("delete from auth_last_sent")

					m = c.send(h)
					hash, _ = h.linkOf(m)
					h.expect("hash as "+kind, h.post("verify", fields{"type": kind, "token_hash": hash}), 200, "")
					h.expect("the hash again", h.post("verify", fields{"type": kind, "token_hash": hash}), 403, "otp_expired")
					h.exec("delete from auth_users")
					h.exec("delete from auth_last_sent")
				}
				h := newFixture(t, d, open)
				m := c.send(h)
				_, u := h.linkOf(m)
				if u.Query().Get("type") != c.types[0] {
					t.Errorf("link %s", u)
				}
				for _, kind := range []string{"email_change", "x", "sms"} {
					hash, _ := h.linkOf(m)
					if r := h.post("verify", fields{"type": kind, "token_hash": hash}); r.status != 403 && r.status != 400 {
						t.Errorf("as %s: %d %s", kind, r.status, r.raw)
					}
				}
				head := h.call("HEAD", strings.TrimPrefix(m.Link, "https://ines.example"), "", "")
				if head.status != 200 || head.raw != "" || head.header.Get("Location") != "" {
					t.Errorf("HEAD: %d %v", head.status, head.header)
				}
				status, to := h.follow(m.Link)
				v := fragment(h, to)
				if status != 303 || to.Host != "ines.example" || v.Get("type") != c.types[0] || v.Get("token_type") != "bearer" || v.Get("refresh_token") == "" || v.Get("expires_in") != "3600" || !v.Has("sb") {
					t.Errorf("link: %d %s", status, to)
				}
				h.expect("the session", h.user(v.Get("access_token")), 200, "")
				status, to = h.follow(m.Link)
				if v := fragment(h, to); status != 303 || v.Get("error") != "access_denied" || v.Get("error_code") != "otp_expired" || v.Get("error_description") != "Email link is invalid or has expired" || v.Has("access_token") {
					t.Errorf("twice: %d %s", status, to)
				}
			})
		})
	}
}

// Proves S7-verify-5, A-safe-7.
func TestLinksAndCodesExpire(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		h.owner()
		for _, c := range []struct {
			path string
			kind MailKind
			as   string
			body fields
			who  string
			life time.Duration
		}{
			{"recover", MailRecovery, "recovery", fields{"email": email}, email, linkLife},
			{"otp", MailMagicLink, "email", fields{"email": email}, email, linkLife},
			{"signup", MailConfirmation, "signup", fields{"email": newcomer, "password": password}, newcomer, confirmLife},
		} {
			h.expect(c.path, h.post(c.path, c.body), 200, "")
			m := h.mail(c.kind)
			h.clock.advance(c.life)
			hash, _ := h.linkOf(m)
			h.expect(c.path+", code", h.post("verify", fields{"type": c.as, "email": c.who, "token": m.Code}), 403, "otp_expired")
			h.expect(c.path+", hash", h.post("verify", fields{"type": c.as, "token_hash": hash}), 403, "otp_expired")
			if _, to := h.follow(m.Link); fragment(h, to).Get("error_code") != "otp_expired" {
				t.Errorf("%s, link: %s", c.path, to)
			}
			if err := h.Purge(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := h.count("auth_one_time_tokens"); n != 0 {
			t.Errorf("%d tokens are kept", n)
		}
		h.expect("in time", h.post("recover", fields{"email": email}), 200, "")
		m := h.mail(MailRecovery)
		h.clock.advance(linkLife - time.Second)
		h.expect("in time", h.post("verify", fields{"type": "recovery", "email": email, "token": m.Code}), 200, "")
	})
}

// Proves A-safe-8.
func TestACodeTakesFiveTriesAndItsLinkStillWorks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits)
		h.owner()
		h.expect("recover", h.post("recover", fields{"email": email}), 200, "")
		m := h.mail(MailRecovery)
		for range maxCodeTries {
			h.expect("wrong", h.post("verify", fields{"type": "recovery", "email": email, "token": wrong(m.Code)}), 403, "otp_expired")
		}
		h.expect("right, too late", h.post("verify", fields{"type": "recovery", "email": email, "token": m.Code}), 403, "otp_expired")
		hash, _ := h.linkOf(m)
		h.expect("the link", h.post("verify", fields{"type": "recovery", "token_hash": hash}), 200, "")
	})
}

// Proves A-safe-8.
func TestManyTriesAtOnceAreStillFive(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits)
		h.owner()
		h.expect("recover", h.post("recover", fields{"email": email}), 200, "")
		m := h.mail(MailRecovery)
		var wg sync.WaitGroup
		for range 4 * maxCodeTries {
			wg.Go(func() { h.post("verify", fields{"type": "recovery", "email": email, "token": wrong(m.Code)}) })
		}
		wg.Wait()
		if n := h.value("select cast(wrong_codes as text) from auth_one_time_tokens"); n != "5" {
			t.Errorf("%s tries were counted", n)
		}
	})
}

// An attempt at a code of the types email and sms is compared with codes of two kinds.
func TestAnAttemptCountsOnceForAllKindsOfCodes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, func(c *Config) { c.MailMinInterval, c.SMSMinInterval = 0, 0 })
		h.owner()
		for _, c := range []struct {
			by, to, kind string
			code         func() string // the code that was sent last
		}{
			{"email", email, "email", func() string { return h.mail(MailMagicLink).Code }},
			{"phone", newcomerPhone, "sms", func() string { return h.text().Code }},
		} {
			attempt := func() reply {
				h.expect("otp", h.post("otp", fields{c.by: c.to}), 200, "")
				return h.post("verify", fields{"type": c.kind, c.by: c.to, "token": c.code()})
			}
			for range maxTriesPerAccount {
				h.expect("by "+c.by, attempt(), 200, "")
			}
			h.expect("by "+c.by+", one too many", attempt(), 403, "otp_expired")
		}
	})
}

// Proves S7-verify-11, A-safe-7.
func TestOfManyVerificationsAtOnceOneSucceeds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits)
		h.owner()
		for _, way := range []string{"code", "hash"} {
			h.exec("delete from auth_sessions")
			h.expect("recover", h.post("recover", fields{"email": email}), 200, "")
			m := h.mail(MailRecovery)
			hash, _ := h.linkOf(m)
			body := fields{"type": "recovery", "token_hash": hash}
			if way == "code" {
				body = fields{"type": "recovery", "email": email, "token": m.Code}
			}
			var (
				wg   sync.WaitGroup
				good atomic.Int32
			)
			for range maxCodeTries {
				wg.Go(func() {
					switch r := h.post("verify", body); {
					case r.status == 200:
						good.Add(1)
					case r.status != 403 || r.code() != "otp_expired":
						t.Errorf("%s: got %d %s", way, r.status, r.raw)
					}
				})
			}
			wg.Wait()
			if good.Load() != 1 || h.count("auth_sessions") != 1 {
				t.Errorf("%s: %d responses, %d sessions", way, good.Load(), h.count("auth_sessions"))
			}
		}
	})
}

// Proves A-safe-11.
func TestACodeIsGoodForOneAccountOneKindAndOneAddress(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, open, withoutLimits)
		h.owner()
		h.confirmedAccount(newcomer)
		h.discardMessages()
		h.expect("recover", h.post("recover", fields{"email": email}), 200, "")
		m := h.mail(MailRecovery)
		hash, _ := h.linkOf(m)
		h.expect("another account", h.post("verify", fields{"type": "recovery", "email": newcomer, "token": m.Code}), 403, "otp_expired")
		h.expect("another kind", h.post("verify", fields{"type": "signup", "email": email, "token": m.Code}), 403, "otp_expired")
		h.expect("another kind", h.post("verify", fields{"type": "signup", "token_hash": hash}), 403, "otp_expired")
		h.expect("the code as a link", h.post("verify", fields{"type": "recovery", "token_hash": m.Code}), 403, "otp_expired")
		h.exec("update auth_users set email = 'elsewhere@example.pt' where email = $1", email)
		h.expect("the address was changed since", h.post("verify", fields{"type": "recovery", "token_hash": hash}), 403, "otp_expired")

		h.exec("update auth_users set phone = $1 where email = $2", newcomerPhone, newcomer)
		h.expect("SMS", h.post("otp", fields{"phone": newcomerPhone}), 200, "")
		sms := h.text()
		h.expect("an SMS code for the address", h.post("verify", fields{"type": "email", "email": newcomer, "token": sms.Code}), 403, "otp_expired")
		h.expect("for the number", h.post("verify", fields{"type": "sms", "phone": newcomerPhone, "token": sms.Code}), 200, "")
	})
}

func TestBannedAccountsAreNotOpenedByLinks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits)
		h.owner()
		h.expect("recover", h.post("recover", fields{"email": email}), 200, "")
		m := h.mail(MailRecovery)
		h.exec("update auth_users set banned_until = $1", h.clock.now().Add(time.Minute))
		h.expect("banned", h.post("verify", fields{"type": "recovery", "email": email, "token": m.Code}), 403, "user_banned")
		h.clock.advance(time.Minute)
		h.expect("afterwards", h.post("verify", fields{"type": "recovery", "email": email, "token": m.Code}), 200, "")
	})
}

// Proves S7-verify-9, A-safe-14.
func TestLinksRedirectOnlyToAllowedURLs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits, func(c *Config) { c.RedirectURLs = []string{"https://app.example/**"} })
		h.owner()
		for target, want := range map[string]string{
			"": "https://ines.example", "https://ines.example/admin?x=1": "https://ines.example/admin?x=1", "https://app.example/cb": "https://app.example/cb",
			"https://evil.example": "https://ines.example", "//evil.example": "https://ines.example", "https://ines.example@evil.example": "https://ines.example",
		} {
			h.expect("recover", h.call("POST", "/auth/v1/recover?redirect_to="+target, "", object(fields{"email": email}), header{"Host", "evil.example"}, header{"X-Forwarded-Host", "evil.example"}), 200, "")
			m := h.mail(MailRecovery)
			_, u := h.linkOf(m)
			if u.Host != "ines.example" || u.Query().Get("redirect_to") != want {
				t.Errorf("%q: mailed %s", target, m.Link)
			}
			_, to := h.follow(m.Link)
			to.Fragment = ""
			if to.String() != want {
				t.Errorf("%q: leads to %s", target, to)
			}
		}
		h.expect("recover", h.post("recover", fields{"email": email}), 200, "")
		hash, _ := h.linkOf(h.mail(MailRecovery))
		if _, to := h.follow("/auth/v1/verify?type=recovery&token=" + hash + "&redirect_to=https://evil.example/"); to.Host != "ines.example" {
			t.Errorf("a changed link leads to %s", to)
		}
	})
}
