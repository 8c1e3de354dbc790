package oauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/auth/oauth/oauthtest"
)

const callback = "https://ines.example/auth/v1/callback"

// clock is a clock that the test sets.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// testProvider is a Provider and the test server that it calls.
type testProvider struct {
	*Provider
	t     *testing.T
	idp   *oauthtest.Server
	clock *clock
}

func newTestProvider(t *testing.T, name string, change func(*Settings)) *testProvider {
	t.Helper()
	c := &clock{at: time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)}
	idp := oauthtest.New(t, c.now)
	s := Settings{Name: name, Issuer: idp.URL, ClientIDs: []string{oauthtest.ClientID}, ClientSecret: oauthtest.ClientSecret}
	if change != nil {
		change(&s)
	}
	p, err := New(s, callback, c.now)
	if err != nil {
		t.Fatal(err)
	}
	return &testProvider{p, t, idp, c}
}

var request = Request{State: "the-state", Nonce: "the-nonce", Verifier: "a-verifier-of-at-least-forty-three-characters-0123"}

func (h *testProvider) authorize(r Request) *url.URL {
	h.t.Helper()
	address, err := h.AuthorizeURL(h.t.Context(), r)
	if err != nil {
		h.t.Fatal(err)
	}
	u, err := url.Parse(address)
	if err != nil {
		h.t.Fatal(err)
	}
	return u
}

// signIn performs a whole sign-in. change may modify the parameters of the callback.
func (h *testProvider) signIn(who map[string]any, change func(*Callback)) (Identity, error) {
	h.t.Helper()
	back := h.idp.Consent(h.authorize(request).String(), who)
	a := Callback{Code: back.Get("code"), Nonce: request.Nonce, Verifier: request.Verifier}
	if change != nil {
		change(&a)
	}
	return h.Exchange(h.t.Context(), a)
}

func (h *testProvider) mustSignIn(who map[string]any) Identity {
	h.t.Helper()
	got, err := h.signIn(who, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return got
}

var ines = map[string]any{
	"sub": "248289761001", "email": "ines@example.pt", "email_verified": true, "name": "Inês Sá", "picture": "https://id.example/ines.png",
	"role": "admin", "app_metadata": map[string]any{"role": "admin"}, "groups": []string{"owners"},
}

// Proves S7-oauth-1.
func TestAuthorizeURLHasStateNonceAndPKCE(t *testing.T) {
	h := newTestProvider(t, "house", func(s *Settings) { s.Scopes = []string{"offline_access"} })
	r := request
	r.Scopes = []string{"calendar", "email", "bad\"scope"}
	r.Extra = url.Values{"prompt": {"consent"}, "redirect_uri": {"https://evil.example"}, "client_id": {"x"}, "state": {"y"}, "nonce": {"z"},
		"response_type": {"token"}, "code_challenge_method": {"plain"}, "request_uri": {"https://evil.example"}, "hd": {strings.Repeat("x", maxExtraBytes+1)}}
	u := h.authorize(r)
	if got := u.Scheme + "://" + u.Host + u.Path; got != h.idp.URL+"/authorize" {
		t.Errorf("the URL is %s", got)
	}
	for name, want := range map[string]string{
		"client_id": oauthtest.ClientID, "redirect_uri": callback, "response_type": "code", "state": "the-state", "nonce": "the-nonce",
		"code_challenge_method": "S256", "prompt": "consent", "scope": "openid email profile offline_access calendar", "request_uri": "", "hd": "", "response_mode": "",
	} {
		if got := u.Query()[name]; len(got) > 1 || u.Query().Get(name) != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestExchangeReturnsAnIdentityWithoutRights(t *testing.T) {
	h := newTestProvider(t, "house", nil)
	got := h.mustSignIn(ines)
	if got.Subject != "248289761001" || got.Email != "ines@example.pt" || !got.EmailVerified || got.EmailVerifiedByPolicy || got.Name != "Inês Sá" || got.AvatarURL != "https://id.example/ines.png" {
		t.Errorf("got %+v", got)
	}
	if !strings.HasPrefix(got.AccessToken, "access-") || !strings.HasPrefix(got.RefreshToken, "refresh-") {
		t.Errorf("provider tokens: %q %q", got.AccessToken, got.RefreshToken)
	}
	for name, want := range map[string]any{"iss": h.idp.URL, "sub": "248289761001", "provider_id": "248289761001", "email": "ines@example.pt", "email_verified": true,
		"phone_verified": false, "full_name": "Inês Sá", "avatar_url": "https://id.example/ines.png"} {
		if got.Claims[name] != want {
			t.Errorf("claim %s: %v, want %v", name, got.Claims[name], want)
		}
	}
	for _, name := range []string{"role", "app_metadata", "groups", "aud", "nonce", "at_hash"} {
		if _, kept := got.Claims[name]; kept {
			t.Errorf("%s is kept", name)
		}
	}
}

func TestExchangeReadsMissingClaimsFromUserinfo(t *testing.T) {
	h := newTestProvider(t, "house", nil)
	h.idp.Claims = func(c jwt.MapClaims) { delete(c, "email"); delete(c, "email_verified"); delete(c, "name") }
	if got := h.mustSignIn(ines); got.Email != "ines@example.pt" || !got.EmailVerified || got.Name != "Inês Sá" {
		t.Errorf("got %+v", got)
	}
	h.idp.Responses["/userinfo"] = map[string]any{"sub": "somebody-else", "email": "owner@example.com", "email_verified": true}
	if _, err := h.signIn(ines, nil); !errors.Is(err, ErrRefused) {
		t.Errorf("userinfo about somebody else: %v", err)
	}
}

func TestExchangeRefusesInvalidResponses(t *testing.T) {
	for _, c := range []struct {
		name   string
		answer func(*Callback)
		claims func(*testProvider, jwt.MapClaims)
		want   error
	}{
		{name: "an unknown code", answer: func(a *Callback) { a.Code = "no-code" }},
		{name: "another verifier", answer: func(a *Callback) { a.Verifier = strings.Repeat("x", 43) }},
		{name: "another nonce", answer: func(a *Callback) { a.Nonce = "other" }, want: ErrNonceMismatch},
		{name: "no nonce in the token", claims: func(_ *testProvider, c jwt.MapClaims) { delete(c, "nonce") }, want: ErrNonceMismatch},
		{name: "another issuer in the answer", answer: func(a *Callback) { a.Issuer = "https://evil.example" }},
		{name: "another issuer in the token", claims: func(_ *testProvider, c jwt.MapClaims) { c["iss"] = "https://evil.example" }},
		{name: "another audience", claims: func(_ *testProvider, c jwt.MapClaims) { c["aud"] = "someone-else" }, want: ErrAudience},
		{name: "a token made for another party", claims: func(_ *testProvider, c jwt.MapClaims) {
			c["aud"], c["azp"] = []string{oauthtest.ClientID, "someone-else"}, "someone-else"
		}, want: ErrAudience},
		{name: "an expired token", claims: func(h *testProvider, c jwt.MapClaims) { c["exp"] = h.clock.now().Add(-time.Second).Unix() }},
		{name: "a token of tomorrow", claims: func(h *testProvider, c jwt.MapClaims) { c["nbf"] = h.clock.now().Add(time.Hour).Unix() }},
		{name: "another access token", claims: func(_ *testProvider, c jwt.MapClaims) { c["at_hash"] = oauthtest.AccessTokenHash("other") }},
		{name: "no subject", claims: func(_ *testProvider, c jwt.MapClaims) { delete(c, "sub") }},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newTestProvider(t, "house", nil)
			if c.claims != nil {
				h.idp.Claims = func(m jwt.MapClaims) { c.claims(h, m) }
			}
			_, err := h.signIn(ines, c.answer)
			if !errors.Is(err, ErrRefused) || c.want != nil && !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestWrongClientSecretIsRefusedAndNotRevealed(t *testing.T) {
	h := newTestProvider(t, "house", func(s *Settings) { s.ClientSecret = "the-wrong-secret" })
	_, err := h.signIn(ines, nil)
	if !errors.Is(err, ErrRefused) || strings.Contains(err.Error(), "the-wrong-secret") || !strings.Contains(err.Error(), "invalid_client") {
		t.Errorf("got %v", err)
	}
}

func TestAuthorizationCodeWorksOnce(t *testing.T) {
	h := newTestProvider(t, "house", nil)
	back := h.idp.Consent(h.authorize(request).String(), ines)
	a := Callback{Code: back.Get("code"), Nonce: request.Nonce, Verifier: request.Verifier}
	if _, err := h.Exchange(t.Context(), a); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Exchange(t.Context(), a); !errors.Is(err, ErrRefused) {
		t.Errorf("second use: %v", err)
	}
}

// Proves S7-token-13.
func TestIDTokensOfClients(t *testing.T) {
	h := newTestProvider(t, "house", func(s *Settings) { s.ClientIDs = append(s.ClientIDs, "our-app") })
	hash := func(nonce string) string { sum := sha256.Sum256([]byte(nonce)); return hex.EncodeToString(sum[:]) }
	in := func(d time.Duration) int64 { return h.clock.now().Add(d).Unix() }
	good := func(change map[string]any) string {
		claims := map[string]any{"sub": "7", "email": "ines@example.pt", "email_verified": "true"}
		for k, v := range change {
			claims[k] = v
		}
		return h.idp.IDToken(claims)
	}
	shared := h.idp.Sign(jwt.SigningMethodHS256, []byte(oauthtest.ClientSecret), jwt.MapClaims{"iss": h.idp.URL, "aud": oauthtest.ClientID, "sub": "7", "exp": in(time.Hour)})
	other, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	forged := h.idp.Sign(jwt.SigningMethodES256, other, jwt.MapClaims{"iss": h.idp.URL, "aud": oauthtest.ClientID, "sub": "7", "exp": in(time.Hour)})
	unsigned := h.idp.Sign(jwt.SigningMethodNone, jwt.UnsafeAllowNoneSignatureType, jwt.MapClaims{"iss": h.idp.URL, "aud": oauthtest.ClientID, "sub": "7", "exp": in(time.Hour)})
	for _, c := range []struct {
		name  string
		token IDToken
		want  error
	}{
		{"good", IDToken{Raw: good(nil)}, nil},
		{"with a nonce", IDToken{Raw: good(map[string]any{"nonce": hash("n")}), Nonce: "n"}, nil},
		{"for our app", IDToken{Raw: good(map[string]any{"aud": "our-app"})}, nil},
		{"with its access token", IDToken{Raw: good(map[string]any{"at_hash": oauthtest.AccessTokenHash("t")}), AccessToken: "t"}, nil},
		{"without the access token that it names", IDToken{Raw: good(map[string]any{"at_hash": oauthtest.AccessTokenHash("t")})}, nil},
		{"another access token", IDToken{Raw: good(map[string]any{"at_hash": oauthtest.AccessTokenHash("t")}), AccessToken: "u"}, ErrRefused},
		{"bare nonce", IDToken{Raw: good(map[string]any{"nonce": "n"}), Nonce: "n"}, ErrNonceMismatch},
		{"another nonce", IDToken{Raw: good(map[string]any{"nonce": hash("n")}), Nonce: "m"}, ErrNonceMismatch},
		{"nonce not given", IDToken{Raw: good(map[string]any{"nonce": hash("n")})}, ErrNonceMissing},
		{"nonce not in the token", IDToken{Raw: good(nil), Nonce: "n"}, ErrNonceMissing},
		{"another audience", IDToken{Raw: good(map[string]any{"aud": "x"})}, ErrAudience},
		{"another issuer", IDToken{Raw: good(map[string]any{"iss": "https://evil.example"})}, ErrRefused},
		{"expired", IDToken{Raw: good(map[string]any{"exp": in(-time.Second)})}, ErrRefused},
		{"alg none", IDToken{Raw: unsigned}, ErrRefused},
		{"signed with the client secret", IDToken{Raw: shared}, ErrRefused},
		{"signed with another key", IDToken{Raw: forged}, ErrRefused},
		{"nonsense", IDToken{Raw: "a.b.c"}, ErrRefused},
		{"nothing", IDToken{}, ErrRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := h.VerifyIDToken(t.Context(), c.token)
			if c.want == nil {
				if err != nil || got.Subject != "7" || !got.EmailVerified || got.Email != "ines@example.pt" {
					t.Errorf("got %+v, %v", got, err)
				}
				return
			}
			if !errors.Is(err, c.want) || !errors.Is(err, ErrRefused) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// Proves S7-oauth-9.
func TestUnavailableProviderIsRetried(t *testing.T) {
	h := newTestProvider(t, "house", nil)
	const path = "/.well-known/openid-configuration"
	h.idp.Set(func(s *oauthtest.Server) { s.Down = true })
	for range 3 { // the next visitors do not wait for the provider again
		if _, err := h.AuthorizeURL(t.Context(), request); !errors.Is(err, ErrUnavailable) {
			t.Fatalf("got %v", err)
		}
	}
	if n := h.idp.Requests(path); n != 1 {
		t.Errorf("%d requests", n)
	}
	h.idp.Set(func(s *oauthtest.Server) { s.Down = false })
	h.clock.advance(minRetryInterval)
	h.authorize(request)
	h.authorize(request)
	if n := h.idp.Requests(path); n != 2 {
		t.Errorf("%d requests, want the valid response to be cached", n)
	}
	h.idp.Set(func(s *oauthtest.Server) { s.Down = true })
	h.clock.advance(configurationLife)
	h.authorize(request) // with the configuration that was read before
	if n := h.idp.Requests(path); n != 3 {
		t.Errorf("%d requests", n)
	}
}

func TestConcurrentVisitorsCauseOneRead(t *testing.T) {
	h := newTestProvider(t, "house", nil)
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := h.AuthorizeURL(t.Context(), request); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := h.idp.Requests("/.well-known/openid-configuration"); n != 1 {
		t.Errorf("%d reads", n)
	}
}

func TestBadConfigurationsAreRefused(t *testing.T) {
	for name, change := range map[string]func(map[string]any){
		"another issuer":     func(c map[string]any) { c["issuer"] = "https://evil.example" },
		"no token endpoint":  func(c map[string]any) { delete(c, "token_endpoint") },
		"token over ftp":     func(c map[string]any) { c["token_endpoint"] = "ftp://127.0.0.1/token" },
		"credentials in it":  func(c map[string]any) { c["jwks_uri"] = "https://me:me@id.example/keys" },
		"not an address":     func(c map[string]any) { c["authorization_endpoint"] = "javascript:alert(1)" },
		"larger than a book": func(c map[string]any) { c["padding"] = strings.Repeat("x", maxResponseBytes) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newTestProvider(t, "house", nil)
			h.idp.Configuration = change
			if _, err := h.AuthorizeURL(t.Context(), request); !errors.Is(err, ErrUnavailable) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestEndpointsOfASecureIssuerAreSecure(t *testing.T) {
	for address, ok := range map[string]bool{"https://id.example/token": true, "http://id.example/token": false, "http://169.254.169.254/latest": false} {
		if err := checkEndpoint(address, "https://id.example"); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

func TestRedirectsOfProvidersAreNotFollowed(t *testing.T) {
	reached := false
	inside := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached = true }))
	defer inside.Close()
	sender := httptest.NewServer(http.RedirectHandler(inside.URL, http.StatusTemporaryRedirect))
	defer sender.Close()
	p, err := New(Settings{Name: "house", Issuer: sender.URL, ClientIDs: []string{"x"}}, callback, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.AuthorizeURL(t.Context(), request); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
	if reached {
		t.Error("the redirect was followed")
	}
}

// Proves S7-oauth-9.
func TestProviderWithoutResponseTimesOut(t *testing.T) {
	end := make(chan struct{})
	silent := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-end }))
	defer silent.Close()
	defer close(end)
	p, err := New(Settings{Name: "house", Issuer: silent.URL, ClientIDs: []string{"x"}}, callback, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	if p.client.Timeout != requestTimeout {
		t.Errorf("the limit is %s", p.client.Timeout)
	}
	p.client.Timeout = 50 * time.Millisecond
	if _, err := p.AuthorizeURL(t.Context(), request); !errors.Is(err, ErrUnavailable) {
		t.Errorf("got %v", err)
	}
}

func TestInvalidProviderSettings(t *testing.T) {
	for name, s := range map[string]Settings{
		"no client id":      {Name: "google"},
		"empty client id":   {Name: "google", ClientIDs: []string{""}},
		"no issuer":         {Name: "house", ClientIDs: []string{"x"}},
		"http issuer":       {Name: "house", ClientIDs: []string{"x"}, Issuer: "http://id.example"},
		"issuer with query": {Name: "house", ClientIDs: []string{"x"}, Issuer: "https://id.example?a=b"},
		"bad scope":         {Name: "google", ClientIDs: []string{"x"}, Scopes: []string{"a b"}},
		"half an apple":     {Name: "apple", ClientIDs: []string{"x"}, TeamID: "T"},
		"an apple's key":    {Name: "apple", ClientIDs: []string{"x"}, TeamID: "T", KeyID: "K", ClientSecret: "none"},
	} {
		if _, err := New(s, callback, time.Now); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, name := range []string{"google", "apple", "github", "facebook", "discord"} {
		if _, err := New(Settings{Name: name, ClientIDs: []string{"x"}}, callback, time.Now); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Proves S7-oauth-6.
func TestGitHub(t *testing.T) {
	h := newTestProvider(t, "github", nil)
	h.idp.Responses["/api/v3/user"] = map[string]any{"login": "octocat", "id": 583231, "avatar_url": "https://avatars.githubusercontent.com/u/583231", "name": "The Octocat", "email": nil, "site_admin": true}
	h.idp.Responses["/api/v3/user/emails"] = []any{
		map[string]any{"email": "other@example.com", "primary": false, "verified": true, "visibility": nil},
		map[string]any{"email": "octocat@github.com", "primary": true, "verified": true, "visibility": "public"},
	}
	u := h.authorize(request)
	if u.Path != "/login/oauth/authorize" || u.Query().Get("scope") != "user:email" || u.Query().Get("nonce") != "" || u.Query().Get("code_challenge") == "" {
		t.Errorf("the URL is %s", u)
	}
	got := h.mustSignIn(map[string]any{"sub": "-"})
	if got.Subject != "583231" || got.Email != "octocat@github.com" || !got.EmailVerified || got.Name != "The Octocat" || got.Claims["user_name"] != "octocat" || got.RefreshToken != "" {
		t.Errorf("got %+v", got)
	}
	h.idp.Responses["/api/v3/user/emails"] = []any{map[string]any{"email": "octocat@github.com", "primary": true, "verified": false}}
	if got := h.mustSignIn(map[string]any{"sub": "-"}); got.EmailVerified || got.Claims["email_verified"] != false {
		t.Errorf("got %+v", got)
	}
	h.idp.Responses["/api/v3/user"] = map[string]any{"message": "something else"}
	if _, err := h.signIn(map[string]any{"sub": "-"}, nil); !errors.Is(err, ErrRefused) {
		t.Errorf("no id: %v", err)
	}
	if _, err := h.VerifyIDToken(t.Context(), IDToken{Raw: h.idp.IDToken(map[string]any{"sub": "1"})}); !errors.Is(err, ErrRefused) {
		t.Errorf("ID token: %v", err)
	}
}

// Proves S7-oauth-6.
func TestFacebook(t *testing.T) {
	h := newTestProvider(t, "facebook", nil)
	h.idp.Responses["/me"] = map[string]any{"id": "10221", "email": "ines@example.pt", "first_name": "Inês", "last_name": "Sá", "name": "Inês de Sá",
		"picture": map[string]any{"data": map[string]any{"height": 50, "url": "https://platform-lookaside.fbsbx.com/p.jpg", "is_silhouette": false}}}
	if u := h.authorize(request); u.Path != "/dialog/oauth" || u.Query().Get("code_challenge") != "" || u.Query().Get("nonce") != "" {
		t.Errorf("the URL is %s", u)
	}
	got := h.mustSignIn(map[string]any{"sub": "-"})
	if got.Subject != "10221" || got.Email != "ines@example.pt" || !got.EmailVerified || !got.EmailVerifiedByPolicy || got.Name != "Inês Sá" || got.AvatarURL != "https://platform-lookaside.fbsbx.com/p.jpg" || got.Claims["nickname"] != "Inês de Sá" {
		t.Errorf("got %+v", got)
	}
	h.idp.Responses["/me"] = map[string]any{"id": "10221", "name": "Inês"}
	if got := h.mustSignIn(map[string]any{"sub": "-"}); got.Email != "" || got.EmailVerified || got.Name != "Inês" {
		t.Errorf("without an address: %+v", got)
	}
	limited, err := h.VerifyIDToken(t.Context(), IDToken{Raw: h.idp.IDToken(map[string]any{"sub": "10221", "email": "ines@example.pt", "nonce": "made up by the library"})})
	if err != nil || !limited.EmailVerified || !limited.EmailVerifiedByPolicy {
		t.Errorf("limited login: %+v, %v", limited, err)
	}
}

// Proves S7-oauth-6.
func TestDiscord(t *testing.T) {
	h := newTestProvider(t, "discord", nil)
	for _, c := range []struct {
		user         map[string]any
		name, avatar string
		verified     bool
	}{
		{map[string]any{"id": "80351110224678912", "username": "Nelly", "discriminator": "1337", "avatar": "8342729096ea3675442027381ff50dfe", "verified": true, "email": "nelly@discord.com"},
			"Nelly#1337", "https://cdn.discordapp.com/avatars/80351110224678912/8342729096ea3675442027381ff50dfe.png", true},
		{map[string]any{"id": "80351110224678912", "username": "nelly", "discriminator": "0", "avatar": "a_83", "verified": false, "email": "nelly@discord.com"},
			"nelly", "https://cdn.discordapp.com/avatars/80351110224678912/a_83.gif", false},
		{map[string]any{"id": "80351110224678912", "username": "nelly", "discriminator": "0", "avatar": nil, "verified": true, "email": "nelly@discord.com"},
			"nelly", "https://cdn.discordapp.com/embed/avatars/5.png", true},
		{map[string]any{"id": "80351110224678912", "username": "nelly", "discriminator": "1337", "avatar": nil, "verified": true, "email": nil},
			"nelly#1337", "https://cdn.discordapp.com/embed/avatars/2.png", false},
	} {
		h.idp.Responses["/api/users/@me"] = c.user
		got := h.mustSignIn(map[string]any{"sub": "-"})
		if got.Subject != "80351110224678912" || got.Name != c.name || got.AvatarURL != c.avatar || got.EmailVerified != c.verified {
			t.Errorf("got %+v", got)
		}
	}
	h.idp.Responses["/api/users/@me"] = map[string]any{"message": "401: Unauthorized", "code": 0}
	if _, err := h.signIn(map[string]any{"sub": "-"}, nil); !errors.Is(err, ErrRefused) {
		t.Errorf("no id: %v", err)
	}
}

// Proves S7-oauth-6.
func TestApple(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	h := newTestProvider(t, "apple", func(s *Settings) {
		s.TeamID, s.KeyID = "TEAM123456", "KEY1234567"
		s.ClientSecret = strings.ReplaceAll(string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})), "\n", `\n`) // as in an environment variable without line breaks
	})
	h.idp.Configuration = func(c map[string]any) {
		delete(c, "userinfo_endpoint")
		delete(c, "code_challenge_methods_supported")
		c["token_endpoint_auth_methods_supported"] = []string{"client_secret_post"}
	}
	h.idp.CheckSecret = func(secret string) bool {
		var claims jwt.RegisteredClaims
		token, err := jwt.ParseWithClaims(secret, &claims, func(*jwt.Token) (any, error) { return key.Public(), nil },
			jwt.WithValidMethods([]string{"ES256"}), jwt.WithIssuer("TEAM123456"), jwt.WithSubject(oauthtest.ClientID), jwt.WithAudience(h.idp.URL),
			jwt.WithExpirationRequired(), jwt.WithTimeFunc(h.clock.now))
		return err == nil && token.Header["kid"] == "KEY1234567"
	}
	u := h.authorize(request)
	if !h.FormPost() || u.Query().Get("response_mode") != "form_post" || u.Query().Get("scope") != "email name" || u.Query().Get("code_challenge") != "" {
		t.Errorf("the URL is %s", u)
	}
	claims := map[string]any{"sub": "000.abc", "email": "x@privaterelay.appleid.com", "email_verified": "true", "is_private_email": "true"}
	got, err := h.signIn(claims, func(a *Callback) {
		a.User = `{"name":{"firstName":"Inês","lastName":"Sá"},"email":"owner@example.com"}`
	})
	if err != nil || got.Email != "x@privaterelay.appleid.com" || !got.EmailVerified || got.Name != "Inês Sá" || got.Claims["full_name"] != "Inês Sá" {
		t.Errorf("first time: %+v, %v", got, err)
	}
	got, err = h.signIn(claims, func(a *Callback) { a.User = "{nonsense" })
	if err != nil || got.Name != "" || got.Subject != "000.abc" {
		t.Errorf("second time: %+v, %v", got, err)
	}
}

func TestClaimsAreKeptWithinBounds(t *testing.T) {
	h := newTestProvider(t, "house", nil)
	got := h.mustSignIn(map[string]any{"sub": "1", "name": "a\x00b\n" + strings.Repeat("é", maxClaimBytes), "picture": "javascript:alert(1)", "website": "data:text/html,x", "profile": "https://p.example"})
	if !strings.HasPrefix(got.Name, "ab") || len(got.Name) > maxClaimBytes || strings.ContainsRune(got.Name, '\uFFFD') {
		t.Errorf("name of %d bytes", len(got.Name))
	}
	if got.AvatarURL != "" || got.Claims["picture"] != nil || got.Claims["website"] != nil || got.Claims["profile"] != "https://p.example" {
		t.Errorf("got %+v", got.Claims)
	}
}
