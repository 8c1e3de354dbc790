package auth

import (
	"errors"
	"net/http"

	"atelie/internal/db"
)

// Logout handles POST /auth/v1/logout: it ends sessions of the caller, and their tokens stop working immediately. The parameter scope
// selects the sessions:
//   - global (the default): all sessions
//   - local: the session of the request
//   - others: all sessions except the session of the request
func (s *Service) Logout(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, sessionID, err := s.currentUser(ctx)
	if err != nil {
		return err
	}
	scope := r.URL.Query().Get("scope")
	switch scope {
	case "":
		scope = "global"
	case "global", "local", "others":
	default:
		return errInvalid("Unsupported logout scope %q", scope)
	}
	if sessionID == "" {
		scope = "global" // the token names no session, so local and others have no meaning
	}
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		var err error
		switch scope {
		case "local":
			err = deleteSession(ctx, tx, sessionID)
		case "others":
			err = deleteOtherSessions(ctx, tx, user.ID, sessionID)
		default: // global. Flows (pending sign-ins) are deleted too, because they could open a session afterwards.
			err = errors.Join(deleteSessions(ctx, tx, user.ID), deleteFlowsOf(ctx, tx, user.ID))
		}
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, clientOf(r), auditSignOut, user.ID, map[string]any{"scope": scope, "session_id": sessionID})
	})
	return respondNoContent(w, err)
}
