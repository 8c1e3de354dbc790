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

// This file creates challenges. A challenge is a request to prove a second factor (an authenticator app or a phone number). The client
// answers it with a code, which factor_verify.go checks.

// challengeLife is how long a challenge accepts a code.
const challengeLife = 5 * time.Minute

// challengeResponse is the response body of ChallengeFactor.
type challengeResponse struct {
	ID        string `json:"id"`         // id of the challenge
	Type      string `json:"type"`       // type of the factor: totp or phone
	ExpiresAt int64  `json:"expires_at"` // Unix seconds
}

// ChallengeFactor handles POST /auth/v1/factors/{id}/challenge: it creates a challenge. For a phone factor it also sends a code by SMS or
// WhatsApp. The client then passes two values to VerifyFactor: the challenge's id, and the code that was sent or that the app shows.
func (s *Service) ChallengeFactor(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	user, _, f, err := s.requestedFactor(r)
	if err != nil {
		return err
	}
	var body struct {
		Channel string `json:"channel"` // how the code is sent for a phone factor: sms (the default) or whatsapp
	}
	if err := decode(w, r, &body); err != nil {
		return err
	}
	// The limit for TOTP factors (authenticator apps) counts each IP address separately. With one limit for the account, somebody who has
	// stolen the password could exhaust it and lock the account's holder out. Phone factors have one limit for the account nevertheless,
	// because each text message costs money.
	limitSubject := httpx.LimitSubject(ctx) // the client's IPv4 address or IPv6 network
	name, maxCalls := limitChallenges, factorCallsPerAccount
	subject := hashKey(user.ID + "\n" + limitSubject)
	if f.FactorType == factorPhone {
		if err := s.validateFactorChannel(body.Channel); err != nil {
			return err
		}
		name, maxCalls = limitFactorMessages, factorMessagesPerAccount
		subject = user.ID
	}
	if err := s.limit(w, r, name, subject, maxCalls); err != nil {
		return err
	}
	now := s.now()
	c := factorChallenge{id: uuid.NewString(), factorID: f.ID, limitSubject: limitSubject, expiresAt: now.Add(challengeLife)}
	code := "" // stays "" for a TOTP factor, whose codes the authenticator app computes
	if f.FactorType == factorPhone {
		code = sixDigitCode()
		c.codeHash = s.hashCode(c.id, factorCodeKind, code)
	}
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		if err := s.recordChallenge(ctx, tx, f, now); err != nil {
			return err
		}
		if code != "" {
			kind, perDay := factorSignIn, factorTextsMultiplier*s.cfg.TextsPerDay
			if f.Status != statusVerified {
				kind, perDay = factorEnrolment, s.cfg.TextsPerDay
			}
			if err := s.requireQuota(ctx, tx, kind, textQuota(perDay), f.Phone); err != nil {
				return err
			}
		}
		err := insertChallenge(ctx, tx, c, now)
		if code != "" {
			sms := SMS{UserID: user.ID, Phone: f.Phone, Code: code, Type: "mfa", Channel: body.Channel, Language: languageFor(user, clientOf(r))}
			err = errors.Join(err, s.sendSMS(ctx, tx, sms))
		}
		detail := map[string]any{"factor_id": f.ID, "factor_status": f.Status}
		return errors.Join(err, s.audit(ctx, tx, clientOf(r), auditChallengeCreated, user.ID, detail))
	})
	return respond(w, http.StatusOK, challengeResponse{ID: c.id, Type: f.FactorType, ExpiresAt: c.expiresAt.Unix()}, err)
}

// factorCodeKind is the kind with which hashCode hashes codes of phone factors, so that no sign-in code has the same hash. The hash
// contains the id of the challenge instead of an account's id.
const factorCodeKind tokenKind = "factor"

// validateFactorChannel returns an error if the code for a phone factor cannot be sent by this channel; "" stands for sms.
func (s *Service) validateFactorChannel(channel string) error {
	switch {
	case !s.cfg.PhoneEnabled:
		return errPhoneVerifyDisabled
	case channel != "" && channel != "sms" && channel != "whatsapp":
		return errFactorChannel.Becausef("channel %q", channel)
	}
	return nil
}

// recordChallenge stores the time of a challenge in its factor. It returns errFactorNotFound when the factor does not exist any
// more, and errTooSoon when the newest code for the phone factor was sent less than SMSMinInterval ago.
func (s *Service) recordChallenge(ctx context.Context, tx *db.Tx, f storedFactor, now time.Time) error {
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
	return nil // the stored challenge is later than now, because the clock of another node is ahead
}
