package auth

import (
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// UnenrolFactor is DELETE /auth/v1/factors/{id}: a verified one only at aal2. The sessions that it raised go back to
// aal1.
func (s *Service) UnenrolFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	_, in, f, err := s.ownFactor(r)
	if err != nil {
		return err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		user, current, err := lockAccount(ctx, tx, in)
		if err != nil {
			return err
		}
		known, ok := user.factor(f.ID)
		switch {
		case !ok:
			return errFactorNotFound.Becausef("removed in the meantime")
		case known.Status == statusVerified && current.aal != aal2:
			return errUnenrolAAL
		}
		if err := dropFactor(ctx, tx, user.ID, f.ID); err != nil {
			return err
		}
		return s.audit(ctx, tx, clientOf(r), auditFactorUnenrolled, user.ID, map[string]any{
			"factor_id": f.ID, "factor_type": f.FactorType, "factor_status": known.Status, "session_id": in.id,
		})
	})
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]string{"id": f.ID})
}
