package auth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// challengeLife is how long a challenge may be answered.
const challengeLife = 5 * time.Minute

// Calls within limitWindow.
const (
	factorCallsPerAccount  = 100
	factorTextsPerAccount  = 10
	recoveryTriesPerClient = 20
)

type challengeRequest struct {
	Channel string `json:"channel"` // for phones: sms (the default) or whatsapp
}

type challengeBody struct {
	ID        string `json:"id"`
	Type      string `json:"type"`
	ExpiresAt int64  `json:"expires_at"` // Unix seconds
}

// ChallengeFactor is POST /auth/v1/factors/{id}/challenge: a code may now be verified; for a phone it leaves by SMS.
func (s *Service) ChallengeFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, _, f, err := s.ownFactor(r)
	if err != nil {
		return err
	}
	var body challengeRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	// A stranger with the password must not use up the owner's calls; messages cost money and are counted for both.
	name, subject, most := "auth factor challenge", hashToken(user.ID+"\n"+httpx.LimitSubject(ctx)), factorCallsPerAccount
	if f.FactorType == factorPhone {
		if err := s.validateChannel(body.Channel); err != nil {
			return err
		}
		name, subject, most = "auth factor text", user.ID, factorTextsPerAccount
	}
	if err := s.limit(w, r, name, subject, most); err != nil {
		return err
	}
	now := s.now()
	c := factorChallenge{id: uuid.NewString(), factorID: f.ID, network: httpx.LimitSubject(ctx), expiresAt: now.Add(challengeLife)}
	code := ""
	if f.FactorType == factorPhone {
		code = sixDigits()
		c.codeHash = s.hashCode(c.id, tokenFactor, code)
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := s.markChallenged(ctx, tx, f, now); err != nil {
			return err
		}
		if err := insertChallenge(ctx, tx, c, now); err != nil {
			return err
		}
		if code != "" {
			sms := SMS{UserID: user.ID, Phone: f.Phone, Code: code, Type: "mfa", Channel: body.Channel, Language: languageFor(user, clientOf(r))}
			if err := s.sendSMS(ctx, tx, sms); err != nil {
				return err
			}
		}
		return s.audit(ctx, tx, clientOf(r), auditChallenge, user.ID, map[string]any{"factor_id": f.ID, "factor_status": f.Status})
	})
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, challengeBody{ID: c.id, Type: f.FactorType, ExpiresAt: c.expiresAt.Unix()})
}

// tokenFactor keeps codes of factors apart from those of sign-ins; they are hashed with their challenge's id.
const tokenFactor tokenType = "factor"

func (s *Service) validateChannel(channel string) error {
	switch {
	case !s.cfg.PhoneEnabled:
		return errPhoneVerifyDisabled
	case channel != "" && channel != "sms" && channel != "whatsapp":
		return errFactorChannel.Becausef("channel %q", channel)
	}
	return nil
}

// markChallenged notes the challenge at its factor. errFactorNotFound when that is gone, errTooSoon when its last SMS is
// too recent.
func (s *Service) markChallenged(ctx context.Context, tx *db.Tx, f storedFactor, now time.Time) error {
	interval := time.Duration(0)
	if f.FactorType == factorPhone {
		interval = s.cfg.SMSMinInterval
	}
	marked, err := markChallenged(ctx, tx, f.ID, now.Add(-interval), now)
	if err != nil || marked {
		return err
	}
	known, err := factorByID(ctx, tx, f.userID, f.ID)
	switch {
	case errors.Is(err, db.ErrNoRows):
		return errFactorNotFound.Becausef("removed in the meantime")
	case err != nil:
		return err
	case interval > 0 && known.LastChallengedAt != nil:
		return errTooSoon(codeSMSTooSoon, known.LastChallengedAt.Add(interval).Sub(now))
	}
	return nil // the clock of another node is ahead of ours
}

// ownFactor reads the factor of the address; another account's is not found.
func (s *Service) ownFactor(r *http.Request) (User, session, storedFactor, error) {
	user, current, err := s.inSession(r.Context())
	if err != nil {
		return User{}, session{}, storedFactor{}, err
	}
	id, ok := canonicalUUID(r.PathValue("id"))
	if !ok {
		return User{}, session{}, storedFactor{}, errFactorNotUUID
	}
	f, err := factorByID(r.Context(), s.db, user.ID, id)
	if errors.Is(err, db.ErrNoRows) {
		err = errFactorNotFound
	}
	return user, current, f, err
}
