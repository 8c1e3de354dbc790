// Package identity answers who is calling: it checks the tokens that the official client sends and carries the
// answer in the request's context. What a caller may do is decided in package policy.
package identity

import (
	"context"
	"errors"
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

// Tokens signs and checks tokens with one secret (HS256).
type Tokens struct {
	secret []byte
	now    func() time.Time
}

// NewTokens makes a signer; now is the clock that expiry is judged by.
func NewTokens(secret []byte, now func() time.Time) *Tokens { return &Tokens{secret: secret, now: now} }

// Sign makes a token of the claims.
func (t *Tokens) Sign(claims jwt.Claims) (string, error) {
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(t.secret)
}

// Key makes a long-lived key for a role: the public key (anon) or the elevated one (service_role).
// It is the same at every call, so that a printed key stays valid over restarts.
func (t *Tokens) Key(role Role) (string, error) {
	issued := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	return t.Sign(jwt.MapClaims{"iss": "atelie", "role": string(role), "iat": issued.Unix(), "exp": issued.AddDate(50, 0, 0).Unix()})
}

// Verify checks signature, algorithm and expiry. It returns ErrExpired or ErrBadToken with the cause.
func (t *Tokens) Verify(token string) (*Claims, error) {
	var claims Claims
	_, err := jwt.ParseWithClaims(token, &claims, func(*jwt.Token) (any, error) { return t.secret, nil },
		jwt.WithValidMethods([]string{"HS256"}), jwt.WithExpirationRequired(), jwt.WithTimeFunc(t.now))
	switch {
	case errors.Is(err, jwt.ErrTokenExpired):
		return nil, ErrExpired.Because(err)
	case err != nil:
		return nil, ErrBadToken.Because(err)
	}
	switch claims.Role {
	case Anon, Service:
	case Authenticated:
		if claims.Subject == "" {
			return nil, ErrBadToken.Becausef("token of a user without sub")
		}
	default:
		return nil, ErrBadToken.Becausef("unknown role %q", claims.Role)
	}
	return &claims, nil
}

// AdminLookup says whether the user is an administrator through this session; app supplies it.
type AdminLookup func(ctx context.Context, userID, sessionID string) (bool, error)

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
		if caller.Admin, err = a.IsAdmin(r.Context(), caller.UserID, caller.SessionID); err != nil {
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
