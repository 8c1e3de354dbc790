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
	"atelie/internal/httpx"
)

type refreshRequest struct {
	RefreshToken string `json:"refresh_token"`
}

// minRefreshToken is the length of the shortest refresh token that the service ever issued.
const minRefreshToken = 12

// refreshToken is a row of auth_refresh_tokens beside the session's current one.
type refreshToken struct {
	generation        int
	usedAt            *time.Time // nil in the current token
	currentGeneration int
	currentHash       string
}

func (s *Service) refreshGrant(w http.ResponseWriter, r *http.Request) error {
	var body refreshRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if len(body.RefreshToken) < minRefreshToken {
		return errRefreshTokenMalformed
	}
	g, err := s.refresh(r.Context(), clientOf(r), body.RefreshToken)
	if errors.Is(err, db.ErrNoRows) { // never issued, or its session has ended
		return errRefreshTokenNotFound
	}
	if err != nil {
		return err
	}
	session, err := s.sessionBody(g)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, session)
}

// refresh renews a session. It returns db.ErrNoRows for an unknown token, errRefreshTokenUsed for one that was
// replayed too late, after which the session is gone.
func (s *Service) refresh(ctx context.Context, c client, token string) (grant, error) {
	hash := hashToken(token)
	sessionID, err := sessionOfRefreshToken(ctx, s.db, hash)
	if err != nil {
		return grant{}, err
	}
	var g grant
	expired := false
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		now := s.now()
		g, expired = grant{}, false
		// Writing to the session first makes concurrent refreshes wait for each other on both engines; only then is it
		// known which token is the current one.
		if g.session, err = touchSession(ctx, tx, sessionID, c, now); err != nil {
			return err
		}
		known, err := refreshTokenByHash(ctx, tx, hash)
		if err != nil {
			return err
		}
		switch {
		case g.session.notAfter != nil && !now.Before(*g.session.notAfter):
			expired = true
		case known.usedAt == nil:
			g.refreshToken = s.successor(token)
			err = replaceRefreshToken(ctx, tx, sessionID, hash, hashToken(g.refreshToken), known.generation+1, now)
		case s.mayRepeat(known, now):
			g.refreshToken = s.currentFrom(token, known)
		}
		if err != nil {
			return err
		}
		if g.refreshToken == "" {
			if !expired {
				if err := s.audit(ctx, tx, c, auditTokenReuse, g.session.userID, map[string]any{"session_id": sessionID}); err != nil {
					return err
				}
			}
			return deleteSession(ctx, tx, sessionID) // must be committed: the refusal is returned below
		}
		if g.user, err = userByID(ctx, tx, g.session.userID); err == nil && g.user.banned(now) {
			err = errRefreshBanned.Becausef("user %s", g.user.ID)
		}
		return err
	})
	if err == nil && expired {
		return grant{}, errSessionExpired.Becausef("session %s", sessionID)
	}
	if err == nil && g.refreshToken == "" {
		err = errRefreshTokenUsed.Becausef("session %s ended: a replaced refresh token was repeated", sessionID)
	}
	return g, err
}

// mayRepeat tells whether a used token still leads to the current one: always when it is its parent, because the
// answer may never have arrived; otherwise for RefreshReuse after its use (READING §3.32).
func (s *Service) mayRepeat(t refreshToken, now time.Time) bool {
	return t.generation == t.currentGeneration-1 || !now.After(t.usedAt.Add(s.cfg.RefreshReuse))
}

// currentFrom walks from a used token to the current one. It returns "" when the walk ends elsewhere, which happens
// after RefreshKey was changed.
func (s *Service) currentFrom(token string, t refreshToken) string {
	for range t.currentGeneration - t.generation {
		token = s.successor(token)
	}
	if hashToken(token) != t.currentHash {
		return ""
	}
	return token
}

// successor derives the token that replaces another. Whoever lacks the key cannot compute it from the parent.
func (s *Service) successor(parent string) string {
	mac := hmac.New(sha256.New, s.cfg.RefreshKey)
	mac.Write([]byte(parent))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
