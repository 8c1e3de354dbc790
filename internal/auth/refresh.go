package auth

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/http"
	"time"

	"atelie/internal/db"
)

// This file refreshes sessions: it exchanges a refresh token for a new access token and the next refresh token.

// minRefreshTokenLength is the length in characters of the shortest refresh tokens that Supabase Auth issues. A shorter token is refused as
// malformed.
const minRefreshTokenLength = 12

// refreshGrant handles POST /auth/v1/token?grant_type=refresh_token. The response is the session with new tokens.
func (s *Service) refreshGrant(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		RefreshToken string `json:"refresh_token"`
	}
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if len(body.RefreshToken) < minRefreshTokenLength {
		return errRefreshTokenMalformed
	}
	result, err := s.refresh(r.Context(), clientOf(r), body.RefreshToken)
	if errors.Is(err, db.ErrNoRows) { // the token was never issued, or its session was deleted
		return errRefreshTokenNotFound
	}
	return s.respondSession(w, result, err)
}

// refresh replaces the refresh token of a session and returns the session with the new token. Errors:
//   - db.ErrNoRows: the token is unknown, or its session was deleted.
//   - errSessionExpired: the session has ended. refresh deletes it.
//   - errRefreshTokenUsed: the token was used before and is no longer accepted (Config.RefreshReuse is over). refresh deletes the session,
//     because the token may have been stolen.
//   - errRefreshBanned: the account is banned. refresh changes nothing.
func (s *Service) refresh(ctx context.Context, c clientInfo, token string) (issuedSession, error) {
	// On PostgreSQL, refreshAtOnce handles the usual case in one round trip. After db.ErrNoRows the code below decides.
	if s.db.Dialect == db.Postgres {
		result, err := s.refreshAtOnce(ctx, c, token)
		if !errors.Is(err, db.ErrNoRows) {
			return result, err
		}
	}
	var result issuedSession
	expired := false
	tokenHash := hashToken(token)
	err := s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		now := s.now()
		result, expired = issuedSession{}, false // WithShortTx may call this function again
		stored, err := lockRefreshToken(ctx, tx, tokenHash, s.sessionAliveArgs())
		if err != nil {
			return err
		}
		result.session, result.user = stored.session, stored.user
		switch {
		case !stored.isSessionAlive:
			expired = true
		case stored.usedAt == nil:
			result.refreshToken = successor(s.cfg.RefreshKey, token)
			err = s.rotate(ctx, tx, c, result, tokenHash, stored.generation+1)
		case s.reusable(stored, now):
			result.refreshToken, err = s.currentToken(ctx, tx, token, stored)
		}
		if err != nil {
			return err
		}
		if result.refreshToken == "" { // the session has ended, or the token must not be used again
			if !expired {
				if err := s.audit(ctx, tx, c, auditTokenRevoked, stored.session.userID, map[string]any{"session_id": stored.session.id, "reason": "reused"}); err != nil {
					return err
				}
			}
			return deleteSession(ctx, tx, stored.session.id) // refresh returns its error after the commit: an error here would undo the deletion
		}
		if result.user.banned(now) {
			return errRefreshBanned.Becausef("user %s", result.user.ID)
		}
		return recordSessionUse(ctx, tx, stored.session.id, c, now)
	})
	if err == nil && expired {
		return issuedSession{}, errSessionExpired.Becausef("session %s", result.session.id)
	}
	if err == nil && result.refreshToken == "" {
		err = errRefreshTokenUsed.Becausef("session %s ended: a replaced refresh token was repeated", result.session.id)
	}
	return result, err
}

// refreshAtOnce is refresh for the current token of a session in good order, in one round trip. For all other tokens it changes no token
// and returns db.ErrNoRows.
func (s *Service) refreshAtOnce(ctx context.Context, c clientInfo, token string) (issued issuedSession, err error) {
	issued.refreshToken = successor(s.cfg.RefreshKey, token)
	var result func() (session, User, error)
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		result, err = rotateAtOnce(ctx, tx, hashToken(token), hashToken(issued.refreshToken), c, s.now(), s.sessionAliveArgs())
		return err
	})
	if err == nil {
		issued.session, issued.user, err = result()
	}
	return issued, err
}

// rotate makes issued.refreshToken the current token of the session. It replaces the token with the given hash.
func (s *Service) rotate(ctx context.Context, tx *db.Tx, c clientInfo, issued issuedSession, tokenHash string, generation int) error {
	return errors.Join(
		replaceRefreshToken(ctx, tx, issued.session.id, tokenHash, hashToken(issued.refreshToken), generation, s.now()),
		s.audit(ctx, tx, c, auditTokenRefreshed, issued.session.userID, map[string]any{"session_id": issued.session.id}),
	)
}

// reusable reports whether a used token may be exchanged for the current token. The predecessor of the current token always may,
// because the client may not have received the response with the current token. Older tokens may until RefreshReuse after their
// use.
func (s *Service) reusable(t storedRefreshToken, now time.Time) bool {
	return t.generation == t.currentGeneration-1 || !now.After(t.usedAt.Add(s.cfg.RefreshReuse))
}

// currentToken computes the current token from a used one. Each token is derived from the one before it (successor), with the
// current key or the previous one. It returns "" when neither key gives the stored hash, because the secret was changed twice.
func (s *Service) currentToken(ctx context.Context, tx *db.Tx, token string, t storedRefreshToken) (string, error) {
	hashes, err := refreshHashesAfter(ctx, tx, t.session.id, t.generation)
	if err != nil || len(hashes) != t.currentGeneration-t.generation {
		return "", err
	}
	for _, hash := range hashes {
		next := successor(s.cfg.RefreshKey, token)
		if hashToken(next) != hash && s.cfg.Previous != nil {
			next = successor(s.cfg.Previous.RefreshKey, token)
		}
		if hashToken(next) != hash {
			return "", nil
		}
		token = next
	}
	return token, nil
}

// successor derives the token that replaces parent. Only the holder of the key can compute it. Because it is derived and not
// random, a repeated request gets the same token although the database stores only hashes.
func successor(key []byte, parent string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(parent))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
