package auth

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"time"

	"atelie/internal/httpx"
)

var _ = serve(func(s *Service) map[string]httpx.Handler {
	return map[string]httpx.Handler{
		"POST /auth/v1/signup": s.Signup, "POST /auth/v1/otp": s.OTP, "POST /auth/v1/magiclink": s.MagicLink, "POST /auth/v1/recover": s.Recover,
		"POST /auth/v1/resend": s.Resend, "GET /auth/v1/reauthenticate": s.Reauthenticate, "POST /auth/v1/verify": s.Verify,
		"public GET /auth/v1/verify": s.VerifyLink, "PUT /auth/v1/user": s.UpdateUser,
	}
})

const (
	newcomer      = "rita@example.pt"
	newcomerPhone = "351912345678"
)

type fields = map[string]any

// open allows everybody to sign up, with an email address or a phone number.
func open(c *Config) { c.SignupOpen, c.PhoneEnabled = true, true }

// withoutLimits switches off limits and cooldowns, for tests that are not about them.
func withoutLimits(c *Config) {
	c.MailMinInterval, c.SMSMinInterval, c.RateLimited = 0, 0, false
}

// post sends a request without a session.
func (h *fixture) post(path string, body fields, headers ...header) reply {
	return h.call("POST", "/auth/v1/"+path, "", object(body), headers...)
}

// put changes the account of a session.
func (h *fixture) put(bearer string, body fields) reply {
	return h.call("PUT", "/auth/v1/user", bearer, object(body))
}

// signUp creates an account, and returns the response and the confirmation mail.
func (h *fixture) signUp(address, password string, more ...fields) (reply, Mail) {
	h.t.Helper()
	body := fields{"email": address, "password": password}
	for _, m := range more {
		for k, v := range m {
			body[k] = v
		}
	}
	r := h.post("signup", body)
	if r.status != 200 {
		h.t.Fatalf("sign-up: %d %s", r.status, r.raw)
	}
	return r, h.mail(MailConfirmation)
}

// confirmedAccount creates and confirms an account, and returns its session.
func (h *fixture) confirmedAccount(address string) reply {
	h.t.Helper()
	_, m := h.signUp(address, password)
	r := h.post("verify", fields{"type": "signup", "email": address, "token": m.Code})
	if r.status != 200 {
		h.t.Fatalf("confirmation: %d %s", r.status, r.raw)
	}
	return r
}

// linkOf returns the hash and the URL of a mailed link.
func (h *fixture) linkOf(m Mail) (hash string, u *url.URL) {
	h.t.Helper()
	u, err := url.Parse(m.Link)
	if err != nil || u.Query().Get("token") == "" {
		h.t.Fatalf("link %q: %v", m.Link, err)
	}
	return u.Query().Get("token"), u
}

// follow opens a mailed link as a browser does, without a key.
func (h *fixture) follow(link string) (status int, to *url.URL) {
	h.t.Helper()
	r := h.call("GET", strings.TrimPrefix(link, "https://ines.example"), "", "", header{"apikey", ""}, header{"Authorization", ""})
	to, err := url.Parse(r.header.Get("Location"))
	if err != nil {
		h.t.Fatal(err)
	}
	return r.status, to
}

func fragment(h *fixture, u *url.URL) url.Values {
	h.t.Helper()
	v, err := url.ParseQuery(u.Fragment)
	if err != nil {
		h.t.Fatal(err)
	}
	return v
}

// expectNoMessages fails if a mail or an SMS is queued.
func (h *fixture) expectNoMessages(what string) {
	h.t.Helper()
	h.deliver()
	select {
	case m := <-h.mails:
		h.t.Errorf("%s: a mail of kind %s left", what, m.Kind)
	case m := <-h.texts:
		h.t.Errorf("%s: an SMS of type %s left", what, m.Type)
	default:
	}
}

// discardMessages runs the queue and discards the sent messages.
func (h *fixture) discardMessages() {
	h.t.Helper()
	h.deliver()
	for {
		select {
		case <-h.mails:
		case <-h.texts:
		default:
			return
		}
	}
}

const verifier = "a-verifier-of-at-least-forty-three-characters-0123456789"

func pkce() fields {
	sum := sha256.Sum256([]byte(verifier))
	return fields{"code_challenge": base64.RawURLEncoding.EncodeToString(sum[:]), "code_challenge_method": "s256"}
}

func joined(all ...fields) fields {
	out := fields{}
	for _, f := range all {
		for k, v := range f {
			out[k] = v
		}
	}
	return out
}

func wrong(code string) string {
	if code == "000000" {
		return "000001"
	}
	return "000000"
}

func (h *fixture) method(r reply) string {
	h.t.Helper()
	return fmt.Sprint(h.claims(r.text("access_token"))["amr"].([]any)[0].(map[string]any)["method"])
}

func at(h *fixture) string { return h.clock.now().Format(time.RFC3339) }
