package auth

import (
	"net/http"

	"atelie/internal/db"
)

// Sessions handles GET /auth/v1/user/sessions (not in Supabase Auth). The response has the caller's sessions with device and IP address,
// the most recently used session first. If the account has a verified second factor, the caller needs a session at the assurance level aal2
// (signed in with that factor): a stolen password must not be enough to see where the account's holder signs in.
func (s *Service) Sessions(w http.ResponseWriter, r *http.Request) error {
	user, current, err := s.currentSession(r.Context())
	if err != nil {
		return err
	}
	if user.hasVerifiedFactor() && current.aal != aal2 {
		return errAAL2Needed
	}
	list, err := sessionsOf(r.Context(), s.db, user.ID, s.sessionAliveArgs())
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Current = list[i].ID == current.id
	}
	return respondPrivate(w, list, nil)
}

// EndSession handles DELETE /auth/v1/user/sessions/{id}: it ends one of the caller's sessions and its refresh tokens. If the
// account has a verified second factor, the caller needs a session at aal2 to end other sessions than their own.
func (s *Service) EndSession(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, current, err := s.currentSession(ctx)
	if err != nil {
		return err
	}
	id, ok := canonicalUUID(r.PathValue("id"))
	if !ok {
		return errSessionIDNotUUID
	}
	if id != current.id && user.hasVerifiedFactor() && current.aal != aal2 {
		return errAAL2Needed
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := deleteOwnSession(ctx, tx, user.ID, id); err != nil {
			return err
		}
		return s.audit(ctx, tx, clientOf(r), auditSignOut, user.ID, map[string]any{"session_id": id, "by": current.id})
	})
	return respondNoContent(w, err)
}
