package auth

import (
	"context"
	"errors"
	"net/http"
	"strconv"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// This file checks the codes with which users prove their second factors: an authenticator app (TOTP) or a phone number.

// verifyFactorRequest is the body of VerifyFactor.
type verifyFactorRequest struct {
	ChallengeID string `json:"challenge_id"`
	Code        string `json:"code"`
}

// VerifyFactor handles POST /auth/v1/factors/{id}/verify: it checks a code for a challenge (a request to prove a second factor, which
// ChallengeFactor has created). A correct code raises the session to the assurance level aal2 (signed in with a second factor). If the
// factor is not verified yet, the code also ends its enrolment. The response is the session with new tokens.
func (s *Service) VerifyFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, current, f, err := s.requestedFactor(r)
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
	challenge, err := s.findOpenChallenge(ctx, f, body.ChallengeID)
	if err != nil {
		return err
	}
	if err := s.limitFactorTries(w, r, f.ID); err != nil {
		return err
	}
	// step is the number of the 30-second period to which a TOTP code belongs, or 0 for a phone factor.
	step, err := s.checkFactorCode(f, challenge, body.Code)
	if errors.Is(err, errPhoneCodeWrong) || errors.Is(err, errTOTPWrong) {
		detail := map[string]any{"factor_id": f.ID, "factor_type": f.FactorType}
		return errors.Join(err, s.audit(ctx, s.db, clientOf(r), auditFactorRefused, user.ID, detail))
	}
	if err != nil {
		return err // the factor's stored secret cannot be read
	}
	issued, err := s.acceptFactor(ctx, clientOf(r), current, f, challenge, step)
	return s.respondSession(w, issued, err)
}

// findOpenChallenge returns the factor's challenge with this id. It returns an error when the challenge is unknown, has expired,
// was answered with a correct code before, or was created for another IP address than the caller's.
func (s *Service) findOpenChallenge(ctx context.Context, f storedFactor, id string) (factorChallenge, error) {
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
	case c.verifiedAt != nil || c.limitSubject != httpx.LimitSubject(ctx):
		// Supabase Auth returns this error for an answered challenge too.
		return factorChallenge{}, errChallengeIPMismatch.Becausef("created for %s, answered at %v", c.limitSubject, c.verifiedAt)
	case !s.now().Before(c.expiresAt):
		return factorChallenge{}, errChallengeExpired(c.id)
	}
	return c, nil
}

// limitFactorTries counts an attempt at the factor's codes. After too many attempts it returns errRateLimit until a wait has ended,
// and sets Retry-After.
func (s *Service) limitFactorTries(w http.ResponseWriter, r *http.Request, factorID string) error {
	now := s.now()
	err := countFactorTry(r.Context(), s.db, factorID, httpx.LimitSubject(r.Context()), now)
	var waiting tryDelayed
	switch {
	case errors.As(err, &waiting):
		w.Header().Set("Retry-After", strconv.Itoa(int((waiting.until.Sub(now)+time.Second-1)/time.Second)))
		return errRateLimit.Because(err)
	case db.IsConstraint(err, db.ForeignKeyViolation):
		return errFactorNotFound.Because(err) // the factor was removed by another request
	}
	return err
}

// checkFactorCode checks a code against the challenge of a phone factor, or against the secret of a TOTP factor. step is the TOTP
// step (a period of 30 seconds) to which the code belongs, which the caller must consume; 0 for a phone factor. Errors:
// errPhoneCodeWrong, errTOTPWrong.
func (s *Service) checkFactorCode(f storedFactor, c factorChallenge, code string) (step int64, err error) {
	if f.FactorType == factorPhone {
		if c.codeHash == "" || !s.codeMatches(c.codeHash, c.id, factorCodeKind, code) {
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

// acceptFactor consumes the challenge and the code, verifies the factor and raises the session to aal2, in one transaction.
func (s *Service) acceptFactor(ctx context.Context, c clientInfo, callerSession session, f storedFactor, challenge factorChallenge, step int64) (issued issuedSession, err error) {
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		now := s.now()
		user, current, err := s.lockSession(ctx, tx, callerSession)
		if err != nil {
			return err
		}
		known, err := factorByID(ctx, tx, callerSession.userID, f.ID)
		if err != nil {
			return db.NoRowsAs(err, errFactorNotFound.Becausef("removed in the meantime"))
		}
		if known.Status != statusVerified && user.hasVerifiedFactor() && current.aal != aal2 {
			// Otherwise somebody with a stolen password could begin an enrolment, and finish it after the holder has added a factor.
			return errEnrolAAL.Becausef("enrolled before the account had a second factor")
		}
		if err := consumeFactorCode(ctx, tx, f, challenge, step, now); err != nil {
			return err
		}
		if known.Status != statusVerified {
			// Sessions at aal1 and flows began before the account required a second factor.
			err := errors.Join(
				setFactorVerified(ctx, tx, f.ID, now),
				deleteUnverifiedFactors(ctx, tx, user.ID, f.FactorType),
				deleteSessionsBelow(ctx, tx, user.ID, callerSession.id),
				deleteFlowsOf(ctx, tx, user.ID),
				s.sendNotice(ctx, tx, c, user, MailFactorAdded),
			)
			if err != nil {
				return err
			}
		}
		method := methodTOTP
		if f.FactorType == factorPhone {
			method = methodPhone
		}
		if issued, err = s.stepUp(ctx, tx, c, current, method, f.ID); err != nil {
			return err
		}
		return errors.Join(
			resetTries(ctx, tx, f.ID, challenge.limitSubject, now),
			s.audit(ctx, tx, c, auditFactorVerified, callerSession.userID, map[string]any{
				"factor_id": f.ID, "factor_type": f.FactorType, "challenge_id": challenge.id, "session_id": callerSession.id, "first": known.Status != statusVerified,
			}),
		)
	})
	return issued, err
}

// consumeFactorCode consumes the challenge and the TOTP step, so that neither works twice, even in concurrent requests.
func consumeFactorCode(ctx context.Context, tx *db.Tx, f storedFactor, challenge factorChallenge, step int64, now time.Time) error {
	if err := useChallenge(ctx, tx, challenge.id, now); err != nil || f.FactorType != factorTOTP {
		return err
	}
	return markStepUsed(ctx, tx, f.ID, step, db.LatestPlausible(now, totpSkew*totpPeriod*time.Second).Unix()/totpPeriod)
}
