// Package auth is the authentication service at /auth/v1: sign-in, sessions and the owner's account, in the JSON and
// with the error codes of Supabase Auth (spec §7, READING §1).
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// Config is what the owner can set.
type Config struct {
	SiteURL      string        // public address of the site; tokens name SiteURL/auth/v1 as their issuer
	JWTExpiry    time.Duration // life of an access token
	RefreshReuse time.Duration // how long a refresh token that was replaced twice may still be repeated (READING §3.32)
	RefreshKey   []byte        // derives refresh tokens; at least 32 secret bytes, the same on every node and over restarts
	Version      string        // shown by /health
}

// Service answers /auth/v1.
type Service struct {
	db        *db.DB
	tokens    *identity.Tokens
	cfg       Config
	now       func() time.Time
	passwords *hasher
}

// New makes the service. It panics when RefreshKey is short: refresh tokens could then be computed by anyone.
func New(d *db.DB, tokens *identity.Tokens, cfg Config, now func() time.Time) *Service {
	if len(cfg.RefreshKey) < 32 {
		panic("auth: RefreshKey needs at least 32 bytes")
	}
	cfg.SiteURL = strings.TrimRight(cfg.SiteURL, "/")
	return &Service{db: d, tokens: tokens, cfg: cfg, now: now, passwords: newHasher()}
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
