package auth

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/apperr"
	"atelie/internal/auth/oauth/oauthtest"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S6-role-2, S7-oauth-2.
func TestImplicitSignInByProvider(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		a := g.session(userClaims("7", "Rui@Example.com", true))
		if a.status != http.StatusSeeOther || a.to.RawQuery != "" || a.fragment.Get("token_type") != "bearer" || a.fragment.Get("refresh_token") == "" ||
			!strings.HasPrefix(a.fragment.Get("provider_token"), "access-") || !strings.HasPrefix(a.fragment.Get("provider_refresh_token"), "refresh-") || !a.fragment.Has("sb") {
			t.Errorf("sent to %s", a.to)
		}
		if len(a.cookies) != 1 || a.cookies[0].MaxAge >= 0 {
			t.Errorf("the cookie was not removed: %v", a.cookies)
		}
		u := g.user(a.fragment.Get("access_token"))
		g.expect("user", u, http.StatusOK, "")
		var user User
		if err := json.Unmarshal([]byte(u.raw), &user); err != nil {
			t.Fatal(err)
		}
		if user.Email != "rui@example.com" || user.EmailConfirmedAt == nil || user.UserMetadata["full_name"] != "Rui Costa" || user.UserMetadata["email_verified"] != true {
			t.Errorf("user %s", u.raw)
		}
		if user.Role != "authenticated" || user.UserMetadata["role"] != nil || user.AppMetadata["role"] != nil || g.count("user_roles") != 0 {
			t.Errorf("claims made a role: %s", u.raw)
		}
		if user.AppMetadata["provider"] != "house" || len(user.Identities) != 1 || user.Identities[0].ID != "7" || user.Identities[0].Provider != "house" || user.Identities[0].LastSignInAt == nil {
			t.Errorf("identities %s", u.raw)
		}
		claims := g.claims(a.fragment.Get("access_token"))
		amr, _ := json.Marshal(claims["amr"])
		if claims["role"] != "authenticated" || !strings.Contains(string(amr), `"method":"oauth"`) {
			t.Errorf("claims %v", claims)
		}
		if g.count("auth_flow_states") != 0 {
			t.Error("the flow was not deleted")
		}
		again := g.session(with(userClaims("7", "rui@example.com", true), "name", "Rui C."))
		if g.claims(again.fragment.Get("access_token"))["sub"] != user.ID || g.count("auth_users") != 1 {
			t.Error("the second sign-in created another account")
		}
		if got := g.user(again.fragment.Get("access_token")); !strings.Contains(got.raw, `"full_name":"Rui C."`) {
			t.Errorf("not renewed: %s", got.raw)
		}
	})
}

// Proves S7-oauth-2, A-safe-6.
func TestPKCESignInByProvider(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		a := g.visit("provider=house&redirect_to=https://app.example/in?x=1&code_challenge="+exampleChallenge+"&code_challenge_method=s256", userClaims("7", "rui@example.com", true))
		code := a.query.Get("code")
		if a.status != http.StatusSeeOther || code == "" || a.to.Fragment != "" || a.query.Get("x") != "1" || g.count("auth_sessions") != 0 {
			t.Fatalf("sent to %s", a.to)
		}
		if text := g.value("select provider_secrets from auth_flow_states"); strings.Contains(text, "access-") || text == "" {
			t.Errorf("provider tokens at rest: %q", text)
		}
		redeem := func(verifier string) (f flowState, err error) {
			err = d.WithTx(t.Context(), func(tx *db.Tx) (err error) {
				f, err = g.redeemAuthCode(t.Context(), tx, code, verifier)
				return err
			})
			return f, err
		}
		if _, err := redeem(strings.Repeat("x", 43)); err == nil {
			t.Error("another verifier works")
		}
		f, err := redeem(exampleVerifier)
		if err != nil {
			t.Fatal(err)
		}
		tokens, err := g.sealer.unseal(purposeProviderTokens, f.providerSecrets)
		if err != nil || !strings.Contains(string(tokens), `"provider_token":"access-`) || !strings.Contains(string(tokens), `"provider_refresh_token":"refresh-`) || f.userID == "" {
			t.Errorf("tokens %s, %v", tokens, err)
		}
		if _, err := redeem(exampleVerifier); err == nil {
			t.Error("the code works twice")
		}
	})
}

// Proves S7-oauth-6.
func TestAppleCallbackIsAPost(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		a := g.begin("provider=apple")
		back := g.idp.Consent(a.to.String(), map[string]any{"sub": "000.a", "email": "x@privaterelay.appleid.com", "email_verified": "true"})
		back.Set("user", `{"name":{"firstName":"Rui","lastName":"Costa"},"email":"owner@example.com"}`)
		done := g.browse("POST", "/auth/v1/callback", back.Encode(), a.cookies)
		if done.fragment.Get("access_token") == "" {
			t.Fatalf("sent to %s", done.to)
		}
		u := g.user(done.fragment.Get("access_token"))
		if u.text("email") != "x@privaterelay.appleid.com" || !strings.Contains(u.raw, `"full_name":"Rui Costa"`) || strings.Contains(u.raw, "owner@example.com") {
			t.Errorf("user %s", u.raw)
		}
		g.refused("a form without a state", g.browse("POST", "/auth/v1/callback?state=in-the-query", "a=b", nil), "https://ines.example?", "invalid_request", "bad_oauth_callback")
		g.refused("a broken form", g.browse("POST", "/auth/v1/callback", "%zz", nil), "https://ines.example?", "invalid_request", "bad_oauth_callback")
		g.refused("a book", g.browse("POST", "/auth/v1/callback", strings.Repeat("x", maxBody+1), nil), "https://ines.example?", "invalid_request", "bad_oauth_callback")
	})
}

// Proves S7-oauth-4.
func TestCallbackRefusesInvalidResponses(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		const to = "https://app.example/in"
		who := userClaims("7", "rui@example.com", true)
		for _, c := range []struct {
			name    string
			change  func(v url.Values)
			claims  func(jwt.MapClaims)
			cookies bool
			between func()
			to      string
			kind    string
			code    string
		}{
			{name: "no state", change: func(v url.Values) { v.Del("state") }, cookies: true, to: "https://ines.example?", kind: "invalid_request", code: "bad_oauth_callback"},
			{name: "another state", change: func(v url.Values) { v.Set("state", randomToken()) }, cookies: true, to: "https://ines.example?", kind: "invalid_request", code: "bad_oauth_state"},
			{name: "another browser", to: to, kind: "invalid_request", code: "bad_oauth_state"},
			{name: "too late", between: func() { g.clock.advance(oauthFlowLife) }, cookies: true, to: "https://ines.example?", kind: "invalid_request", code: "bad_oauth_state"},
			{name: "no code", change: func(v url.Values) { v.Del("code") }, cookies: true, to: to, kind: "invalid_request", code: "bad_oauth_callback"},
			{name: "another code", change: func(v url.Values) { v.Set("code", "x") }, cookies: true, to: to, kind: "server_error", code: "unexpected_failure"},
			{name: "another issuer", change: func(v url.Values) { v.Set("iss", "https://evil.example") }, cookies: true, to: to, kind: "server_error", code: "unexpected_failure"},
			{name: "another nonce", claims: func(m jwt.MapClaims) { m["nonce"] = "x" }, cookies: true, to: to, kind: "server_error", code: "unexpected_failure"},
			{name: "another audience", claims: func(m jwt.MapClaims) { m["aud"] = "x" }, cookies: true, to: to, kind: "server_error", code: "unexpected_failure"},
			{name: "no address", claims: func(m jwt.MapClaims) { m["email"] = "" }, cookies: true, to: to, kind: "server_error", code: "validation_failed"},
			{name: "a provider that went away", between: func() { g.idp.Set(func(s *oauthtest.Server) { s.Down = true }) }, cookies: true, to: to, kind: "temporarily_unavailable", code: "unexpected_failure"},
		} {
			t.Run(c.name, func(t *testing.T) {
				g.idp.Set(func(s *oauthtest.Server) { s.Claims, s.Down = c.claims, false })
				a := g.begin("provider=house&redirect_to=" + to)
				back := g.idp.Consent(a.to.String(), who)
				if c.change != nil {
					c.change(back)
				}
				if c.between != nil {
					c.between()
				}
				var cookies []*http.Cookie
				if c.cookies {
					cookies = a.cookies
				}
				g.refused(c.name, g.browse("GET", "/auth/v1/callback?"+back.Encode(), "", cookies), c.to, c.kind, c.code)
				if state := back.Get("state"); c.to == to { // the failure has consumed the state
					g.idp.Set(func(s *oauthtest.Server) { s.Claims, s.Down = nil, false })
					again := g.idp.Consent(a.to.String(), who)
					again.Set("state", state)
					g.refused("then the same state", g.browse("GET", "/auth/v1/callback?"+again.Encode(), "", a.cookies), "https://ines.example?", "invalid_request", "bad_oauth_state")
				}
			})
		}
		if n := g.count("auth_users"); n != 0 {
			t.Errorf("%d accounts were made", n)
		}
	})
}

// Proves S7-oauth-4.
func TestAStateWorksOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		a := g.begin("provider=house")
		back := g.idp.Consent(a.to.String(), userClaims("7", "rui@example.com", true))
		var wg sync.WaitGroup
		opened := make(chan string, 8)
		for range 8 {
			wg.Go(func() {
				if to := g.browse("GET", "/auth/v1/callback?"+back.Encode(), "", a.cookies); to.fragment.Get("access_token") != "" {
					opened <- to.to.String()
				}
			})
		}
		wg.Wait()
		if len(opened) != 1 {
			t.Errorf("%d sessions", len(opened))
		}
	})
}

// Proves S7-oauth-4.
func TestAStateOfAnotherKindOfFlowIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			_, err := g.startFlow(t.Context(), tx, flowState{authMethod: "sso/saml", provider: "house"}, pkceChallenge{}, "relay-state")
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		g.refused("relay state", g.browse("GET", "/auth/v1/callback?code=x&state=relay-state", "", nil), "https://ines.example?", "invalid_request", "bad_oauth_state")
	})
}

// Proves S7-oauth-5.
func TestRefusedConsentIsReported(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		for _, c := range []struct{ kind, text, wantKind, wantText string }{
			{"access_denied", "The resource owner denied the request", "access_denied", "The resource owner denied the request"},
			{"user_cancelled_authorize", "", "user_cancelled_authorize", "user_cancelled_authorize"},
			{"<script>", "a\x00b\r\nc" + strings.Repeat("é", 400), "server_error", "abc" + strings.Repeat("é", 297)},
		} {
			a := g.begin("provider=house&redirect_to=https://app.example/in")
			v := url.Values{"state": {a.query.Get("state")}, "error": {c.kind}, "error_description": {c.text}}
			got := g.browse("GET", "/auth/v1/callback?"+v.Encode(), "", a.cookies)
			for _, v := range []url.Values{got.query, got.fragment} {
				if v.Get("error") != c.wantKind || v.Get("error_description") != c.wantText || v.Has("access_token") {
					t.Errorf("%s: sent to %s", c.kind, got.to)
				}
			}
			g.refused("the state again", g.browse("GET", "/auth/v1/callback?"+v.Encode(), "", a.cookies), "https://ines.example?", "invalid_request", "bad_oauth_state")
		}
	})
}

func TestConcurrentFirstSignInsOfOnePerson(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		var wg sync.WaitGroup
		for range 6 {
			a := g.begin("provider=house")
			back := g.idp.Consent(a.to.String(), userClaims("7", "rui@example.com", true))
			wg.Go(func() {
				if to := g.browse("GET", "/auth/v1/callback?"+back.Encode(), "", a.cookies); to.fragment.Get("access_token") == "" {
					t.Errorf("sent to %s", to.to)
				}
			})
		}
		wg.Wait()
		if g.count("auth_users") != 1 || g.count("auth_identities") != 1 {
			t.Errorf("%d accounts, %d identities", g.count("auth_users"), g.count("auth_identities"))
		}
	})
}

func TestErrorKinds(t *testing.T) {
	for _, c := range []struct {
		e    *apperr.Error
		want string
	}{
		{errSignupDisabled, "access_denied"}, {errUserBanned, "access_denied"}, {errProviderEmailUnverified, "access_denied"}, {errOAuthState, "invalid_request"},
		{errLinkingAAL, "unauthorized_client"}, {errIdentityExists, "server_error"}, {errProviderDown, "temporarily_unavailable"},
		{apperr.New(http.StatusForbidden, "x", "y"), "access_denied"},
	} {
		if got := oauthErrorCode(c.e); got != c.want {
			t.Errorf("%s: %s", c.e.Code, got)
		}
	}
}

// Proves A-safe-19.
//
// FuzzCallback checks that no response signs anybody in without a flow, or redirects the browser to another site.
func FuzzCallback(f *testing.F) {
	for _, seed := range []string{"", "state=x&code=y", "error=access_denied&error_description=%3Cscript%3E&state=s", "state=%00&code=%ff", "state=a&state=b", "iss=https://evil.example&state=x&code=y&user={"} {
		f.Add(seed, false)
		f.Add(seed, true)
	}
	d := dbtest.Open(f, db.SQLite)
	g := newOAuthFixture(f, d)
	f.Fuzz(func(t *testing.T, text string, post bool) {
		method, target, body := http.MethodGet, "/auth/v1/callback", ""
		if post {
			method, body = http.MethodPost, text
		}
		r := httptest.NewRequest(method, target, strings.NewReader(body))
		if !post {
			r.URL.RawQuery = text
		}
		w := httptest.NewRecorder()
		g.handler.ServeHTTP(w, r)
		to, err := url.Parse(w.Header().Get("Location"))
		if err != nil || w.Code != http.StatusSeeOther || to.Scheme != "https" || to.Host != "ines.example" || strings.Contains(to.Fragment, "access_token") || to.Query().Get("error") == "" {
			t.Errorf("%d to %s, %v", w.Code, to, err)
		}
	})
}

// Proves S7-oauth-8.
func TestCallbackOfARemovedProvider(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		a := g.begin("provider=house")
		back := g.idp.Consent(a.to.String(), userClaims("7", "rui@example.com", true))
		delete(g.cfg.Providers, "house")
		g.refused("no settings", g.browse("GET", "/auth/v1/callback?"+back.Encode(), "", a.cookies), "https://ines.example?", "invalid_request", "oauth_provider_not_supported")
	})
}
