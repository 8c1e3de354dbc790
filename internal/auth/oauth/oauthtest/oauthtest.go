// Package oauthtest is an identity provider for tests: a real HTTP server that speaks OpenID Connect, and the documented
// ways of GitHub, Facebook and Discord under the paths that they have.
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
)

// ClientID and ClientSecret are what the provider knows us by.
const (
	ClientID     = "atelie-at-the-provider"
	ClientSecret = "a secret with :/+ and spaces"
)

// Server is the provider. Its hooks may be set between requests.
type Server struct {
	URL string
	Key *ecdsa.PrivateKey

	t      testing.TB
	now    func() time.Time
	server *httptest.Server

	mu     sync.Mutex
	grants map[string]grant // by code
	tokens map[string]map[string]any
	asked  map[string]int

	// Configuration changes the OpenID Connect configuration before it is sent.
	Configuration func(map[string]any)
	// Claims changes an ID token before it is signed.
	Claims func(jwt.MapClaims)
	// Down makes every answer a 503.
	Down bool
	// Answers replaces answers, by path; for the profiles of GitHub, Facebook and Discord.
	Answers map[string]any
	// CheckSecret judges the client's secret; nil compares it with ClientSecret.
	CheckSecret func(secret string) bool
}

type grant struct {
	clientID, redirect, challenge, nonce string
	who                                  map[string]any
}

// New starts a provider that ends with the test. now is the clock of its tokens.
func New(t testing.TB, now func() time.Time) *Server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{Key: key, t: t, now: now, grants: map[string]grant{}, tokens: map[string]map[string]any{}, asked: map[string]int{}, Answers: map[string]any{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", s.configuration)
	mux.HandleFunc("GET /keys", s.keys)
	mux.HandleFunc("GET /userinfo", s.userinfo)
	for _, path := range []string{"/token", "/login/oauth/access_token", "/oauth/access_token", "/api/oauth2/token"} {
		mux.HandleFunc("POST "+path, s.token)
	}
	mux.HandleFunc("/", s.profile)
	s.server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked[r.URL.Path]++
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

// Set changes hooks while the provider may be answering.
func (s *Server) Set(change func(*Server)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	change(s)
}

// Asked counts the requests for a path.
func (s *Server) Asked(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[path]
}

// Consent is a person who signs in at the provider and agrees: it gives what their browser then brings to the redirect
// address. who are their claims; sub is needed.
func (s *Server) Consent(authorizeURL string, who map[string]any) url.Values {
	s.t.Helper()
	u, err := url.Parse(authorizeURL)
	if err != nil {
		s.t.Fatal(err)
	}
	q := u.Query()
	code := rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.grants[code] = grant{q.Get("client_id"), q.Get("redirect_uri"), q.Get("code_challenge"), q.Get("nonce"), maps.Clone(who)}
	return url.Values{"code": {code}, "state": {q.Get("state")}}
}

// IDToken signs an ID token with the provider's own key, good for an hour and for ClientID, with the claims on top.
func (s *Server) IDToken(claims map[string]any) string {
	now := s.now()
	all := jwt.MapClaims{"iss": s.URL, "aud": ClientID, "iat": now.Unix(), "exp": now.Add(time.Hour).Unix()}
	maps.Copy(all, claims)
	return s.Sign(jwt.SigningMethodES256, s.Key, all)
}

// Sign signs anything with anything.
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

// Hash is the at_hash of an access token, for ES256.
func Hash(accessToken string) string {
	sum := sha256.Sum256([]byte(accessToken))
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

func (s *Server) send(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		s.t.Error(err)
	}
}

func (s *Server) configuration(w http.ResponseWriter, _ *http.Request) {
	c := map[string]any{
		"issuer": s.URL, "authorization_endpoint": s.URL + "/authorize", "token_endpoint": s.URL + "/token", "jwks_uri": s.URL + "/keys",
		"userinfo_endpoint": s.URL + "/userinfo", "id_token_signing_alg_values_supported": []string{"RS256", "ES256", "HS256", "none"},
		"code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"client_secret_basic"},
	}
	s.mu.Lock()
	change := s.Configuration
	s.mu.Unlock()
	if change != nil {
		change(c)
	}
	s.send(w, c)
}

func (s *Server) keys(w http.ResponseWriter, _ *http.Request) {
	s.send(w, jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: s.Key.Public(), KeyID: "the-key", Algorithm: "ES256", Use: "sig"}}})
}

func (s *Server) refuse(w http.ResponseWriter, code string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusBadRequest)
	if _, err := w.Write([]byte(`{"error":"` + code + `"}`)); err != nil {
		s.t.Error(err)
	}
}

// token is as strict as a provider has to be: a code is good once, for its client, address and verifier.
func (s *Server) token(w http.ResponseWriter, r *http.Request) {
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
	g, known := s.grants[r.PostForm.Get("code")]
	delete(s.grants, r.PostForm.Get("code"))
	check, change := s.CheckSecret, s.Claims
	s.mu.Unlock()
	if check == nil {
		check = func(secret string) bool { return secret == ClientSecret }
	}
	sum := sha256.Sum256([]byte(r.PostForm.Get("code_verifier")))
	switch {
	case !check(secret):
		s.refuse(w, "invalid_client")
		return
	case !known || id != g.clientID || r.PostForm.Get("redirect_uri") != g.redirect || r.PostForm.Get("grant_type") != "authorization_code",
		g.challenge != "" && g.challenge != base64.RawURLEncoding.EncodeToString(sum[:]),
		g.challenge == "" && r.PostForm.Has("code_verifier"):
		s.refuse(w, "invalid_grant")
		return
	}
	access := "access-" + rand.Text()
	s.mu.Lock()
	s.tokens[access] = g.who
	s.mu.Unlock()
	if r.URL.Path == "/login/oauth/access_token" { // GitHub writes a form unless it is asked for JSON
		w.Header().Set("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")
		if _, err := w.Write([]byte(url.Values{"access_token": {access}, "scope": {"user:email"}, "token_type": {"bearer"}}.Encode())); err != nil {
			s.t.Error(err)
		}
		return
	}
	answer := map[string]any{"access_token": access, "token_type": "Bearer", "expires_in": 3600, "refresh_token": "refresh-" + rand.Text()}
	if r.URL.Path == "/token" {
		claims := jwt.MapClaims{"nonce": g.nonce, "at_hash": Hash(access), "aud": g.clientID}
		maps.Copy(claims, g.who)
		if change != nil {
			change(claims)
		}
		answer["id_token"] = s.IDToken(claims)
	}
	s.send(w, answer)
}

func (s *Server) bearer(r *http.Request) (map[string]any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	who, ok := s.tokens[trimBearer(r.Header.Get("Authorization"))]
	return who, ok
}

func trimBearer(h string) string {
	const scheme = "Bearer "
	if len(h) < len(scheme) {
		return ""
	}
	return h[len(scheme):]
}

func (s *Server) userinfo(w http.ResponseWriter, r *http.Request) {
	who, ok := s.bearer(r)
	if !ok {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	answer, replaced := s.Answers[r.URL.Path]
	s.mu.Unlock()
	if replaced {
		s.send(w, answer)
		return
	}
	s.send(w, who)
}

func (s *Server) profile(w http.ResponseWriter, r *http.Request) {
	if _, ok := s.bearer(r); !ok || r.UserAgent() == "" {
		http.Error(w, "unauthorized", http.StatusUnauthorized)
		return
	}
	s.mu.Lock()
	answer, known := s.Answers[r.URL.Path]
	paths := slices.Sorted(maps.Keys(s.Answers))
	s.mu.Unlock()
	if !known {
		s.t.Logf("%s is not among %v", r.URL.Path, paths)
		http.NotFound(w, r)
		return
	}
	s.send(w, answer)
}
