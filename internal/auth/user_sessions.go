package auth

import (
	"net/http"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// SessionInfo is one of the caller's sessions, as its list shows it. The list is our addition.
type SessionInfo struct {
	ID          string    `json:"id"`
	CreatedAt   time.Time `json:"created_at"`
	RefreshedAt time.Time `json:"refreshed_at"`
	UserAgent   string    `json:"user_agent"`
	IP          string    `json:"ip"`
	AAL         string    `json:"aal"`
	Current     bool      `json:"current"`
}

// Sessions is GET /auth/v1/user/sessions: where the caller is signed in, the session used last first. With a verified
// factor it needs aal2: a password alone must not tell where the owner is.
func (s *Service) Sessions(w http.ResponseWriter, r *http.Request) error {
	user, in, err := s.inSession(r.Context())
	if err != nil {
		return err
	}
	if user.hasVerifiedFactor() && in.aal != aal2 {
		return errAAL2Needed
	}
	list, err := sessionsOf(r.Context(), s.db, user.ID, s.now())
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Current = list[i].ID == in.id
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, list)
}

// EndSession is DELETE /auth/v1/user/sessions/{id}: it ends one of the caller's sessions, refresh tokens included. With
// a verified factor, others than the caller's own need aal2.
func (s *Service) EndSession(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, in, err := s.inSession(ctx)
	if err != nil {
		return err
	}
	id, ok := canonicalUUID(r.PathValue("id"))
	if !ok {
		return errSessionIDNotUUID
	}
	if id != in.id && user.hasVerifiedFactor() && in.aal != aal2 {
		return errAAL2Needed
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		ended, err := deleteOwnSession(ctx, tx, user.ID, id)
		if err != nil {
			return err
		}
		if !ended {
			return errNoSuchSession
		}
		return s.audit(ctx, tx, clientOf(r), auditSignOut, user.ID, map[string]any{"session_id": id, "by": in.id})
	})
	if err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}
