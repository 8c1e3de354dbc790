package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// session is a row of auth_sessions.
type session struct {
	id     string
	userID string
	aal    string
	amr    []identity.AMR
}

// client is what a session remembers of the program that uses it.
type client struct{ userAgent, ip string }

const maxUserAgent = 400 // bytes

func clientOf(r *http.Request) client {
	agent := r.UserAgent()
	agent = strings.ReplaceAll(strings.ToValidUTF8(agent[:min(len(agent), maxUserAgent)], ""), "\x00", "")
	return client{userAgent: agent, ip: httpx.ClientIP(r.Context())}
}

// grant is a session together with what its holder gets.
type grant struct {
	session      session
	user         User
	refreshToken string
}

// startSession opens a session for the user, by the given method (RFC 8176).
func (s *Service) startSession(ctx context.Context, tx *db.Tx, c client, userID, method string) (grant, error) {
	now := s.now()
	g := grant{
		session:      session{id: uuid.NewString(), userID: userID, aal: "aal1", amr: []identity.AMR{{Method: method, Timestamp: now.Unix()}}},
		refreshToken: randomToken(),
	}
	if err := recordSignIn(ctx, tx, userID, now); err != nil {
		return grant{}, err
	}
	if err := insertSession(ctx, tx, g.session, c, now); err != nil {
		return grant{}, err
	}
	if err := insertRefreshToken(ctx, tx, g.session.id, hashToken(g.refreshToken), 0, now); err != nil {
		return grant{}, err
	}
	var err error
	g.user, err = userByID(ctx, tx, userID)
	return g, err
}

// accessClaims puts three claims as the service writes them: aud as plain text, metadata even when empty.
type accessClaims struct {
	identity.Claims
	Audience     string         `json:"aud"`
	AppMetadata  map[string]any `json:"app_metadata"`
	UserMetadata map[string]any `json:"user_metadata"`
}

// sessionBody is the session as the client stores it (spec §3 Session).
type sessionBody struct {
	AccessToken  string `json:"access_token"`
	TokenType    string `json:"token_type"`
	ExpiresIn    int64  `json:"expires_in"` // seconds
	ExpiresAt    int64  `json:"expires_at"` // Unix seconds
	RefreshToken string `json:"refresh_token"`
	User         User   `json:"user"`
}

// passwordSessionBody is the answer to a password: the session, and whether the password should be changed.
type passwordSessionBody struct {
	sessionBody
	WeakPassword *weakPassword `json:"weak_password"`
}

func (s *Service) sessionBody(g grant) (sessionBody, error) {
	issued := s.now().UTC().Truncate(time.Second)
	expires := issued.Add(s.cfg.JWTExpiry)
	token, err := s.tokens.Sign(accessClaims{
		Claims: identity.Claims{
			RegisteredClaims: jwt.RegisteredClaims{
				Issuer: s.cfg.SiteURL + "/auth/v1", Subject: g.user.ID,
				IssuedAt: jwt.NewNumericDate(issued), ExpiresAt: jwt.NewNumericDate(expires),
			},
			Role: identity.Authenticated, Email: g.user.Email, Phone: g.user.Phone,
			AAL: g.session.aal, AMR: g.session.amr, SessionID: g.session.id, IsAnonymous: g.user.IsAnonymous,
		},
		Audience: g.user.Aud, AppMetadata: g.user.AppMetadata, UserMetadata: g.user.UserMetadata,
	})
	if err != nil {
		return sessionBody{}, err
	}
	return sessionBody{
		AccessToken: token, TokenType: "bearer", ExpiresIn: int64(s.cfg.JWTExpiry / time.Second), ExpiresAt: expires.Unix(),
		RefreshToken: g.refreshToken, User: g.user,
	}, nil
}

// answerPassword sends the session that a password opened.
func (s *Service) answerPassword(w http.ResponseWriter, g grant, password string) error {
	body, err := s.sessionBody(g)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, passwordSessionBody{body, weakness(password)})
}

// signedIn gives the account of the caller, whose session must still exist. Its id is "" for a token without one.
func (s *Service) signedIn(ctx context.Context) (user User, sessionID string, err error) {
	caller := identity.Of(ctx)
	if caller.Role != identity.Authenticated || caller.UserID == "" {
		return User{}, "", errMissingSub.Becausef("role %q", caller.Role)
	}
	userID, ok := canonicalUUID(caller.UserID)
	if !ok {
		return User{}, "", errSubNotUUID.Becausef("sub %q", caller.UserID)
	}
	user, err = userByID(ctx, s.db, userID)
	if errors.Is(err, db.ErrNoRows) {
		return User{}, "", errUserNotFound.Becausef("user %s", userID)
	}
	if err != nil || caller.SessionID == "" {
		return user, "", err
	}
	if sessionID, ok = canonicalUUID(caller.SessionID); !ok {
		return User{}, "", errSessionNotUUID.Becausef("session_id %q", caller.SessionID)
	}
	alive, err := sessionExists(ctx, s.db, sessionID, user.ID)
	if err != nil {
		return User{}, "", err
	}
	if !alive {
		return User{}, "", errSessionNotFound.Becausef("session %s of user %s", sessionID, user.ID)
	}
	return user, sessionID, nil
}

// canonicalUUID gives the one spelling in which both engines keep an id: PostgreSQL refuses others, SQLite misses them.
func canonicalUUID(s string) (string, bool) {
	id, err := uuid.Parse(s)
	return id.String(), err == nil
}

// IsAdmin tells whether the user is an administrator through this session: the role stands in user_roles (spec §6),
// and the session, when the token names one, was not signed out. It is an identity.AdminLookup.
func (s *Service) IsAdmin(ctx context.Context, userID, sessionID string) (bool, error) {
	user, ok := canonicalUUID(userID)
	if !ok {
		return false, nil // no account has such an id
	}
	if sessionID == "" {
		return hasAdminRole(ctx, s.db, user)
	}
	session, ok := canonicalUUID(sessionID)
	if !ok {
		return false, nil
	}
	return hasAdminRoleThrough(ctx, s.db, user, session)
}
