package auth

import (
	"encoding/json"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// exchangeCode exchanges the code of a sign-in for a session.
func (h *fixture) exchangeCode(code, verifier string) reply {
	return h.post("token?grant_type=pkce", fields{"auth_code": code, "code_verifier": verifier})
}

// Proves S7-token-10, S7-verify-7.
func TestMailedLinksEndAPKCEFlowWithACode(t *testing.T) {
	for _, c := range []struct {
		path, method string
		kind         MailKind
		body         fields
	}{
		{"signup", "email/signup", MailConfirmation, fields{"email": newcomer, "password": password}},
		{"otp", "email/signup", MailConfirmation, fields{"email": newcomer}},
		{"otp", "magiclink", MailMagicLink, fields{"email": email}},
		{"magiclink", "magiclink", MailMagicLink, fields{"email": email}},
		{"recover", "recovery", MailRecovery, fields{"email": email}},
	} {
		t.Run(c.path+" "+c.method, func(t *testing.T) {
			dbtest.Each(t, func(t *testing.T, d *db.DB) {
				h := newFixture(t, d, open, withoutLimits, func(c *Config) { c.RedirectURLs = []string{"https://app.example/cb*"} })
				h.owner()
				r := h.post(c.path+"?redirect_to=https://app.example/cb?code=theirs%26x=1", joined(c.body, pkce()))
				h.expect(c.path, r, 200, "")
				m := h.mail(c.kind)
				hash, _ := h.linkOf(m)
				if hash[:5] != "pkce_" {
					t.Errorf("link %s", m.Link)
				}
				status, to := h.follow(m.Link)
				code := to.Query().Get("code")
				if status != 303 || to.Host != "app.example" || to.Query().Get("x") != "1" || len(to.Query()["code"]) != 1 || len(code) != 36 || to.Fragment != "" {
					t.Fatalf("leads to %s", to)
				}
				if _, again := h.follow(m.Link); again.Query().Get("error_code") != "otp_expired" || again.Query().Get("error") != "access_denied" || again.Query().Get("error_description") == "" || fragment(h, again).Get("error_code") != "otp_expired" {
					t.Errorf("twice leads to %s", again)
				}
				h.expect("another verifier", h.exchangeCode(code, verifier+"x"), 400, "bad_code_verifier")
				h.expect("another code", h.exchangeCode(newID(), verifier), 404, "flow_state_not_found")
				r = h.exchangeCode(code, verifier)
				if r.status != 200 || h.method(r) != c.method || r.header.Get("Cache-Control") != "no-store" {
					t.Errorf("got %d %s", r.status, r.raw)
				}
				if got := keysOf(r.body); got != "access_token expires_at expires_in refresh_token token_type user" {
					t.Errorf("session has %s", got)
				}
				h.expect("the session", h.user(r.text("access_token")), 200, "")
				h.expect("the code again", h.exchangeCode(code, verifier), 404, "flow_state_not_found")
			})
		})
	}
}

func TestAnEmailChangeInAPKCEFlow(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		token := h.mustSignIn().text("access_token")
		h.expect("change", h.put(token, joined(fields{"email": newAddress}, pkce())), 200, "")
		h.deliver()
		var links []string
		for len(links) < 2 {
			if m := <-h.mails; m.Kind == MailEmailChange || m.Kind == MailEmailChangeNew {
				links = append(links, m.Link)
			}
		}
		if _, to := h.follow(links[0]); to.Query().Get("message") != firstConfirmationText || fragment(h, to).Get("message") != firstConfirmationText || to.Query().Has("code") {
			t.Errorf("the first leads to %s", to)
		}
		_, to := h.follow(links[1])
		r := h.exchangeCode(to.Query().Get("code"), verifier)
		if r.status != 200 || h.method(r) != "email_change" || r.body["user"].(map[string]any)["email"] != newAddress {
			t.Errorf("got %d %s", r.status, r.raw)
		}
	})
}

// Proves S7-token-11.
func TestAuthCodesExpireAndWorkOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d, withoutLimits)
		h.owner()
		code := func() string {
			h.expect("recover", h.post("recover", joined(fields{"email": email}, pkce())), 200, "")
			_, to := h.follow(h.mail(MailRecovery).Link)
			return to.Query().Get("code")
		}
		late := code()
		h.clock.advance(authCodeLife + time.Second)
		h.expect("too late", h.exchangeCode(late, verifier), 422, "flow_state_expired")
		h.exec("delete from auth_sessions")
		c := code()
		var (
			wg   sync.WaitGroup
			good atomic.Int32
		)
		for range 6 {
			wg.Go(func() {
				if r := h.exchangeCode(c, verifier); r.status == 200 {
					good.Add(1)
				} else {
					h.expect("beaten", r, 404, "flow_state_not_found")
				}
			})
		}
		wg.Wait()
		if good.Load() != 1 || h.count("auth_sessions") != 1 {
			t.Errorf("%d exchanges, %d sessions", good.Load(), h.count("auth_sessions"))
		}
		c = code()
		h.exec("update auth_users set banned_until = $1", h.clock.now().Add(time.Hour))
		h.expect("banned", h.exchangeCode(c, verifier), 400, "user_banned")
		h.exec("delete from auth_users")
		h.expect("gone", h.exchangeCode(c, verifier), 404, "flow_state_not_found")
	})
}

func TestLinkOfADeletedFlowIsAnError(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		h.expect("recover", h.post("recover", joined(fields{"email": email}, pkce())), 200, "")
		m := h.mail(MailRecovery)
		h.exec("delete from auth_flow_states")
		if _, to := h.follow(m.Link); to.Query().Get("error_code") != "flow_state_not_found" {
			t.Errorf("leads to %s", to)
		}
	})
}

// Proves S7-oauth-2.
func TestExchangeReturnsTheProvidersTokens(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		plain, err := json.Marshal(providerTokens{Token: "at", RefreshToken: "rt"})
		if err != nil {
			t.Fatal(err)
		}
		var code string
		err = h.db.WithTx(t.Context(), func(tx *db.Tx) error {
			p := pkce()
			f, err := h.startFlow(t.Context(), tx, flowState{authMethod: "oauth", provider: "google"}, pkceChallenge{p["code_challenge"].(string), p["code_challenge_method"].(string)}, "")
			if err != nil {
				return err
			}
			u, err := userByEmail(t.Context(), tx, email)
			if err != nil {
				return err
			}
			code, err = h.issueAuthCode(t.Context(), tx, f.id, u.ID, h.sealer.seal(purposeProviderTokens, plain))
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		r := h.exchangeCode(code, verifier)
		if r.status != 200 || r.text("provider_token") != "at" || r.text("provider_refresh_token") != "rt" || h.method(r) != "oauth" {
			t.Errorf("got %d %s", r.status, r.raw)
		}
	})
}
