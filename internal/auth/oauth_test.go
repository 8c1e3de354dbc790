package auth

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"atelie/internal/auth/oauth"
	"atelie/internal/auth/oauth/oauthtest"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

var _ = serve(func(s *Service) map[string]httpx.Handler {
	return map[string]httpx.Handler{
		"public GET /auth/v1/authorize": s.Authorize, "public GET /auth/v1/callback": s.Callback, "public POST /auth/v1/callback": s.Callback,
		"GET /auth/v1/user/identities/authorize": s.LinkIdentity, "DELETE /auth/v1/user/identities/{identity_id}": s.UnlinkIdentity,
	}
})

// oauthFixture is a fixture whose accounts can sign in at an OAuth provider.
type oauthFixture struct {
	*fixture
	idp *oauthtest.Server
}

// newOAuthFixture returns a fixture with the providers house (OpenID Connect) and apple (whose callback is a POST), both at the same test
// server. Sign-up is open and identities may be linked, unless settings change that.
func newOAuthFixture(t testing.TB, d *db.DB, settings ...func(*Config)) *oauthFixture {
	t.Helper()
	g := &oauthFixture{}
	open := func(c *Config) {
		c.SignupOpen, c.ManualLinking, c.RateLimited = true, true, false
		c.RedirectURLs = []string{"https://app.example/**"}
	}
	g.fixture = newFixture(t, d, append([]func(*Config){open}, settings...)...)
	g.idp = oauthtest.New(t, g.clock.now)
	g.cfg.Providers = map[string]*oauth.Provider{}
	for _, name := range []string{"house", "apple"} {
		p, err := oauth.New(oauth.Settings{Name: name, Issuer: g.idp.URL, ClientIDs: []string{oauthtest.ClientID}, ClientSecret: oauthtest.ClientSecret},
			"https://ines.example/auth/v1/callback", g.clock.now)
		if err != nil {
			t.Fatal(err)
		}
		g.cfg.Providers[name] = p
	}
	return g
}

// response is the response to a browser, with the parts of the URL to which it was redirected.
type response struct {
	status   int
	to       *url.URL
	query    url.Values
	fragment url.Values
	cookies  []*http.Cookie
	raw      string
}

func (g *oauthFixture) browse(method, target, form string, cookies []*http.Cookie) response {
	g.t.Helper()
	r := httptest.NewRequest(method, target, strings.NewReader(form))
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	for _, c := range cookies {
		r.AddCookie(c)
	}
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	out := response{status: w.Code, raw: w.Body.String()}
	result := w.Result()
	defer func() { _ = result.Body.Close() }()
	out.cookies = result.Cookies()
	var err error
	if out.to, err = url.Parse(w.Header().Get("Location")); err != nil {
		g.t.Fatal(err)
	}
	out.query = out.to.Query()
	if out.fragment, err = url.ParseQuery(out.to.EscapedFragment()); err != nil {
		g.t.Fatal(err)
	}
	return out
}

// begin requests /authorize as a browser does.
func (g *oauthFixture) begin(query string) response {
	g.t.Helper()
	a := g.browse("GET", "/auth/v1/authorize?"+query, "", nil)
	if a.status != http.StatusFound {
		g.t.Fatalf("authorize: %d %s", a.status, a.raw)
	}
	return a
}

// visit is a whole sign-in in one browser. who are the person's claims at the provider.
func (g *oauthFixture) visit(query string, who map[string]any) response {
	g.t.Helper()
	g.clock.advance(time.Second) // so that later rows have later times
	a := g.begin(query)
	back := g.idp.Consent(a.to.String(), who)
	return g.browse("GET", "/auth/v1/callback?"+back.Encode(), "", a.cookies)
}

// session is a visit that must open a session.
func (g *oauthFixture) session(who map[string]any) response {
	g.t.Helper()
	a := g.visit("provider=house", who)
	if a.fragment.Get("access_token") == "" {
		g.t.Fatalf("no session: %s", a.to)
	}
	return a
}

func userClaims(sub, email string, verified bool) map[string]any {
	return map[string]any{"sub": sub, "email": email, "email_verified": verified, "name": "Rui Costa", "role": "admin", "app_metadata": map[string]any{"role": "admin"}}
}

func with(who map[string]any, name string, value any) map[string]any {
	who = maps.Clone(who)
	who[name] = value
	return who
}

func (g *oauthFixture) refused(what string, a response, to, kind, code string) {
	g.t.Helper()
	for _, v := range []url.Values{a.query, a.fragment} {
		if v.Get("error") != kind || v.Get("error_code") != code || v.Get("error_description") == "" {
			g.t.Errorf("%s: sent to %s, want %s %s", what, a.to, kind, code)
			return
		}
	}
	if a.status != http.StatusSeeOther || !strings.HasPrefix(a.to.String(), to) || a.fragment.Has("access_token") || a.query.Has("code") {
		g.t.Errorf("%s: %d to %s", what, a.status, a.to)
	}
}
