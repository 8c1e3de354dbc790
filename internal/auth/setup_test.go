package auth

import (
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// link returns the token of a new setup link.
func (h *fixture) link() string {
	h.t.Helper()
	token, err := h.NewSetupLink(h.t.Context())
	if err != nil {
		h.t.Fatal(err)
	}
	return token
}

// setUp makes an owner with the token of a setup link.
func (h *fixture) setUp(token, email, password string, headers ...header) reply {
	return h.call("POST", "/auth/v1/setup", "", object(map[string]any{"token": token, "email": email, "password": password}), headers...)
}

// Proves A-safe-6, A-setup-1.
func TestASetupLinkMakesTheFirstOwner(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		token, unused := h.link(), h.link()
		if len(token) != 43 || token == unused {
			t.Errorf("tokens %s and %s", token, unused)
		}
		if h.value("select count(*) from auth_setup_links where token_hash in ($1, $2)", hashToken(token), hashToken(unused)) != "2" {
			t.Error("links must be stored as hashes")
		}
		r := h.setUp(token, " Ines@Example.pt", password)
		if r.status != 200 || keysOf(r.body) != "access_token expires_at expires_in refresh_token token_type user weak_password" || r.header.Get("Cache-Control") != "no-store" {
			t.Fatalf("got %d %s", r.status, r.raw)
		}
		user := h.user(r.text("access_token"))
		if user.text("email") != email || user.text("email_confirmed_at") == "" || len(user.body["identities"].([]any)) != 1 {
			t.Errorf("user %s", user.raw)
		}
		claims := h.claims(r.text("access_token"))
		if admin, err := h.IsAdmin(t.Context(), claims["sub"].(string), claims["session_id"].(string)); err != nil || !admin {
			t.Errorf("admin %v, %v", admin, err)
		}
		h.mustSignIn()
		h.mustRefresh(r.text("refresh_token"))
		h.expect("the same link again", h.setUp(token, "rui@example.pt", password), 403, "setup_link_invalid")
		h.expect("the other link", h.setUp(unused, "rui@example.pt", password), 403, "setup_link_invalid")
		if n := h.count("auth_setup_links"); n != 0 {
			t.Errorf("%d links left", n)
		}
		if _, err := h.NewSetupLink(t.Context()); apperr.From(err).Code != "conflict" {
			t.Errorf("a new link beside an owner: %v", err)
		}
	})
}

// Proves A-setup-2.
func TestSetupRefusals(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		token := h.link()
		n := h.hashes()
		for _, c := range []struct {
			name, body string
			status     int
			code       string
		}{
			{"no body", ``, 400, "validation_failed"},
			{"no token", object(map[string]any{"email": email, "password": password}), 400, "validation_failed"},
			{"no address", object(map[string]any{"token": token, "password": password}), 400, "validation_failed"},
			{"no password", object(map[string]any{"token": token, "email": email}), 400, "validation_failed"},
			{"malformed JSON", `{"token":`, 400, "bad_json"},
			{"wrong type", object(map[string]any{"token": 1, "email": email, "password": password}), 400, "bad_json"},
			{"oversize", `{"token":"` + strings.Repeat("x", maxBody) + `"}`, 413, "request_entity_too_large"},
			{"forged link", object(map[string]any{"token": token + "x", "email": email, "password": password}), 403, "setup_link_invalid"},
			{"the stored hash as link", object(map[string]any{"token": hashToken(token), "email": email, "password": password}), 403, "setup_link_invalid"},
			{"bad address", object(map[string]any{"token": token, "email": "ines", "password": password}), 400, "validation_failed"},
			{"weak password", object(map[string]any{"token": token, "email": email, "password": "123456789"}), 422, "weak_password"},
			{"endless password", object(map[string]any{"token": token, "email": email, "password": strings.Repeat("x", 2000)}), 400, "validation_failed"},
		} {
			h.expect(c.name, h.call("POST", "/auth/v1/setup", "", c.body), c.status, c.code)
		}
		if *n != 0 || h.count("auth_users") != 0 {
			t.Errorf("%d hashes, %d accounts", *n, h.count("auth_users"))
		}
		h.clock.advance(setupLinkLife - time.Microsecond)
		h.expect("the link survived all that", h.setUp(token, email, password), 200, "")
	})
}

// Proves A-setup-2.
func TestSetupLinksExpire(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		token := h.link()
		h.clock.advance(setupLinkLife)
		h.expect("after a day", h.setUp(token, email, password), 403, "setup_link_invalid")
		h.expect("a new one", h.setUp(h.link(), email, password), 200, "")
	})
}

func TestAddingAnOwnerVoidsSetupLinks(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		token := h.link()
		h.owner()
		h.expect("link", h.setUp(token, "rui@example.pt", password), 403, "setup_link_invalid")
		if n := h.count("auth_setup_links"); n != 0 {
			t.Errorf("%d links left", n)
		}
	})
}

func TestSetupTakesOverAnAccountWithItsSessions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		h.owner()
		before := h.mustSignIn()
		h.exec("delete from user_roles")
		after := h.setUp(h.link(), email, "another password")
		h.expect("set-up", after, 200, "")
		h.expect("old session", h.user(before.text("access_token")), 403, "session_not_found")
		h.expect("old password", h.signInAs(email, password), 400, "invalid_credentials")
		h.expect("new session", h.user(after.text("access_token")), 200, "")
		if n := h.count("auth_identities"); n != 1 {
			t.Errorf("%d identities", n)
		}
	})
}

// Proves A-setup-1.
func TestConcurrentSetupsCreateOneOwner(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		links := []string{h.link(), h.link()}
		var (
			wg    sync.WaitGroup
			mu    sync.Mutex
			won   int
			start = make(chan struct{})
		)
		for i := range 16 {
			wg.Go(func() {
				<-start
				r := h.setUp(links[i%2], string(rune('a'+i))+"@example.pt", password)
				mu.Lock()
				defer mu.Unlock()
				if r.status == 200 {
					won++
				} else if r.status != 403 || r.code() != "setup_link_invalid" {
					t.Errorf("got %d %s", r.status, r.raw)
				}
			})
		}
		close(start)
		wg.Wait()
		if won != 1 || h.count("user_roles") != 1 || h.count("auth_users") != 1 || h.count("auth_sessions") != 1 {
			t.Errorf("%d winners, %d owners, %d accounts, %d sessions", won, h.count("user_roles"), h.count("auth_users"), h.count("auth_sessions"))
		}
	})
}

// Proves A-setup-2.
func TestSetupAttemptsAreLimited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		token := h.link()
		for range setupsPerIP {
			h.expect("guess", h.setUp("guess", email, password, from("198.51.100.7")), 403, "setup_link_invalid")
		}
		h.expect("one too many", h.setUp(token, email, password, from("198.51.100.7")), 429, "over_request_rate_limit")
		h.expect("elsewhere", h.setUp(token, email, password, from("198.51.100.8")), 200, "")
	})
}
