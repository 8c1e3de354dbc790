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
	id       string
	userID   string
	aal      string
	amr      []identity.AMR
	notAfter *time.Time // nil: as long as it is renewed
}

// client is what a session remembers of the program that uses it.
type client struct{ userAgent, ip, language string }

const maxUserAgent = 400 // bytes

func clientOf(r *http.Request) client {
	agent := r.UserAgent()
	agent = strings.ReplaceAll(strings.ToValidUTF8(agent[:min(len(agent), maxUserAgent)], ""), "\x00", "")
	return client{userAgent: agent, ip: httpx.ClientIP(r.Context()), language: askedLanguage(r.Header.Get("Accept-Language"))}
}

// askedLanguage is the first of our two languages that Accept-Language names, else English. Weights are not looked at:
// browsers send the header in order.
func askedLanguage(header string) string {
	for _, part := range strings.Split(header, ",") {
		tag, _, _ := strings.Cut(strings.TrimSpace(part), ";")
		switch tag = strings.ToLower(tag); {
		case tag == "pt", strings.HasPrefix(tag, "pt-"):
			return "pt"
		case tag == "en", strings.HasPrefix(tag, "en-"):
			return "en"
		}
	}
	return "en"
}

// baseLanguage is the one of our languages that a locale such as pt-BR belongs to.
func baseLanguage(locale string) string {
	if l := strings.ToLower(locale); l == "pt" || strings.HasPrefix(l, "pt-") || strings.HasPrefix(l, "pt_") {
		return "pt"
	}
	return "en"
}

// device is a browser without its version numbers, so that an update is not a new device.
func (c client) device(userID string) string {
	kind := strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r == '.' {
			return -1
		}
		return r
	}, c.userAgent)
	return hashToken(userID + "\n" + kind)
}

// signIn says how a session is opened.
type signIn struct {
	method   string     // as the amr claim names it: password, otp, magiclink, oauth, sso/saml, …
	provider string     // the identity that was used: email, phone, google, …
	notAfter *time.Time // when the identity provider ends the session; nil: never
}

// grant is a session together with what its holder gets.
type grant struct {
	session      session
	user         User
	refreshToken string
}

// startSession opens a session for the user. It returns errUserBanned for an account that may not sign in.
func (s *Service) startSession(ctx context.Context, tx *db.Tx, c client, userID string, how signIn) (grant, error) {
	now := s.now()
	amr := identity.AMR{Method: how.method, Timestamp: now.Unix()}
	if id, sso := strings.CutPrefix(how.provider, ssoPrefix); sso {
		amr.Provider = id
	}
	g := grant{
		session: session{
			id: uuid.NewString(), userID: userID, aal: "aal1", amr: []identity.AMR{amr}, notAfter: how.notAfter,
		},
		refreshToken: randomToken(),
	}
	if err := recordSignIn(ctx, tx, userID, how.provider, now); err != nil {
		return grant{}, err
	}
	var err error
	if g.user, err = userByID(ctx, tx, userID); err != nil {
		return grant{}, err
	}
	if g.user.banned(now) {
		return grant{}, errUserBanned.Becausef("user %s, until %s", userID, g.user.BannedUntil)
	}
	if err := insertSession(ctx, tx, g.session, c, now); err != nil {
		return grant{}, err
	}
	if err := insertRefreshToken(ctx, tx, g.session.id, hashToken(g.refreshToken), 0, now); err != nil {
		return grant{}, err
	}
	if err := s.tellOfNewDevice(ctx, tx, c, g.user); err != nil {
		return grant{}, err
	}
	return g, s.audit(ctx, tx, c, auditSignIn, userID, map[string]any{"method": how.method, "provider": how.provider, "session_id": g.session.id})
}

// tellOfNewDevice warns the account's owner of a sign-in from a program that was not seen before. The first one is no
// news.
func (s *Service) tellOfNewDevice(ctx context.Context, tx *db.Tx, c client, u User) error {
	known, before, err := meetDevice(ctx, tx, u.ID, c.device(u.ID), s.now())
	if err != nil || known || before == 0 || u.Email == "" || u.EmailConfirmedAt == nil {
		return err
	}
	return s.sendMail(ctx, tx, Mail{Kind: MailNewDevice, To: u.Email, Language: languageFor(u, c), Device: c.userAgent, IP: c.ip})
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
	if end := g.session.notAfter; end != nil && end.Before(expires) { // no token outlives its session
		expires = end.UTC().Truncate(time.Second)
	}
	token, err := s.tokens.Sign(accessClaims{
		Claims: identity.Claims{
			RegisteredClaims: jwt.RegisteredClaims{
				Issuer: s.cfg.APIURL + "/auth/v1", Subject: g.user.ID,
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
		AccessToken: token, TokenType: "bearer", ExpiresIn: int64(expires.Sub(issued) / time.Second), ExpiresAt: expires.Unix(),
		RefreshToken: g.refreshToken, User: g.user,
	}, nil
}

// answerSession sends a session that was opened without a password.
func (s *Service) answerSession(w http.ResponseWriter, g grant) error {
	body, err := s.sessionBody(g)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, body)
}

// answerPassword sends the session that a password opened.
func (s *Service) answerPassword(w http.ResponseWriter, g grant, password string) error {
	body, err := s.sessionBody(g)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, passwordSessionBody{body, s.weakness(password)})
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
	if err != nil {
		return User{}, "", err
	}
	if user.banned(s.now()) { // since its token was made
		return User{}, "", errBanned.Becausef("user %s, until %s", userID, user.BannedUntil)
	}
	if caller.SessionID == "" {
		return user, "", nil
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
// the account is not banned, the session, when the token names one, was not signed out, and it has shown a second
// factor if the account has a verified one (READING §3.17). The token must say aal2 too: one that was stolen before does
// not rise with its session. It is an identity.AdminLookup.
func (s *Service) IsAdmin(ctx context.Context, userID, sessionID string) (bool, error) {
	user, ok := canonicalUUID(userID)
	if !ok {
		return false, nil // no account has such an id
	}
	if sessionID == "" {
		return hasAdminRole(ctx, s.db, user, s.now())
	}
	session, ok := canonicalUUID(sessionID)
	if !ok {
		return false, nil
	}
	return hasAdminRoleThrough(ctx, s.db, user, session, identity.Of(ctx).AAL, s.now())
}

// Standings tells for many sessions at once, by one query, which are alive and which are an administrator's by the rules
// of IsAdmin. It is an identity.StandingLookup: the answers are in the order of the questions.
func (s *Service) Standings(ctx context.Context, sessions []identity.Session) ([]identity.Standing, error) {
	asked := make([]standingQuestion, 0, len(sessions))
	for i, of := range sessions {
		user, known := canonicalUUID(of.UserID)
		q := standingQuestion{Index: i, User: user, AAL: of.AAL}
		if of.ID != "" {
			session, ok := canonicalUUID(of.ID)
			q.Session, known = &session, known && ok
		}
		if known { // no account, no session has another id
			asked = append(asked, q)
		}
	}
	list := make([]identity.Standing, len(sessions))
	if len(asked) == 0 {
		return list, nil
	}
	return list, standings(ctx, s.db, asked, s.now(), list)
}
