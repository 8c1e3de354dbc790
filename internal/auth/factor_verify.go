package auth

import (
	"context"
	"crypto/subtle"
	"errors"
	"net/http"
	"strconv"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

type verifyFactorRequest struct {
	ChallengeID string `json:"challenge_id"`
	Code        string `json:"code"`
}

// Tries at a factor's codes before each further one has to wait, longer every time but never longer than maxTryDelay:
// whoever knows the password alone gets 24 codes of a million a day, and the owner is not locked out for good. Networks
// from which the owner has verified before are not held up by others.
const (
	triesPerNetwork  = 5
	triesOfStrangers = 100
	firstTryDelay    = 15 * time.Second
	maxTryDelay      = time.Hour
)

// tryDelay is the wait after a number of tries too many.
func tryDelay(over int) time.Duration {
	switch {
	case over < 0:
		return 0
	case over > 8:
		return maxTryDelay
	}
	return min(firstTryDelay<<over, maxTryDelay)
}

// VerifyFactor is POST /auth/v1/factors/{id}/verify: a right code verifies the factor and raises the session to aal2.
// The answer is the whole new session.
func (s *Service) VerifyFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, current, f, err := s.ownFactor(r)
	if err != nil {
		return err
	}
	var body verifyFactorRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	switch {
	case body.Code == "":
		return errFactorCodeMissing
	case f.FactorType == factorPhone && !s.cfg.PhoneEnabled:
		return errPhoneVerifyDisabled
	}
	challenge, err := s.openChallenge(ctx, f, body.ChallengeID)
	if err != nil {
		return err
	}
	if err := s.countFactorTry(w, r, f.ID); err != nil {
		return err
	}
	step, err := s.checkFactorCode(f, challenge, body.Code)
	if err != nil {
		return errors.Join(err, s.audit(ctx, s.db, clientOf(r), auditFactorRefused, user.ID, map[string]any{"factor_id": f.ID, "factor_type": f.FactorType}))
	}
	g, err := s.acceptFactor(ctx, clientOf(r), current, f, challenge, step)
	if err != nil {
		return err
	}
	return s.answerSession(w, g)
}

// openChallenge reads a challenge that may still be answered from the caller's network.
func (s *Service) openChallenge(ctx context.Context, f storedFactor, id string) (factorChallenge, error) {
	canonical, ok := canonicalUUID(id)
	if id != "" && !ok {
		return factorChallenge{}, httpx.ErrBadJSON.Becausef("challenge_id %q", id)
	}
	if !ok {
		return factorChallenge{}, errChallengeNotFound.Becausef("no challenge_id")
	}
	c, err := challengeByID(ctx, s.db, f.ID, canonical)
	switch {
	case errors.Is(err, db.ErrNoRows):
		return factorChallenge{}, errChallengeNotFound
	case err != nil:
		return factorChallenge{}, err
	case c.verifiedAt != nil || c.network != httpx.LimitSubject(ctx):
		return factorChallenge{}, errChallengeAddress.Becausef("asked from %s, answered at %v", c.network, c.verifiedAt)
	case !s.now().Before(c.expiresAt):
		return factorChallenge{}, errChallengeExpired(c.id)
	}
	return c, nil
}

// countFactorTry counts a try, or refuses it with errRateLimit while the factor's wait lasts.
func (s *Service) countFactorTry(w http.ResponseWriter, r *http.Request, factorID string) error {
	now := s.now()
	err := countFactorTry(r.Context(), s.db, factorID, httpx.LimitSubject(r.Context()), now)
	var waiting errWaiting
	switch {
	case errors.As(err, &waiting):
		w.Header().Set("Retry-After", strconv.Itoa(int((waiting.until.Sub(now)+time.Second-1)/time.Second)))
		return errRateLimit.Because(err)
	case db.IsConstraint(err, db.ForeignKeyViolation):
		return errFactorNotFound.Because(err) // removed in the meantime
	}
	return err
}

// checkFactorCode compares the code; for TOTP it gives the step to be used up.
func (s *Service) checkFactorCode(f storedFactor, c factorChallenge, code string) (step int64, err error) {
	if f.FactorType == factorPhone {
		if c.codeHash == "" || subtle.ConstantTimeCompare([]byte(c.codeHash), []byte(s.hashCode(c.id, tokenFactor, code))) != 1 {
			return 0, errPhoneCodeWrong
		}
		return 0, nil
	}
	secret, err := s.sealer.unseal(purposeTOTP+f.ID, f.secret)
	if err != nil {
		return 0, err
	}
	step, ok, err := totpStep(string(secret), code, s.now())
	if err == nil && !ok {
		err = errTOTPWrong
	}
	return step, err
}

// acceptFactor uses challenge and code up and raises the session, all or nothing.
func (s *Service) acceptFactor(ctx context.Context, c client, in session, f storedFactor, challenge factorChallenge, step int64) (g grant, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		now := s.now()
		user, current, err := lockAccount(ctx, tx, in)
		if err != nil {
			return err
		}
		known, err := factorByID(ctx, tx, in.userID, f.ID)
		if errors.Is(err, db.ErrNoRows) {
			return errFactorNotFound.Becausef("removed in the meantime")
		}
		if err != nil {
			return err
		}
		if known.Status != statusVerified && user.hasVerifiedFactor() && current.aal != aal2 {
			return errEnrolAAL.Becausef("enrolled before the account had a second factor") // else a stolen password would add one
		}
		if err := useUpCode(ctx, tx, f, challenge, step, now); err != nil {
			return err
		}
		if known.Status != statusVerified {
			if err := s.admitFactor(ctx, tx, c, user, known, now); err != nil {
				return err
			}
		}
		method := methodTOTP
		if f.FactorType == factorPhone {
			method = methodPhone
		}
		if g, err = s.raise(ctx, tx, c, current, method, f.ID); err != nil {
			return err
		}
		if known.Status != statusVerified {
			if err := deleteSessionsBelow(ctx, tx, in.userID, in.id); err != nil {
				return err
			}
			if err := deleteFlowsOf(ctx, tx, in.userID); err != nil { // begun with the first factor alone
				return err
			}
		}
		if err := forgetTries(ctx, tx, f.ID, challenge.network, now); err != nil {
			return err
		}
		return s.audit(ctx, tx, c, auditFactorVerified, in.userID, map[string]any{
			"factor_id": f.ID, "factor_type": f.FactorType, "challenge_id": challenge.id, "session_id": in.id, "first": known.Status != statusVerified,
		})
	})
	return g, err
}

// useUpCode strikes out the challenge and the TOTP step: neither works a second time, also not when two come at once.
func useUpCode(ctx context.Context, tx *db.Tx, f storedFactor, challenge factorChallenge, step int64, now time.Time) error {
	open, err := useChallenge(ctx, tx, challenge.id, now)
	if err != nil {
		return err
	}
	if !open {
		return errChallengeAddress.Becausef("answered in the meantime")
	}
	if f.FactorType != factorTOTP {
		return nil
	}
	fresh, err := useStep(ctx, tx, f.ID, step)
	if err == nil && !fresh {
		err = errTOTPWrong.Becausef("step %d was used before", step)
	}
	return err
}

// admitFactor makes the factor count, clears away what other enrolments left, and tells the account's owner.
func (s *Service) admitFactor(ctx context.Context, tx *db.Tx, c client, u User, f storedFactor, now time.Time) error {
	if err := setFactorVerified(ctx, tx, f.ID, now); err != nil {
		return err
	}
	if err := deleteUnverifiedFactors(ctx, tx, u.ID, f.FactorType); err != nil {
		return err
	}
	if u.Email == "" || u.EmailConfirmedAt == nil {
		return nil
	}
	return s.sendMail(ctx, tx, Mail{Kind: MailFactorAdded, To: u.Email, Language: languageFor(u, c), Device: c.userAgent, IP: c.ip})
}
