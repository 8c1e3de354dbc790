// Package identity finds out who sends a request: it checks the request's API key and access token (both are JWTs), and puts the
// caller into the request's context. Package policy decides what a caller may do.
package identity

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"atelie/internal/apperr"
)

// Role is the role claim of a token. The values are those of Supabase.
type Role string

// The three roles that a token can have. Anon and Service are the roles of the API keys, and Authenticated is the role of all accounts.
const (
	Anon          Role = "anon"
	Authenticated Role = "authenticated"
	Service       Role = "service_role"
)

// Caller is the sender of a request.
type Caller struct {
	Role      Role
	Bearer    bool   // whether the request had a bearer token; the token then decides Role, otherwise the API key does
	UserID    string // id of the account; "" for the roles anon and service_role
	SessionID string // "" when the token names no session
	AAL       string // authenticator assurance level, the token's aal claim: aal1, or aal2 after a second factor; "" for API keys
	Admin     bool   // the account is an administrator; known from the user_roles table, never from a claim
	// KeyGeneration is the number of the API key among the keys of its role: 1 for the first, 2 for its successor, and so on (package
	// apikeys). It is 0 if the caller has an account.
	KeyGeneration int
}

// AMR is one entry of the amr claim (authentication methods references, RFC 8176): a method by which the session was authenticated.
type AMR struct {
	Method    string `json:"method"`             // password, totp and so on
	Timestamp int64  `json:"timestamp"`          // Unix seconds
	Provider  string `json:"provider,omitempty"` // the identity provider's id, for single sign-on
}

// Claims are the contents of an access token or of an API key. The JSON names are those that Supabase's client reads.
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
	// KeyGeneration is Caller.KeyGeneration. Keys of the first generation have no such claim: Verify sets 1 for them.
	KeyGeneration int `json:"key_generation,omitempty"`
}

// ErrNoKey is returned if a request has neither an API key nor a token.
var ErrNoKey = apperr.New(http.StatusUnauthorized, "no_authorization", "No API key found in request")

// ErrBadToken is returned for a forged or malformed token, and ErrExpired for an expired token. Some surfaces (parts of the API, such as
// /auth/v1) respond to both errors with the code of ErrBadToken.
var (
	ErrBadToken = apperr.New(http.StatusUnauthorized, "bad_jwt", "Invalid token")
	ErrExpired  = apperr.New(http.StatusUnauthorized, "jwt_expired", "Token expired")
)

// Config holds the keys with which tokens are signed and checked. A server sets Secret and all three functions; commands that
// only create API keys set only Secret.
type Config struct {
	Secret      []byte           // the current secret: signs and checks HS256
	Previous    []byte           // the previous secret; it is still accepted. nil: there is none
	Generations GenerationLookup // decides which keys of the roles anon and service_role are valid; nil: only the first of each role
	Issuers     IssuerLoader     // accepted issuers of access tokens; nil: iss and aud are not checked
	SigningKeys KeyLoader        // key pairs for ES256; nil: tokens with ES256 are rejected
	ES256       bool             // sign access tokens with SigningKeys; false: with Secret
}

// GenerationLookup reports whether a generation of a role's keys is valid. It returns an error when the database cannot be read.
type GenerationLookup func(role Role, generation int) (bool, error)

// Tokens signs and checks tokens: HS256 with the secret, and ES256 with key pairs that all nodes share. The two algorithms
// share no key, so that a key for one can never check a signature of the other (RFC 8725 §3.1).
type Tokens struct {
	cfg        Config
	now        func() time.Time
	keys       *keyCache    // nil without Config.SigningKeys
	issuers    *issuerCache // nil: iss and aud are not checked
	parser     *jwt.Parser  // checks the signature, and no times
	times      *jwt.Validator
	signatures signatureCache
}

// New returns Tokens whose expiry checks use the clock now. It reads nothing from the database; Load or the first use does.
func New(cfg Config, now func() time.Time) *Tokens {
	t := &Tokens{
		cfg: cfg, now: now, times: jwt.NewValidator(jwt.WithTimeFunc(now)),
		parser: jwt.NewParser(jwt.WithValidMethods([]string{"HS256", "ES256"}), jwt.WithoutClaimsValidation()),
	}
	if cfg.SigningKeys != nil {
		t.keys = &keyCache{load: cfg.SigningKeys, now: now}
	}
	if cfg.Issuers != nil {
		t.issuers = &issuerCache{load: cfg.Issuers, now: now}
	}
	return t
}

// Load reads the issuers and the signing keys. The program calls it when it opens the site, and ends if they cannot be read.
func (t *Tokens) Load() error {
	if t.issuers != nil {
		if err := t.issuers.reload(); err != nil {
			return fmt.Errorf("issuers: %w", err)
		}
	}
	if t.keys != nil {
		if _, err := t.keys.current(); err != nil {
			return fmt.Errorf("signing keys: %w", err)
		}
	}
	return nil
}

// KeyValid reports whether a generation of a role's keys is valid.
func (t *Tokens) KeyValid(role Role, generation int) (bool, error) {
	if t.cfg.Generations == nil {
		return generation == 1, nil
	}
	return t.cfg.Generations(role, generation)
}

// PublicKeys returns the keys that check ES256 tokens, as /auth/v1 publishes them; an empty list without ES256.
func (t *Tokens) PublicKeys() ([]JWK, error) {
	if t.keys == nil {
		return []JWK{}, nil
	}
	return t.keys.public()
}

// Sign returns the claims as a signed access token.
func (t *Tokens) Sign(claims jwt.Claims) (string, error) {
	if !t.cfg.ES256 {
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
	return jwt.NewWithClaims(jwt.SigningMethodHS256, claims).SignedString(t.cfg.Secret)
}

// keyYears is how long an anon or service key is valid.
const keyYears = 50

// Key returns the first key of a role: the anon key or the service key.
func (t *Tokens) Key(role Role) (string, error) { return t.KeyOf(role, 1) }

// KeyOf returns a long-lived key of a role. Its claims hold no current time, so every call returns the same key and a
// printed key stays valid after a restart. Keys are always signed with HS256.
func (t *Tokens) KeyOf(role Role, generation int) (string, error) {
	issued := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	claims := jwt.MapClaims{"iss": ownIssuer, "role": string(role), "iat": issued.Unix(), "exp": issued.AddDate(keyYears, 0, 0).Unix()}
	if generation > 1 {
		claims["key_generation"] = generation
	}
	return t.signHS256(claims)
}

// Verify checks signature, algorithm, expiry, issuer and audience, and that a key is not revoked. It returns ErrExpired,
// ErrBadToken with the cause, or another error when the database cannot be read.
func (t *Tokens) Verify(token string) (*Claims, error) {
	signed, err := t.verifySignature(token)
	switch {
	case errors.Is(err, errKeysUnread):
		return nil, err
	case err != nil:
		return nil, ErrBadToken.Because(err)
	}
	claims := signed.claims
	if err := t.times.Validate(&claims); err != nil {
		if errors.Is(err, jwt.ErrTokenExpired) {
			return nil, ErrExpired.Because(err)
		}
		return nil, ErrBadToken.Because(err)
	}
	if claims.ExpiresAt == nil {
		if claims.Role != Anon && claims.Role != Service {
			return nil, ErrBadToken.Becausef("token for role %q without exp", claims.Role)
		}
		claims.ExpiresAt = jwt.NewNumericDate(t.now().AddDate(keyYears, 0, 0)) // Supabase also accepts keys without exp
	}
	switch claims.Role {
	case Anon, Service:
		err = t.checkKey(&claims, signed.method)
	case Authenticated:
		err = t.checkAccess(&claims)
	default:
		err = ErrBadToken.Becausef("unknown role %q", claims.Role)
	}
	if err != nil {
		return nil, err
	}
	return &claims, nil
}

// checkKey checks a key of the roles anon and service_role. It sets KeyGeneration to 1 when the claims have no number.
func (t *Tokens) checkKey(claims *Claims, method jwt.SigningMethod) error {
	if method != jwt.SigningMethodHS256 {
		return ErrBadToken.Becausef("key for role %q signed with %s", claims.Role, method.Alg())
	}
	if t.issuers != nil {
		if err := checkKeyIssuer(claims); err != nil {
			return err
		}
	}
	claims.KeyGeneration = cmp.Or(claims.KeyGeneration, 1)
	valid, err := t.KeyValid(claims.Role, claims.KeyGeneration)
	if err == nil && !valid {
		err = ErrBadToken.Becausef("generation %d of the key for role %q was revoked, or never made", claims.KeyGeneration, claims.Role)
	}
	return err
}

// checkAccess checks the access token of an account.
func (t *Tokens) checkAccess(claims *Claims) error {
	if claims.Subject == "" {
		return ErrBadToken.Becausef("token of a user without sub")
	}
	if t.issuers == nil {
		return nil
	}
	return t.issuers.check(claims)
}

// keyFor returns the keys that may have signed a token. The algorithm alone decides between secret and key pairs; kid only
// selects one of the key pairs. Keys and key URLs in the header (jwk, jku) are ignored: the author of a forged token chooses them.
func (t *Tokens) keyFor(token *jwt.Token) (any, error) {
	if _, ok := token.Header["crit"]; ok {
		return nil, errors.New("extensions are not supported (RFC 7515 §4.1.11)")
	}
	switch token.Method {
	case jwt.SigningMethodHS256:
		if t.cfg.Previous == nil {
			return t.cfg.Secret, nil
		}
		return jwt.VerificationKeySet{Keys: []jwt.VerificationKey{t.cfg.Secret, t.cfg.Previous}}, nil
	case jwt.SigningMethodES256:
		id, ok := token.Header["kid"].(string)
		if !ok || t.keys == nil {
			return nil, errUnknownKid
		}
		return t.keys.find(id)
	}
	return nil, fmt.Errorf("algorithm %q", token.Method.Alg())
}

// AdminLookup reports whether the user is an administrator in this session; auth.Service.IsAdmin implements it. ctx carries
// the Caller as its token describes it, with Admin still false.
type AdminLookup func(ctx context.Context, userID, sessionID string) (bool, error)

// Session contains the claims of a token about its session: the account, the id of the session ("" when the token names none),
// and the level (aal1 or aal2) that the session had when the token was issued.
type Session struct{ UserID, ID, AAL string }

// SessionStatus reports whether a session is alive and whether it is an administrator's. A session is not alive after sign-out
// or expiry, or when its account is banned or deleted. For a token without a session, Alive is true unless the account is banned.
type SessionStatus struct{ Alive, Admin bool }

// SessionStatusLookup returns the status of each session, in the order of sessions. auth.Service implements it.
type SessionStatusLookup func(ctx context.Context, sessions []Session) ([]SessionStatus, error)

// Authenticator turns request headers into a Caller.
type Authenticator struct {
	Tokens  *Tokens
	IsAdmin AdminLookup // nil for a surface that does not use Caller.Admin
}

// Caller returns who sends the request. The bearer token decides when there is one; an apikey beside it must be valid too.
// Every surface rejects a forged, expired or unsigned token with 401. ErrNoKey: the request has neither.
func (a *Authenticator) Caller(r *http.Request) (Caller, error) {
	key := r.Header.Get("apikey")
	if key == "" {
		key = r.URL.Query().Get("apikey")
	}
	bearer := BearerToken(r)
	if key == "" && bearer == "" {
		return Caller{}, ErrNoKey
	}
	claims, err := a.Tokens.Verify(cmp.Or(bearer, key))
	if err != nil {
		return Caller{}, err
	}
	if bearer != "" && key != "" && key != bearer {
		if _, err := a.Tokens.Verify(key); err != nil {
			return Caller{}, err
		}
	}
	caller := Caller{Role: claims.Role, Bearer: bearer != "", UserID: claims.Subject, SessionID: claims.SessionID, AAL: claims.AAL, KeyGeneration: claims.KeyGeneration}
	if caller.Role == Authenticated && a.IsAdmin != nil {
		if caller.Admin, err = a.IsAdmin(With(r.Context(), caller), caller.UserID, caller.SessionID); err != nil {
			return Caller{}, err
		}
	}
	return caller, nil
}

// BearerToken returns the token of the Authorization header, or "" when there is none.
func BearerToken(r *http.Request) string {
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

type contextKey struct{}

// With returns a context that carries the caller.
func With(ctx context.Context, c Caller) context.Context {
	return context.WithValue(ctx, contextKey{}, c)
}

// Of returns the caller that ctx carries, or the zero Caller, to which every policy forbids everything.
func Of(ctx context.Context) Caller {
	c, _ := ctx.Value(contextKey{}).(Caller)
	return c
}
