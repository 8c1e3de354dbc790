package auth

import (
	"errors"
	"net/http"

	"atelie/internal/db"
)

// UnenrolFactor handles DELETE /auth/v1/factors/{id}: it removes a second factor of the caller. A session is at the assurance level aal2
// after a second factor was used, and at aal1 before. Sessions that reached aal2 with the removed factor return to aal1.
// The removal of a verified factor has two conditions:
//   - The caller's session is at aal2.
//   - An owner (an account with the role admin) whose sign-in is not recent must reauthenticate with the password or a code.
func (s *Service) UnenrolFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, callerSession, f, err := s.requestedFactor(r)
	if err != nil {
		return err
	}
	var (
		body  proof        // the password or the code for the reauthentication
		nonce oneTimeToken // the stored token of the code; the zero value if there is no code
	)
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if f.Status == statusVerified { // an unverified factor protects nothing
		if nonce, err = s.reauthenticateIfStale(w, r, user, callerSession.id, body); err != nil {
			return err
		}
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		user, current, err := s.lockSession(ctx, tx, callerSession)
		if err != nil {
			return err
		}
		stored, ok := user.factor(f.ID)
		switch {
		case !ok:
			return errFactorNotFound.Becausef("removed in the meantime")
		case stored.Status == statusVerified && current.aal != aal2:
			return errUnenrolAAL
		}
		if err := s.consumeNonce(ctx, tx, nonce); err != nil {
			return err
		}
		detail := map[string]any{"factor_id": f.ID, "factor_type": f.FactorType, "factor_status": stored.Status, "session_id": callerSession.id}
		return errors.Join(
			removeFactor(ctx, tx, user.ID, f.ID),
			s.audit(ctx, tx, clientOf(r), auditFactorUnenrolled, user.ID, detail),
		)
	})
	return respond(w, http.StatusOK, map[string]string{"id": f.ID}, err)
}
