package auth

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/db"
)

// This file defines the types and limits of second factors, and finds and removes factors for the handlers in factor_*.go.

// Types and states of second factors, as the client reads them.
const (
	factorTOTP       = "totp"
	factorPhone      = "phone"
	statusUnverified = "unverified"
	statusVerified   = "verified"
)

const (
	maxFactors    = 10 // maximum number of factors of one account
	maxFactorText = 64 // maximum number of characters of a factor's name, and of its issuer; the issuer must fit into a QR code
	// unverifiedFactorLife is how long an unverified factor is kept after its newest challenge, or after its creation if it has none. The
	// next enrolment of the account deletes older ones.
	unverifiedFactorLife = 5 * time.Minute
)

var errFactorText = apperr.New(http.StatusBadRequest, "validation_failed", fmt.Sprintf("friendly_name and issuer can have at most %d characters, and no control characters", maxFactorText))

// purposeTOTP, followed by the factor's id, is the purpose with which the factor's secret is sealed (encrypted). A sealed value can be
// decrypted only with its own purpose.
const purposeTOTP = "totp "

// requestedFactor returns the caller's account, the caller's session, and the factor that the request's path names. It returns
// errFactorNotFound for a factor of another account.
func (s *Service) requestedFactor(r *http.Request) (User, session, storedFactor, error) {
	user, current, err := s.currentSession(r.Context())
	if err != nil {
		return User{}, session{}, storedFactor{}, err
	}
	id, ok := canonicalUUID(r.PathValue("id"))
	if !ok {
		return User{}, session{}, storedFactor{}, errFactorNotUUID
	}
	f, err := factorByID(r.Context(), s.db, user.ID, id)
	return user, current, f, db.NoRowsAs(err, errFactorNotFound)
}

// removeFactor deletes a factor. Sessions that reached the assurance level aal2 with this factor return to aal1 (no second factor used).
// If the account then has no verified factor, all its sessions return to aal1, and removeFactor also deletes the recovery codes.
func removeFactor(ctx context.Context, tx *db.Tx, userID, factorID string) error {
	if err := deleteFactor(ctx, tx, userID, factorID); err != nil {
		return err
	}
	remaining, err := factorsOf(ctx, tx, userID)
	if err != nil {
		return err
	}
	noneVerified := !User{Factors: remaining}.hasVerifiedFactor()
	if noneVerified {
		err = deleteRecoveryCodes(ctx, tx, userID)
	}
	raised, readErr := steppedUpSessions(ctx, tx, userID, factorID, noneVerified)
	err = errors.Join(err, readErr)
	for _, r := range raised {
		r.aal, r.amr = aal1, slices.DeleteFunc(r.amr, isSecondFactor)
		err = errors.Join(err, setAssurance(ctx, tx, r, ""))
	}
	return err
}
