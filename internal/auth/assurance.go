package auth

import (
	"context"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file raises a session to the assurance level aal2 after a second factor (the step-up).

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
// at aal1 (the level without a second factor) must not give access at aal2. method is one of the names above; factorID is "" for a recovery
// code.
func (s *Service) stepUp(ctx context.Context, tx *db.Tx, c client, current session, method, factorID string) (issuedSession, error) {
	now := s.now()
	touched, err := touchSession(ctx, tx, current.id, c, now)
	if err != nil {
		return issuedSession{}, db.NoRowsAs(err, errSessionNotFound.Becausef("session %s ended in the meantime", current.id))
	}
	if touched.notAfter != nil && !now.Before(*touched.notAfter) {
		return issuedSession{}, errSessionExpired.Becausef("session %s", current.id)
	}
	touched.aal, touched.amr = aal2, withMethod(touched.amr, method, now)
	if err := setAssurance(ctx, tx, touched, factorID); err != nil {
		return issuedSession{}, err
	}
	issued := issuedSession{session: touched, refreshToken: randomToken()}
	if err := restartRefreshTokens(ctx, tx, touched.id, hashToken(issued.refreshToken), now); err != nil {
		return issuedSession{}, err
	}
	issued.user, err = userByID(ctx, tx, touched.userID)
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
