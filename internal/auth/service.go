// Package auth is the authentication service at /auth/v1: sign-in, sessions and the owner's account, in the JSON and
// with the error codes of Supabase Auth (spec §7, READING §1).
package auth

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelie/internal/auth/oauth"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/seal"
)

// Config is what the owner can set.
type Config struct {
	SiteURL      string        // public address of the site: links lead there
	APIURL       string        // public address of the service; tokens name APIURL/auth/v1 as their issuer
	JWTExpiry    time.Duration // life of an access token
	RefreshReuse time.Duration // how long a refresh token that was replaced twice may still be repeated (READING §3.32)
	Version      string        // shown by /health

	// Three keys of at least 32 secret bytes (SealKey exactly 32), the same on every node and over restarts.
	RefreshKey []byte // derives refresh tokens
	CodeKey    []byte // hashes six-digit codes
	SealKey    []byte // seals secrets that must be read again

	SignupOpen        bool // strangers may open accounts; they never get a role (READING §2)
	MailAutoconfirm   bool // addresses count as confirmed without a mail
	PhoneEnabled      bool
	PhoneAutoconfirm  bool
	ManualLinking     bool // signed-in users may add identities
	RateLimits        bool
	PasswordReauth    bool          // a new password needs a code from reauthenticate when the session is older than a day
	RedirectURLs      []string      // patterns, see compileGlob
	SAML              bool          // single sign-on by SAML 2.0
	AskPause          time.Duration // a message that was asked for waits a random time up to this; 0: not at all
	MailMinInterval   time.Duration // between two mails of a kind to one account
	SMSMinInterval    time.Duration
	PasswordMinLength int                        // code points, at least 6
	Providers         map[string]*oauth.Provider // identity providers by name
	SMSProvider       string                     // name of what sends text messages, for /settings
	ES256             bool                       // access tokens are signed with the keys of the database
}

// Service answers /auth/v1.
type Service struct {
	db        *db.DB
	queue     *jobs.Queue
	tokens    *identity.Tokens
	cfg       Config
	now       func() time.Time
	passwords *hasher
	sealer    sealer
	redirects redirects
	saml      ownSAML
}

// New makes the service. It panics when a key is short: what it protects could then be computed by anyone.
func New(d *db.DB, queue *jobs.Queue, tokens *identity.Tokens, cfg Config, now func() time.Time) *Service {
	if len(cfg.RefreshKey) < 32 || len(cfg.CodeKey) < 32 {
		panic("auth: RefreshKey and CodeKey need at least 32 bytes")
	}
	cfg.SiteURL = strings.TrimRight(cfg.SiteURL, "/")
	cfg.APIURL = strings.TrimRight(cfg.APIURL, "/")
	s := &Service{db: d, queue: queue, tokens: tokens, cfg: cfg, now: now, passwords: newHasher(), sealer: sealer{seal.New(cfg.SealKey)}}
	s.redirects = newRedirects(cfg.SiteURL, cfg.RedirectURLs)
	queue.Handle(jobAsked, s.sendAsked)
	return s
}

// Forget drops what has outlived its time.
func (s *Service) Forget(ctx context.Context) error {
	return errors.Join(forget(ctx, s.db, s.now()), forgetSSO(ctx, s.db, s.now()))
}

const maxBody = 64 << 10 // bytes

func decode(w http.ResponseWriter, r *http.Request, dst any) error {
	return httpx.DecodeJSON(w, r, maxBody, dst)
}

// randomToken gives 256 random bits as text.
func randomToken() string {
	b := make([]byte, 32)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b)
}

// hashToken gives the form in which a random token is stored; 256 random bits need no slow hash.
func hashToken(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}

// Attempts within limitWindow. There is no limit per account alone: with one, anybody could lock the owner out.
const (
	limitWindow       = 5 * time.Minute
	signInsPerAddress = 100
	signInsPerAccount = 20 // from one address
	setupsPerAddress  = 20
)

// limit counts an attempt and refuses it with errRateLimit once there were more than most in the window.
func (s *Service) limit(w http.ResponseWriter, r *http.Request, name, subject string, most int) error {
	if !s.cfg.RateLimits {
		return nil
	}
	return s.limitAlways(w, r, name, subject, most)
}

// limitAlways is limit that counts also where limits are switched off.
func (s *Service) limitAlways(w http.ResponseWriter, r *http.Request, name, subject string, most int) error {
	now := s.now()
	hits, err := s.db.Hit(r.Context(), name, subject, limitWindow, now)
	if err != nil {
		return err
	}
	if hits > most {
		window := int64(limitWindow / time.Second)
		w.Header().Set("Retry-After", strconv.FormatInt(window-now.Unix()%window, 10))
		return errRateLimit.Becausef("%d attempts under %s", hits, name)
	}
	return nil
}
