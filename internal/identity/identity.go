// Package identity answers who is calling: it checks the tokens that the official client sends and carries the
// answer in the request's context. What a caller may do is decided in package policy.
package identity

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/apperr"
)

// Role is the role claim of a token, as the hosted backend names it.
type Role string

// The three roles a token can carry (spec §6, READING §2).
const (
	Anon          Role = "anon"
	Authenticated Role = "authenticated"
	Service       Role = "service_role"
)

// Caller is who sends a request. Admin is looked up in user_roles, never read from a claim (spec §6).
type Caller struct {
	Role      Role
	UserID    string
	SessionID string
	AAL       string
	Admin     bool
}

// AMR is one entry of the claim that says how a session was authenticated (RFC 8176).
type AMR struct {
	Method    string `json:"method"`
	Timestamp int64  `json:"timestamp"`
	Provider  string `json:"provider,omitempty"` // the identity provider's id, for single sign-on
}

// Claims are the contents of an access token, named as the client reads them.
type Claims struct {
	jwt.RegisteredClaims
	Role         Role           `json:"role"`
	Email        string         `json:"email"`
	Phone        string         `json:"phone"`
	AppMetadata  map[string]any `json:"app_metadata,omitempty"`
	UserMetadata map[string]any `json:"user_metadata,omitempty"`
	AAL          string         `json:"aal,omitempty"`
	AMR          []AMR          `json:"amr,omitempty"`
	SessionID    string         `json:"session_id,omitempty"`
	IsAnonymous  bool           `json:"is_anonymous"`
}

// ErrNoKey is returned when a request carries neither a key nor a token.
var ErrNoKey = apperr.New(http.StatusUnauthorized, "no_authorization", "No API key found in request")

// ErrBadToken is returned for a forged or malformed token; ErrExpired for one whose time is over.
var (
	ErrBadToken = apperr.New(http.StatusUnauthorized, "bad_jwt", "Invalid token")
	ErrExpired  = apperr.New(http.StatusUnauthorized, "bad_jwt", "Token expired")
)

// Tokens signs and checks tokens: HS256 with one secret, and ES256 with the keys of UseKeys. Each algorithm has keys of
// its own, so that nothing made for one is taken for the other (RFC 8725 §3.1).
type Tokens struct {
	secret []byte
	now    func() time.Time
	keys   *keySet // nil without ES256
	es256  bool    // access tokens are signed with ES256
}

// NewTokens makes a signer with HS256; now is the clock that expiry is judged by.
func NewTokens(secret []byte, now func() time.Time) *Tokens { return &Tokens{secret: secret, now: now} }

// UseKeys accepts ES256 tokens of the keys that load reads, and signs with them when sign is set. It must be called
// before the first request. An error means that the keys cannot be read.
func (t *Tokens) UseKeys(load KeyLoader, sign bool) error {
	t.keys, t.es256 = &keySet{load: load, now: t.now}, sign
	_, err := t.keys.current()
	return err
}

// PublicKeys are the keys that ES256 tokens are checked with; empty without them.
func (t *Tokens) PublicKeys() ([]JWK, error) {
	if t.keys == nil {
		return []JWK{}, nil
	}
	return t.keys.public()
}

// Sign makes an access token of the claims.
func (t *Tokens) Sign(claims jwt.Claims) (string, error) {
	if !t.es256 {
		return t.signHS256(claims)
	}
	key, err := t.keys.signer()
	if err != nil {
		return "", err
	}
	token := jwt.NewWithClaims(jwt.SigningMethodES256, claims)
	token.Header["kid"] = key.ID
	return token.SignedString(key.Private)
}

func (t *Tokens) signHS256(claims jwt.Claims) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(t.secret)
}

// Key makes a long-lived key for a role: the public key (anon) or the elevated one (service_role).
// It is the same at every call, so that a printed key stays valid over restarts; always HS256.
func (t *Tokens) Key(role Role) (string, error) {
	issued := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return t.signHS256(jwt.MapClaims{"iss": "atelie", "role": string(role), "iat": issued.Unix(), "exp": issued.AddDate(50, 0, 0).Unix()})
}

// Verify checks signature, algorithm and expiry. It returns ErrExpired or ErrBadToken with the cause.
func (t *Tokens) Verify(token string) (*Claims, error) {
	var claims Claims
	parsed, err := jwt.ParseWithClaims(token, &claims, t.keyFor,
		jwt.WithValidMethods([]string{"HS256", "ES256"}), jwt.WithExpirationRequired(), jwt.WithTimeFunc(t.now))
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, ErrExpired.Because(err)
	case err != nil:
		return nil, ErrBadToken.Because(err)
	}
	switch claims.Role {
	case Anon, Service:
		if parsed.Method != jwt.SigningMethodHS256 {
			return nil, ErrBadToken.Becausef("key for role %q signed with %s", claims.Role, parsed.Method.Alg())
		}
	case Authenticated:
		if claims.Subject == "" {
			return nil, ErrBadToken.Becausef("token of a user without sub")
		}
	default:
		return nil, ErrBadToken.Becausef("unknown role %q", claims.Role)
	}
	return &claims, nil
}

// keyFor chooses by the algorithm alone: a kid only picks among the keys of ES256, and keys or addresses of keys in the
// header are not looked at.
func (t *Tokens) keyFor(token *jwt.Token) (any, error) {
	if _, ok := token.Header["crit"]; ok {
		return nil, errors.New("extensions are not supported (RFC 7515 §4.1.11)")
	}
	switch token.Method {
	case jwt.SigningMethodHS256:
		return t.secret, nil
	case jwt.SigningMethodES256:
		id, ok := token.Header["kid"].(string)
		if !ok || t.keys == nil {
			return nil, errUnknownKid
		}
		return t.keys.find(id)
	}
	return nil, fmt.Errorf("algorithm %q", token.Method.Alg())
}

// AdminLookup says whether the user is an administrator through this session; app supplies it. The context holds the
// caller as its token describes it, not yet known as an administrator.
type AdminLookup func(ctx context.Context, userID, sessionID string) (bool, error)

// Session is what a token says of the session it belongs to: its account, the session, "" without one, and the level that
// was reached when it was made.
type Session struct{ UserID, ID, AAL string }

// Standing is how things are with a session now. One that was signed out or has run out is not alive, nor is any of an
// account that is banned or deleted; a token without a session lives until the account is banned or it expires.
type Standing struct{ Alive, Admin bool }

// StandingLookup gives the standing of every session, in their order; app supplies it.
type StandingLookup func(ctx context.Context, sessions []Session) ([]Standing, error)

// Authenticator turns request headers into a Caller.
type Authenticator struct {
	Tokens  *Tokens
	IsAdmin AdminLookup
}

// Caller reads the bearer token, which decides, and the apikey, which must be valid when it is sent.
// The same rule holds on every surface: forged, expired or unsigned tokens are refused with 401 (READING §2).
func (a *Authenticator) Caller(r *http.Request) (Caller, error) {
	key := r.Header.Get("apikey")
	if key == "" {
		key = r.URL.Query().Get("apikey")
	}
	bearer := BearerToken(r)
	if key == "" && bearer == "" {
		return Caller{}, ErrNoKey
	}
	decisive := key
	if bearer != "" {
		decisive = bearer
	}
	claims, err := a.Tokens.Verify(decisive)
	if err != nil {
		return Caller{}, err
	}
	if bearer != "" && key != "" && key != bearer {
		if _, err := a.Tokens.Verify(key); err != nil {
			return Caller{}, err
		}
	}
	caller := Caller{Role: claims.Role, UserID: claims.Subject, SessionID: claims.SessionID, AAL: claims.AAL}
	if caller.Role == Authenticated {
		if caller.Admin, err = a.IsAdmin(With(r.Context(), caller), caller.UserID, caller.SessionID); err != nil {
			return Caller{}, err
		}
	}
	return caller, nil
}

// BearerToken gives the token of the Authorization header, or "" when there is none.
func BearerToken(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

type contextKey struct{}

// With puts the caller into the context.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// Of gives the caller of the context; without one, the zero Caller, which every policy refuses.
func Of(ctx context.Context) Caller {
	c, _ := ctx.Value(contextKey{}).(Caller)
	return c
}
