package auth

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"atelie/internal/db"
)

// This file defines the types and limits of second factors (authenticator apps and phone numbers), and finds and removes factors for the
// handlers in factor_*.go.

// Types and states of second factors, as the client reads them.
const (
	factorTOTP       = "totp"
	factorPhone      = "phone"
	statusUnverified = "unverified"
	statusVerified   = "verified"
)

const (
	maxFactors = 10 // maximum number of factors of one account
	// maxFactorText is the maximum number of characters of a factor's name (friendly_name), and of its issuer, which must fit into a QR code.
	maxFactorText = 64
	// unverifiedFactorLife is how long an unverified factor is kept after its newest challenge, or after its creation if it has none. After
	// that time, the next enrolment of a factor by the account deletes it.
	unverifiedFactorLife = 5 * time.Minute
)

var errFactorText = errInvalid("friendly_name and issuer can have at most %d characters, and no control characters", maxFactorText)

// purposeTOTP and the factor's id together are the purpose with which the factor's secret is sealed (encrypted). A value can be opened only
// with the purpose with which it was sealed. So the secret of one factor is of no use in the row of another factor.
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

// removeFactor deletes a factor. A session has the assurance level aal1, and aal2 after a second factor was used. Sessions that reached
// aal2 with the deleted factor return to aal1. If the account then has no verified factor, all its sessions return to aal1, and
// removeFactor also deletes the recovery codes.
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
		err = deleteRows(ctx, tx, userID, "auth_recovery_codes")
	}
	steppedUp, readErr := steppedUpSessions(ctx, tx, userID, factorID, noneVerified)
	err = errors.Join(err, readErr)
	for _, s := range steppedUp {
		s.aal, s.amr = aal1, slices.DeleteFunc(s.amr, isSecondFactor)
		err = errors.Join(err, setAssurance(ctx, tx, s, "")) // "": no factor
	}
	return err
}
