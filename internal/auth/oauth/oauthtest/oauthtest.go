// Package oauthtest is an OAuth provider for tests: an HTTP server with OpenID Connect, and with the documented APIs of
// GitHub, Facebook and Discord under their own paths.
package oauthtest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/identity"
)

// ClientID and ClientSecret belong to the only client that the provider accepts.
const (
	ClientID     = "atelie-at-the-provider"
	ClientSecret = "a secret with :/+ and spaces"
)

// Server is the provider. A test can change its behaviour with the fields from Configuration on. Between requests it can set them directly;
// while a request may be running it must use Set.
type Server struct {
	URL string
	Key *ecdsa.PrivateKey // signs ID tokens

	t      testing.TB
	now    func() time.Time // clock of the tokens
	server *httptest.Server

	mu       sync.Mutex
	consents map[string]consent        // by authorization code
	tokens   map[string]map[string]any // claims about the user, by access token
	requests map[string]int            // number of requests, by path

	// Configuration changes the OpenID Connect configuration before it is sent; nil changes nothing.
	Configuration func(map[string]any)
	// Claims changes the claims of an ID token before they are signed; nil changes nothing.
	Claims func(jwt.MapClaims)
	// Down makes the server answer every request with status 503.
	Down bool
	// Responses contains the JSON that the APIs of GitHub, Facebook and Discord return, by path.
	Responses map[string]any
	// CheckSecret reports whether the client's secret is right; nil compares it with ClientSecret.
	CheckSecret func(secret string) bool
}

// consent records that a user has agreed to a sign-in. The client later exchanges an authorization code for tokens with the claims.
type consent struct {
	clientID, redirect, challenge, nonce string         // parameters of the authorization request; challenge is the PKCE challenge
	claims                               map[string]any // the claims about the user
}

// New starts a provider and stops it at the end of the test. now is the clock of its tokens.
func New(t testing.TB, now func() time.Time) *Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{
		Key: key, t: t, now: now,
		consents: map[string]consent{}, tokens: map[string]map[string]any{}, requests: map[string]int{}, Responses: map[string]any{},
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", s.serveConfiguration)
	mux.HandleFunc("GET /keys", s.serveKeys)
	for _, path := range []string{"/token", "/login/oauth/access_token", "/oauth/access_token", "/api/oauth2/token"} {
		mux.HandleFunc("POST "+path, s.serveToken)
	}
	mux.HandleFunc("/", s.serveProfile)
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.requests[r.URL.Path]++
		down := s.Down
		s.mu.Unlock()
		if down {
			http.Error(w, "down for maintenance", http.StatusServiceUnavailable)
			return
		}
		mux.ServeHTTP(w, r)
	}))
	s.URL = s.server.URL
	t.Cleanup(s.server.Close)
	return s
}

// Set calls change, which may set fields of s, while requests may be running.
func (s *Server) Set(change func(*Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// Requests returns how many requests for a path the provider has received.
func (s *Server) Requests(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[path]
}

// Consent acts as a user who signs in at the provider and agrees. claims describe the user; sub is required. It returns
// the parameters with which the browser is sent to the callback.
func (s *Server) Consent(authorizeURL string, claims map[string]any) url.Values {
	s.t.Helper()
	u, err := url.Parse(authorizeURL)
	if err != nil {
		s.t.Fatal(err)
	}
	q := u.Query()
	code := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.consents[code] = consent{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce"), maps.Clone(claims)}
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

// IDToken returns an ID token for ClientID, signed with the provider's key and valid for an hour. claims override its own
// claims.
func (s *Server) IDToken(claims map[string]any) string {
	now := s.now()
	all := jwt.MapClaims{"iss": s.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	return s.Sign(jwt.SigningMethodES256, s.Key, all)
}

// Sign returns claims signed with any method and key, for tests of tokens that must be rejected.
func (s *Server) Sign(method jwt.SigningMethod, key any, claims jwt.MapClaims) string {
	s.t.Helper()
	token := jwt.NewWithClaims(method, claims)
	token.Header["kid"] = "the-key"
	signed, err := token.SignedString(key)
	if err != nil {
		s.t.Fatal(err)
	}
	return signed
}

// AccessTokenHash returns the at_hash claim of an ID token signed with ES256, for the access token issued together with it.
func AccessTokenHash(accessToken string) string {
	sum := sha256.Sum256([]byte(accessToken))
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

func (s *Server) send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.t.Error(err)
	}
}

func (s *Server) serveConfiguration(w http.ResponseWriter, _ *http.Request) {
	configuration := map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token", "jwks_uri": s.URL + "/keys",
		"userinfo_endpoint": s.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_basic"},
	}
	s.mu.Lock()
	changeConfiguration := s.Configuration
	s.mu.Unlock()
	if changeConfiguration != nil {
		changeConfiguration(configuration)
	}
	s.send(w, http.StatusOK, configuration)
}

func (s *Server) serveKeys(w http.ResponseWriter, _ *http.Request) {
	s.send(w, http.StatusOK, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: s.Key.Public(), KeyID: "the-key", Algorithm: "ES256", Use: "sig"}}})
}

func (s *Server) refuse(w http.ResponseWriter, code string) {
	s.send(w, http.StatusBadRequest, map[string]string{"error": code})
}

// serveToken exchanges codes as strictly as a real provider: a code works once, for its client, redirect URL and verifier.
func (s *Server) serveToken(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		s.refuse(w, "invalid_request")
		return
	}
	id, secret := r.PostForm.Get("client_id"), r.PostForm.Get("client_secret")
	if basicID, basicSecret, ok := r.BasicAuth(); ok {
		id, _ = url.QueryUnescape(basicID)
		secret, _ = url.QueryUnescape(basicSecret)
	}
	s.mu.Lock()
	agreed, known := s.consents[r.PostForm.Get("code")]
	delete(s.consents, r.PostForm.Get("code"))
	checkSecret, changeClaims := s.CheckSecret, s.Claims
	s.mu.Unlock()
	if checkSecret == nil {
		checkSecret = func(secret string) bool { return secret == ClientSecret }
	}
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	switch {
	case !checkSecret(secret):
		s.refuse(w, "invalid_client")
		return
	case !known || id != agreed.clientID || r.PostForm.Get("redirect_uri") != agreed.redirect || r.PostForm.Get("grant_type") != "authorization_code",
		agreed.challenge != "" && agreed.challenge != base64.RawURLEncoding.EncodeToString(sum[:]),
		agreed.challenge == "" && r.PostForm.Has("code_verifier"):
		s.refuse(w, "invalid_grant")
		return
	}
	access := "access-" + rand.Text()
	s.mu.Lock()
	s.tokens[access] = agreed.claims
	s.mu.Unlock()
	if r.URL.Path == "/login/oauth/access_token" { // GitHub responds with a URL-encoded form unless JSON is requested
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		if _, err := w.Write([]byte(url.Values{"access_token": {access}, "scope": {"user:email"}, "token_type": {"bearer"}}.Encode())); err != nil {
			s.t.Error(err)
		}
		return
	}
	response := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "refresh-" + rand.Text()}
	if r.URL.Path == "/token" {
		claims := jwt.MapClaims{"nonce": agreed.nonce, "at_hash": AccessTokenHash(access), "aud": agreed.clientID}
		maps.Copy(claims, agreed.claims)
		if changeClaims != nil {
			changeClaims(claims)
		}
		response["id_token"] = s.IDToken(claims)
	}
	s.send(w, http.StatusOK, response)
}

// serveProfile responds with the entry of Responses for the path. Without an entry, /userinfo responds with the user's claims.
func (s *Server) serveProfile(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	claims, ok := s.tokens[identity.BearerToken(r)]
	response, known := s.Responses[r.URL.Path]
	paths := slices.Sorted(maps.Keys(s.Responses))
	s.mu.Unlock()
	switch {
	case !ok || r.UserAgent() == "":
		http.Error(w, "unauthorized", http.StatusUnauthorized)
	case known:
		s.send(w, http.StatusOK, response)
	case r.URL.Path == "/userinfo":
		s.send(w, http.StatusOK, claims)
	default:
		s.t.Logf("%s is not among %v", r.URL.Path, paths)
		http.NotFound(w, r)
	}
}
