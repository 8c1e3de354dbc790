package auth

import (
	"context"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file has the step-up: it raises a session from the assurance level aal1 (without a second factor) to aal2, after its user has proved
// a second factor.

// Names of the second factors in the amr claim of access tokens, which lists how the session was authenticated.
const (
	methodTOTP         = "totp"
	methodPhone        = "mfa/phone"
	methodRecoveryCode = "mfa/recovery_code" // not in Supabase Auth
)

// isSecondFactor reports whether an entry of the amr claim is for a second factor.
func isSecondFactor(a identity.AMR) bool {
	return a.Method == methodTOTP || a.Method == methodPhone || a.Method == methodRecoveryCode
}

// stepUp raises the session to aal2 and gives it a new refresh token. It deletes the older refresh tokens, because a token that was stolen
// at aal1 must not give access at aal2. method is methodTOTP, methodPhone or methodRecoveryCode. factorID is "" for a recovery code.
func (s *Service) stepUp(ctx context.Context, tx *db.Tx, c clientInfo, current session, method, factorID string) (issuedSession, error) {
	now := s.now()
	updated, err := touchSession(ctx, tx, current.id, c, now)
	if err != nil {
		return issuedSession{}, db.NoRowsAs(err, errSessionNotFound.Becausef("session %s ended in the meantime", current.id))
	}
	if updated.notAfter != nil && !now.Before(*updated.notAfter) {
		return issuedSession{}, errSessionExpired.Becausef("session %s", current.id)
	}
	updated.aal, updated.amr = aal2, withMethod(updated.amr, method, now)
	if err := setAssurance(ctx, tx, updated, factorID); err != nil {
		return issuedSession{}, err
	}
	issued := issuedSession{session: updated, refreshToken: randomToken()}
	if err := restartRefreshTokens(ctx, tx, updated.id, hashToken(issued.refreshToken), now); err != nil {
		return issuedSession{}, err
	}
	issued.user, err = userByID(ctx, tx, updated.userID)
	if err == nil && issued.user.banned(now) {
		err = errUserBanned.Becausef("user %s", issued.user.ID)
	}
	return issued, err
}

// withMethod returns the amr claim with a new first entry for method. It removes an older entry of this method. The claim is sorted
// by time, newest first.
func withMethod(amr []identity.AMR, method string, now time.Time) []identity.AMR {
	rest := slices.DeleteFunc(slices.Clone(amr), func(a identity.AMR) bool { return a.Method == method })
	return append([]identity.AMR{{Method: method, Timestamp: now.Unix()}}, rest...)
}
