package auth

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"atelie/internal/auth/oauth/oauthtest"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// A verifier and its challenge, from RFC 7636, appendix B.
const exampleChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
const exampleVerifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"

// Proves S7-oauth-1.
func TestAuthorizeSendsTheBrowserToTheProvider(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		a := g.begin("provider=House&scopes=calendar&prompt=consent&redirect_uri=https://evil.example&state=mine&nonce=mine&skip_http_redirect=true")
		q := a.query
		if !strings.HasPrefix(a.to.String(), g.idp.URL+"/authorize?") || q.Get("redirect_uri") != "https://ines.example/auth/v1/callback" ||
			q.Get("state") == "mine" || q.Get("nonce") == "mine" || len(q["state"]) != 1 || q.Get("prompt") != "consent" ||
			q.Get("scope") != "openid email profile calendar" || q.Get("code_challenge_method") != "S256" {
			t.Errorf("sent to %s", a.to)
		}
		if g.value("select coalesce(provider_secrets, '') from auth_flow_states") == "" || g.value("select provider_state_hash from auth_flow_states") == q.Get("state") {
			t.Error("the flow is not stored as expected")
		}
		if len(a.cookies) != 1 || !a.cookies[0].HttpOnly || !a.cookies[0].Secure || a.cookies[0].SameSite != http.SameSiteLaxMode || a.cookies[0].Path != "/auth/v1/callback" {
			t.Errorf("cookies %v", a.cookies)
		}
		if a := g.begin("provider=custom:house&code_challenge=" + exampleChallenge + "&code_challenge_method=s256"); len(a.cookies) != 0 {
			t.Errorf("a PKCE flow leaves cookies: %v", a.cookies)
		}
		if a := g.begin("provider=apple"); len(a.cookies) != 1 || a.cookies[0].SameSite != http.SameSiteNoneMode || a.query.Get("response_mode") != "form_post" {
			t.Errorf("apple: %s %v", a.to, a.cookies)
		}
	})
}

// Proves S7-oauth-8, S7-oauth-9.
func TestAuthorizeRefusesInvalidRequests(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		for query, want := range map[string]string{
			"":                   "Unsupported provider: provider is not enabled",
			"provider=google":    "Unsupported provider: provider is not enabled",
			"provider=%00%ff%20": "Unsupported provider: provider is not enabled",
			"provider=house&code_challenge=short&code_challenge_method=s256":                       "code challenge has to be",
			"provider=house&code_challenge=" + exampleChallenge:                                    "PKCE flow requires",
			"provider=house&code_challenge_method=s256&code_challenge=" + exampleChallenge + "%20": "code challenge has to be",
		} {
			r := g.call("GET", "/auth/v1/authorize?"+query, "", "")
			g.expect(query, r, http.StatusBadRequest, "validation_failed")
			if !strings.HasPrefix(r.text("msg"), want) {
				t.Errorf("%s: %s", query, r.raw)
			}
		}
		if n := g.count("auth_flow_states"); n != 0 {
			t.Errorf("%d flows are kept", n)
		}
		g.idp.Set(func(s *oauthtest.Server) { s.Down = true })
		a := g.browse("GET", "/auth/v1/authorize?provider=house&redirect_to=https://app.example/in", "", nil)
		g.refused("a provider that is down", a, "https://app.example/in?", "temporarily_unavailable", "unexpected_failure")
	})
}

func TestAuthorizeIsLimited(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d, func(c *Config) { c.RateLimited = true })
		for range authorizesPerIP {
			g.begin("provider=house")
		}
		if a := g.browse("GET", "/auth/v1/authorize?provider=house", "", nil); a.status != http.StatusTooManyRequests {
			t.Errorf("got %d", a.status)
		}
	})
}

// hostileRedirects are URLs to which a browser must never be redirected.
var hostileRedirects = []string{
	"https://evil.example", "https://evil.example/app.example/x", "//evil.example", "https://ines.example@evil.example/", "https://ines.example.evil.example/",
	"javascript:alert(1)", "data:text/html,x", "https://app.example:8443/x", "http://ines.example/", "https:\\\\evil.example", "https://app.example@evil.example/x",
	"\thttps://evil.example", "/\\evil.example", "https:evil.example", "ines.example", "https://evil.example#https://ines.example/", "https://appxexample/y",
}

// Proves A-safe-13.
func TestRedirectsRefuseOtherSites(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		g := newOAuthFixture(t, d)
		for _, to := range hostileRedirects {
			a := g.visit("provider=house&redirect_to="+url.QueryEscape(to), userClaims("7", "rui@example.com", true))
			if a.to.Scheme != "https" || a.to.Host != "ines.example" {
				t.Errorf("%q leads to %s", to, a.to)
			}
		}
		for to, want := range map[string]string{
			"https://app.example/in?x=1#old": "https://app.example/in?x=1#access_token=", "https://ines.example/admin": "https://ines.example/admin#access_token=", "": "https://ines.example#access_token=",
		} {
			if a := g.visit("provider=house&redirect_to="+url.QueryEscape(to), userClaims("7", "rui@example.com", true)); !strings.HasPrefix(a.to.String(), want) {
				t.Errorf("%q leads to %s", to, a.to)
			}
		}
	})
}

// Proves A-safe-19.
//
// FuzzAuthorizeRedirect checks that for any redirect_to, a flow ends at the site or at an allowed URL, as a browser parses the URL.
func FuzzAuthorizeRedirect(f *testing.F) {
	for _, seed := range hostileRedirects {
		f.Add(seed)
	}
	f.Add("https://app.example/in?next=//evil.example")
	d := dbtest.Open(f, db.SQLite)
	g := newOAuthFixture(f, d)
	g.begin("provider=house") // reads the provider's configuration
	f.Fuzz(func(t *testing.T, to string) {
		if _, err := d.Exec(t.Context(), "delete from auth_flow_states"); err != nil {
			t.Fatal(err)
		}
		r := httptest.NewRequest(http.MethodGet, "/auth/v1/authorize?"+url.Values{"provider": {"house"}, "redirect_to": {to}}.Encode(), nil)
		w := httptest.NewRecorder()
		g.handler.ServeHTTP(w, r)
		if w.Code != http.StatusFound || !strings.HasPrefix(w.Header().Get("Location"), g.idp.URL+"/") {
			t.Fatalf("%d to %s", w.Code, w.Header().Get("Location"))
		}
		var kept string
		if err := d.QueryRow(t.Context(), "select redirect_to from auth_flow_states").Scan(&kept); err != nil {
			t.Fatal(err)
		}
		u, err := url.Parse(kept)
		if err != nil || u.Scheme != "https" || (u.Host != "ines.example" && u.Host != "app.example") || u.User != nil || strings.ContainsAny(kept, "\\\t\r\n") {
			t.Errorf("%q is kept as %q, %v", to, kept, err)
		}
	})
}
