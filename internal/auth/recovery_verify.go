package auth

import (
	"context"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

type recoveryRequest struct {
	Code string `json:"code"`
}

var errRecoveryUnknown = errors.New("no such unused code")

// VerifyRecoveryCode is POST /auth/v1/factors/recovery_codes/verify: an unused code raises the session to aal2 in place
// of a factor. The answer is the whole new session.
func (s *Service) VerifyRecoveryCode(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, in, err := s.inSession(ctx)
	if err != nil {
		return err
	}
	var body recoveryRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.Code == "" {
		return errFactorCodeMissing
	}
	if err := s.countRecoveryTry(w, r, user.ID); err != nil {
		return err
	}
	g, err := s.acceptRecoveryCode(ctx, clientOf(r), in, body.Code)
	if errors.Is(err, errRecoveryUnknown) {
		refused := s.audit(ctx, s.db, clientOf(r), auditRecoveryRefused, user.ID, map[string]any{"session_id": in.id})
		return errors.Join(errRecoveryCodeWrong.Because(err), refused)
	}
	if err != nil {
		return err
	}
	return s.answerSession(w, g)
}

// countRecoveryTry counts per account and network, so that a stranger with the password cannot use up the owner's
// tries. 50 random bits cannot be guessed at this pace.
func (s *Service) countRecoveryTry(w http.ResponseWriter, r *http.Request, userID string) error {
	return s.limitAlways(w, r, "auth recovery code", hashToken(userID+"\n"+httpx.LimitSubject(r.Context())), recoveryTriesPerClient)
}

func (s *Service) acceptRecoveryCode(ctx context.Context, c client, in session, code string) (g grant, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		user, current, err := lockAccount(ctx, tx, in)
		if err != nil {
			return err
		}
		if !user.hasVerifiedFactor() {
			return errRecoveryNoFactor
		}
		used, err := useRecoveryCode(ctx, tx, user.ID, s.hashRecoveryCode(user.ID, code), s.now())
		if err != nil {
			return err
		}
		if !used {
			return errRecoveryUnknown
		}
		if g, err = s.raise(ctx, tx, c, current, methodRecoveryCode, ""); err != nil {
			return err
		}
		_, left, err := countRecoveryCodes(ctx, tx, user.ID)
		if err != nil {
			return err
		}
		return s.audit(ctx, tx, c, auditRecoveryUsed, user.ID, map[string]any{"session_id": in.id, "remaining": left})
	})
	return g, err
}
