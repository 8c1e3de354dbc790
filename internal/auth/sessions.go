package auth

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file opens sessions. It also decides the status of a session: whether it is alive (has not ended), and whether it has the rights of
// an administrator (an owner: an account with the role admin).

// signIn describes the sign-in that opens a session.
type signIn struct {
	method   string     // the method in the amr claim of access tokens: password, otp, magiclink, oauth, sso/saml, …
	provider string     // provider of the identity that was used: email, phone, google, …
	notAfter *time.Time // when the identity provider ends the session; nil: it sets no end
}

// issuedSession is an opened or refreshed session, with its account and its new refresh token in plain text.
type issuedSession struct {
	session      session
	user         User
	refreshToken string
}

// startSession opens a session for an account, and queues a notice by mail if the device is new. It returns errUserBanned for a
// banned account, and db.ErrNoRows when the account does not exist.
func (s *Service) startSession(ctx context.Context, tx *db.Tx, c clientInfo, userID string, signIn signIn) (issuedSession, error) {
	now := s.now()
	amr := identity.AMR{Method: signIn.method, Timestamp: now.Unix()}
	if id, isSSO := strings.CutPrefix(signIn.provider, ssoPrefix); isSSO {
		amr.Provider = id
	}
	issued := issuedSession{
		session:      session{id: uuid.NewString(), userID: userID, aal: aal1, amr: []identity.AMR{amr}, notAfter: signIn.notAfter},
		refreshToken: randomToken(),
	}
	// The sign-in is recorded before the account is read, so that the response contains the time of this sign-in.
	if err := recordSignIn(ctx, tx, userID, signIn.provider, now); err != nil {
		return issuedSession{}, err
	}
	var err error
	if issued.user, err = userByID(ctx, tx, userID); err != nil {
		return issuedSession{}, err
	}
	if issued.user.banned(now) {
		return issuedSession{}, errUserBanned.Becausef("user %s, until %s", userID, issued.user.BannedUntil)
	}
	return issued, errors.Join(
		insertSession(ctx, tx, issued.session, c, now),
		insertRefreshToken(ctx, tx, issued.session.id, hashToken(issued.refreshToken), 0, now), // generation 0: the session's first token
		s.notifyNewDevice(ctx, tx, c, issued.user),
		s.audit(ctx, tx, c, auditSignIn, userID, map[string]any{"method": signIn.method, "provider": signIn.provider, "session_id": issued.session.id}),
	)
}

// notifyNewDevice queues a notice about a sign-in from a new device. The first device of an account causes no notice.
func (s *Service) notifyNewDevice(ctx context.Context, tx *db.Tx, c clientInfo, u User) error {
	isKnown, deviceCount, err := recordDevice(ctx, tx, u.ID, c.deviceHash(u.ID), s.now())
	if err != nil || isKnown || deviceCount == 0 {
		return err
	}
	return s.sendNotice(ctx, tx, c, u, MailNewDevice)
}

// sessionAliveArgs returns the five arguments of the SQL condition sessionAlive: now, and for each of the session limits the earliest
// time at which a session that is alive can have been opened or refreshed.
func (s *Service) sessionAliveArgs() []any { return s.sessionAliveArgsAt(s.now()) }

// sessionAliveArgsAt returns the arguments with which sessionAlive selects the sessions that will be alive at the time now, unless they
// are ended or refreshed before.
func (s *Service) sessionAliveArgsAt(now time.Time) []any {
	l := s.cfg.Sessions
	earliest := func(limit time.Duration) time.Time {
		if limit == 0 {
			return time.Unix(0, 0).UTC()
		}
		return now.Add(-limit)
	}
	return []any{now, earliest(l.OwnerMax), earliest(l.OwnerIdle), earliest(l.Max), earliest(l.Idle)}
}

// IsAdmin reports whether the user is an administrator in this session; it is an identity.AdminLookup. All of this must hold:
// the account has the role in user_roles and is not banned; the session, when the token names one, is alive; and the session
// is at aal2 if the account has a verified second factor or Config.RequireSecondFactor is true. The token must be at aal2 too,
// because a token that was stolen before the step-up must not gain rights by the step-up.
func (s *Service) IsAdmin(ctx context.Context, userID, sessionID string) (bool, error) {
	user, ok := canonicalUUID(userID)
	if !ok {
		return false, nil // no account has such an id
	}
	if sessionID == "" {
		return hasAdminRole(ctx, s.db, user, s.cfg.RequireSecondFactor, s.now())
	}
	session, ok := canonicalUUID(sessionID)
	if !ok {
		return false, nil
	}
	return hasAdminRoleInSession(ctx, s.db, user, session, identity.Of(ctx).AAL, s.cfg.RequireSecondFactor, s.now(), s.sessionAliveArgs())
}

// SessionStatuses returns the status of many sessions with one query, in the order of sessions. Its rules are those of
// IsAdmin. It is an identity.SessionStatusLookup.
func (s *Service) SessionStatuses(ctx context.Context, sessions []identity.Session) ([]identity.SessionStatus, error) {
	queries := make([]statusQuery, 0, len(sessions))
	for i, of := range sessions {
		user, known := canonicalUUID(of.UserID)
		q := statusQuery{Index: i, User: user, AAL: of.AAL}
		if of.ID != "" {
			session, ok := canonicalUUID(of.ID)
			q.Session, known = &session, known && ok
		}
		if known { // an id that is no UUID belongs to no account or session
			queries = append(queries, q)
		}
	}
	list := make([]identity.SessionStatus, len(sessions))
	if len(queries) == 0 {
		return list, nil
	}
	return list, sessionStatuses(ctx, s.db, queries, s.cfg.RequireSecondFactor, s.sessionAliveArgs(), list)
}
