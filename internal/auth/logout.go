package auth

import "net/http"

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
	case "", "global", "local", "others":
	default:
		return errLogoutScope(scope)
	}
	switch {
	case sessionID != "" && scope == "local":
		err = deleteSession(ctx, s.db, sessionID)
	case sessionID != "" && scope == "others":
		err = deleteOtherSessions(ctx, s.db, user.ID, sessionID)
	default: // a token without a session leaves no other choice
		err = deleteSessions(ctx, s.db, user.ID)
	}
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
