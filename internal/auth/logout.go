package auth

import (
	"errors"
	"net/http"

	"atelie/internal/db"
)

// Logout is POST /auth/v1/logout: it ends sessions of the caller, at once and for every refresh token in them. scope is
// global (the default: all of them), local (this one) or others (all but this one).
func (s *Service) Logout(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, sessionID, err := s.signedIn(ctx)
	if err != nil {
		return err
	}
	scope := r.URL.Query().Get("scope")
	switch scope {
	case "":
		scope = "global"
	case "global", "local", "others":
	default:
		return errLogoutScope(scope)
	}
	if sessionID == "" {
		scope = "global" // a token without a session leaves no other choice
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		var err error
		switch scope {
		case "local":
			err = deleteSession(ctx, tx, sessionID)
		case "others":
			err = deleteOtherSessions(ctx, tx, user.ID, sessionID)
		default:
			err = errors.Join(deleteSessions(ctx, tx, user.ID), deleteFlowsOf(ctx, tx, user.ID))
		}
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, clientOf(r), auditSignOut, user.ID, map[string]any{"scope": scope, "session_id": sessionID})
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
