package auth

import (
	"context"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file finds the account and the session of a request's caller, and checks whether the caller has the service key (the API key with
// the role service_role).

// currentUser returns the account and the session id that the caller's access token names. It returns an error if the account is banned,
// or if the session does not exist or has expired. sessionID is "" for a token that names no session. A request that has only an API key,
// and no Authorization header, is refused with errNoBearer (401).
func (s *Service) currentUser(ctx context.Context) (user User, sessionID string, err error) {
	caller := identity.Of(ctx)
	if !caller.Bearer {
		return User{}, "", errNoBearer
	}
	if caller.Role != identity.Authenticated || caller.UserID == "" {
		return User{}, "", errMissingSub.Becausef("role %q", caller.Role)
	}
	userID, ok := canonicalUUID(caller.UserID)
	if !ok {
		return User{}, "", errSubNotUUID.Becausef("sub %q", caller.UserID)
	}
	// A session id that is not a UUID is an error. The errors for a missing or banned account have precedence over this error, so the
	// account is read first.
	isSessionUUID := true
	if caller.SessionID != "" {
		if sessionID, isSessionUUID = canonicalUUID(caller.SessionID); !isSessionUUID {
			sessionID = ""
		}
	}
	user, isSessionAlive, err := userAndSession(ctx, s.db, userID, sessionID, s.sessionAliveArgs())
	switch {
	case err != nil:
		return User{}, "", db.NoRowsAs(err, errUserNotFound.Becausef("user %s", userID))
	case user.banned(s.now()): // the account may have been banned after the token was issued
		return User{}, "", errBanned.Becausef("user %s, until %s", userID, user.BannedUntil)
	case !isSessionUUID:
		return User{}, "", errSessionNotUUID.Becausef("session_id %q", caller.SessionID)
	case sessionID != "" && !isSessionAlive:
		return User{}, "", errSessionNotFound.Becausef("session %s of user %s", sessionID, user.ID)
	}
	return user, sessionID, nil
}

// currentSession returns the caller's account and session from the database. The returned session has at most the assurance level of the
// token: aal1 (without a second factor) or aal2 (with a second factor). A token that was stolen at aal1 must not gain rights when its
// session reaches aal2. currentSession returns errSessionRequired for a token that names no session.
func (s *Service) currentSession(ctx context.Context) (User, session, error) {
	user, id, err := s.currentUser(ctx)
	if err != nil {
		return User{}, session{}, err
	}
	if id == "" {
		return User{}, session{}, errSessionRequired
	}
	current, err := s.readSession(ctx, s.db, id, user.ID)
	if err != nil {
		return User{}, session{}, err
	}
	if identity.Of(ctx).AAL != aal2 {
		current.aal = aal1
	}
	return user, current, nil
}

// lockSession locks the account of callerSession in the transaction of a change, and reads account and session again. callerSession is
// the result of currentSession. The returned session has at most the assurance level of callerSession.
func (s *Service) lockSession(ctx context.Context, tx *db.Tx, callerSession session) (User, session, error) {
	user, err := lockUser(ctx, tx, callerSession.userID)
	if err != nil {
		return User{}, session{}, db.NoRowsAs(err, errUserNotFound.Becausef("user %s", callerSession.userID))
	}
	current, err := s.readSession(ctx, tx, callerSession.id, callerSession.userID)
	if err != nil {
		return User{}, session{}, err
	}
	if callerSession.aal != aal2 {
		current.aal = aal1
	}
	return user, current, nil
}

// readSession returns a session of the account, or errSessionNotFound when it has ended.
func (s *Service) readSession(ctx context.Context, q db.Querier, id, userID string) (session, error) {
	current, err := sessionByID(ctx, q, id, userID, s.sessionAliveArgs())
	return current, db.NoRowsAs(err, errSessionNotFound.Becausef("session %s of user %s", id, userID))
}

// requireServiceKey returns an error unless the caller has the service key. An owner's access token is not enough.
func requireServiceKey(ctx context.Context) error {
	caller := identity.Of(ctx)
	switch {
	case !caller.Bearer:
		return errNoBearer
	case caller.Role != identity.Service:
		return errNotAdmin.Becausef("role %q, user %q", caller.Role, caller.UserID)
	}
	return nil
}

// The actors in audit entries of changes that no account has made.
const (
	actorServiceKey = "service_role"
	actorCommand    = "command" // a command that the operator ran
)

// auditServiceKey writes an audit entry for a change that the request made with the service key.
func (s *Service) auditServiceKey(ctx context.Context, q db.Querier, r *http.Request, action auditAction, userID string, detail map[string]any) error {
	return s.audit(ctx, q, clientOf(r), action, userID, mergeMetadata(detail, map[string]any{"actor": actorServiceKey}))
}

// auditCommand writes an audit entry for a change that a command of the operator made.
func (s *Service) auditCommand(ctx context.Context, q db.Querier, action auditAction, userID string) error {
	return s.audit(ctx, q, clientInfo{}, action, userID, map[string]any{"actor": actorCommand})
}

// userInPath returns the account that the request's path names. It also finds soft-deleted accounts, which stay visible to the
// service key. Errors: 404 validation_failed, 404 user_not_found.
func userInPath(ctx context.Context, q db.Querier, r *http.Request) (User, error) {
	id, ok := canonicalUUID(r.PathValue("user_id"))
	if !ok {
		return User{}, errUserIDNotUUID
	}
	u, err := anyUserByID(ctx, q, id)
	return u, db.NoRowsAs(err, errUnknownUser.Becausef("user %s", id))
}

// lockUserInPath is userInPath for a change: it locks the account's row, and does not find soft-deleted accounts.
func lockUserInPath(ctx context.Context, tx *db.Tx, r *http.Request) (User, error) {
	id, ok := canonicalUUID(r.PathValue("user_id"))
	if !ok {
		return User{}, errUserIDNotUUID
	}
	u, err := lockUser(ctx, tx, id)
	return u, db.NoRowsAs(err, errUnknownUser.Becausef("user %s", id))
}
