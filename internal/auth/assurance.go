package auth

import (
	"context"
	"errors"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Assurance levels (spec §4): aal2 once a second factor was shown in the session.
const (
	aal1 = "aal1"
	aal2 = "aal2"
)

// Methods that raise a session, as the amr claim names them. The last one is ours.
const (
	methodTOTP         = "totp"
	methodPhone        = "mfa/phone"
	methodRecoveryCode = "mfa/recovery_code"
)

func secondFactor(a identity.AMR) bool {
	return a.Method == methodTOTP || a.Method == methodPhone || a.Method == methodRecoveryCode
}

// inSession gives the caller's account and its session as the database has it. It counts as aal2 only when the token
// says so too: one that was stolen before does not rise with its session. errFactorSession for a token without one.
func (s *Service) inSession(ctx context.Context) (User, session, error) {
	user, id, err := s.signedIn(ctx)
	if err != nil {
		return User{}, session{}, err
	}
	if id == "" {
		return User{}, session{}, errFactorSession
	}
	current, err := sessionByID(ctx, s.db, id, user.ID)
	if errors.Is(err, db.ErrNoRows) {
		err = errSessionNotFound.Becausef("session %s of user %s", id, user.ID)
	}
	if identity.Of(ctx).AAL != aal2 {
		current.aal = aal1
	}
	return user, current, err
}

// lockAccount holds the account while its factors and sessions change, and reads both anew. in is what inSession gave.
func lockAccount(ctx context.Context, tx *db.Tx, in session) (User, session, error) {
	user, err := lockUser(ctx, tx, in.userID)
	if errors.Is(err, db.ErrNoRows) {
		return User{}, session{}, errUserNotFound.Becausef("user %s", in.userID)
	}
	if err != nil {
		return User{}, session{}, err
	}
	current, err := sessionByID(ctx, tx, in.id, in.userID)
	if errors.Is(err, db.ErrNoRows) {
		err = errSessionNotFound.Becausef("session %s of user %s", in.id, in.userID)
	}
	if in.aal != aal2 {
		current.aal = aal1
	}
	return user, current, err
}

// raise brings the session to aal2 and gives it a new refresh token. The tokens it had are struck out: one that was
// stolen at aal1 must not open what the second factor guards. factorID is "" for a recovery code.
func (s *Service) raise(ctx context.Context, tx *db.Tx, c client, current session, method, factorID string) (grant, error) {
	now := s.now()
	touched, err := touchSession(ctx, tx, current.id, c, now)
	if errors.Is(err, db.ErrNoRows) {
		return grant{}, errSessionNotFound.Becausef("session %s ended in the meantime", current.id)
	}
	if err != nil {
		return grant{}, err
	}
	if touched.notAfter != nil && !now.Before(*touched.notAfter) {
		return grant{}, errSessionExpired.Becausef("session %s", current.id)
	}
	touched.aal, touched.amr = aal2, withMethod(touched.amr, method, now)
	if err := setAssurance(ctx, tx, touched, factorID); err != nil {
		return grant{}, err
	}
	g := grant{session: touched, refreshToken: randomToken()}
	if err := restartRefreshTokens(ctx, tx, touched.id, hashToken(g.refreshToken), now); err != nil {
		return grant{}, err
	}
	g.user, err = userByID(ctx, tx, touched.userID)
	if err == nil && g.user.banned(now) {
		err = errUserBanned.Becausef("user %s", g.user.ID)
	}
	return g, err
}

// withMethod puts a method first: the newest one leads in the amr claim, each is named once.
func withMethod(amr []identity.AMR, method string, now time.Time) []identity.AMR {
	rest := slices.DeleteFunc(slices.Clone(amr), func(a identity.AMR) bool { return a.Method == method })
	return append([]identity.AMR{{Method: method, Timestamp: now.Unix()}}, rest...)
}

// dropFactor removes a factor; the sessions that it raised step down. With the last verified factor the recovery codes
// go too, and no session stays at aal2.
func dropFactor(ctx context.Context, tx *db.Tx, userID, factorID string) error {
	if err := deleteFactor(ctx, tx, userID, factorID); err != nil {
		return err
	}
	left, err := factorsOf(ctx, tx, userID)
	if err != nil {
		return err
	}
	last := !User{Factors: left}.hasVerifiedFactor()
	if last {
		if err := deleteRecoveryCodes(ctx, tx, userID); err != nil {
			return err
		}
	}
	raised, err := raisedSessions(ctx, tx, userID, factorID, last)
	if err != nil {
		return err
	}
	for _, r := range raised {
		r.aal, r.amr = aal1, slices.DeleteFunc(r.amr, secondFactor)
		if err := setAssurance(ctx, tx, r, ""); err != nil {
			return err
		}
	}
	return nil
}

// factor finds one of the account's factors.
func (u User) factor(id string) (Factor, bool) {
	i := slices.IndexFunc(u.Factors, func(f Factor) bool { return f.ID == id })
	if i < 0 {
		return Factor{}, false
	}
	return u.Factors[i], true
}
