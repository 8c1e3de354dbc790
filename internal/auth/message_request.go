package auth

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/interval"
	"atelie/internal/jobs"
)

// This file handles requests for a mail or SMS with a link or a code, such as a recovery mail. An HTTP handler validates the input and
// calls requestMessage, which enforces two limits and queues a job:
//   - The IP address of the client has a limit of requests (messagesPerIP).
//   - The e-mail address or phone number has a cooldown: the minimum time between two messages of a kind.
//
// The job looks for the account and sends the message. So neither the HTTP response nor its time reveals whether the account exists.

// JobMessageRequest is the kind of the job that sends the requested message. The string is an old name that stored jobs contain, so it must
// not change.
const JobMessageRequest = "auth.asked"

// messageRequest is the payload of JobMessageRequest. Either Email or Phone is set, in normalized form.
type messageRequest struct {
	Kind       requestKind    `json:"kind"`
	Email      string         `json:"email,omitempty"`
	Phone      string         `json:"phone,omitempty"`
	Channel    string         `json:"channel,omitempty"`     // how the code is sent to a phone number: sms or whatsapp
	Data       map[string]any `json:"data,omitempty"`        // user metadata of a new account
	Create     bool           `json:"create,omitempty"`      // create an account if the e-mail address or phone number has none
	Challenge  pkceChallenge  `json:"challenge"`             // empty without PKCE
	RedirectTo string         `json:"redirect_to,omitempty"` // URL to which the mailed link leads the browser
	UserAgent  string         `json:"user_agent,omitempty"`  // User-Agent of the HTTP request
	IP         string         `json:"ip,omitempty"`          // IP address of the HTTP request
	Language   string         `json:"language,omitempty"`    // en or pt
}

// requestKind says which message the client has requested. Several kinds can share one cooldown: sign-in links and recovery mails have
// cooldownRecovery, and codes by SMS for a sign-in or a confirmation have cooldownSMS.
type requestKind string

const (
	requestConfirmation requestKind = "confirmation"
	requestSignIn       requestKind = "sign_in" // a magic link with a code, or a code by SMS
	requestRecovery     requestKind = "recovery"
	requestEmailChange  requestKind = "email_change"
	requestPhoneChange  requestKind = "phone_change"
)

// client returns the clientInfo of the HTTP request.
func (m messageRequest) client() clientInfo {
	return clientInfo{userAgent: m.UserAgent, ip: m.IP, language: m.Language}
}

// requestMessage enforces the two limits, queues the job and responds with {}, whether or not the account exists. cooldown is the kind of
// cooldown of the requested message.
func (s *Service) requestMessage(w http.ResponseWriter, r *http.Request, cooldown cooldownKind, m messageRequest) error {
	ctx := r.Context()
	if err := s.limitPerIP(w, r, limitMessages, messagesPerIP); err != nil {
		return err
	}
	if err := s.startMessageCooldown(ctx, cooldown, m.Email+m.Phone); err != nil { // one of the two is "", so the sum is the other one
		return err
	}
	return respondEmpty(w, s.db.WithShortTx(ctx, func(tx *db.Tx) error { return s.enqueueMessageRequest(ctx, tx, r, m) }))
}

// enqueueMessageRequest queues the job. It adds the clientInfo of the HTTP request to m, and for a mail the target of the link.
func (s *Service) enqueueMessageRequest(ctx context.Context, tx *db.Tx, r *http.Request, m messageRequest) error {
	c := clientOf(r)
	m.UserAgent, m.IP, m.Language = c.userAgent, c.ip, c.language
	if m.Email != "" {
		m.RedirectTo = s.redirectTarget(requestedRedirect(r))
	}
	return s.queue.Enqueue(ctx, tx, JobMessageRequest, m)
}

// handleMessageRequest runs a JobMessageRequest: it sends the message. It sends nothing when there is no account and Create is
// false, when the account does not need the message, or when the quota of its address or number is used up.
func (s *Service) handleMessageRequest(ctx context.Context, payload []byte) error {
	var m messageRequest
	if err := json.Unmarshal(payload, &m); err != nil {
		return jobs.Permanent(err)
	}
	// The job does more work for an address that has an account. Concurrent requests could measure this as a delay, so a random
	// wait hides it.
	if s.cfg.MessageJitter > 0 {
		if err := interval.Sleep(ctx, rand.N(s.cfg.MessageJitter)); err != nil {
			return err
		}
	}
	err := s.sendRequested(ctx, m)
	if errors.Is(err, errEmailExists) || errors.Is(err, errPhoneExists) {
		err = s.sendRequested(ctx, m) // a concurrent request has created the account
	}
	if refusal, ok := errors.AsType[*apperr.Error](err); ok && refusal.Status < http.StatusInternalServerError {
		if refusal.Code == codeMailTooSoon || refusal.Code == codeSMSTooSoon {
			return nil // the quota of the address or number is used up: nothing is to be sent
		}
		return jobs.Permanent(err) // another attempt would return the same error
	}
	return err
}

// sendRequested looks the account up, creates it if Create is set, and sends the message.
func (s *Service) sendRequested(ctx context.Context, m messageRequest) error {
	return s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		u, err := s.requestedAccount(ctx, tx, m)
		if errors.Is(err, db.ErrNoRows) {
			if !m.Create {
				return nil
			}
			n := accountParams{email: m.Email, phone: m.Phone, clientMetadata: m.Data, confirmed: m.Email != "" && s.cfg.MailAutoconfirm || m.Phone != "" && s.cfg.PhoneAutoconfirm}
			if u, err = s.createAccount(ctx, tx, m.client(), n); err != nil {
				return err
			}
			if !n.confirmed {
				m.Kind = requestConfirmation
			}
		}
		if err != nil {
			return err
		}
		if u, err = lockUser(ctx, tx, u.ID); err != nil {
			return err
		}
		switch {
		case u.isSSO:
			return nil // the account can only sign in at its SAML identity provider
		case m.Phone != "" && m.Kind == requestPhoneChange:
			if u.NewPhone == "" {
				return nil
			}
			return s.sendPhoneChange(ctx, tx, m.client(), u, u.NewPhone, m.Channel)
		case m.Phone != "":
			if m.Kind == requestConfirmation && u.PhoneConfirmedAt != nil {
				return nil
			}
			return s.sendPhoneCode(ctx, tx, m, u)
		case m.Kind == requestConfirmation:
			if u.EmailConfirmedAt != nil {
				return nil
			}
			return s.sendLink(ctx, tx, m.client(), u, confirmationMail, m.Challenge, m.RedirectTo)
		case m.Kind == requestEmailChange:
			if u.NewEmail == "" {
				return nil
			}
			return s.sendEmailChange(ctx, tx, m.client(), u, u.NewEmail, m.Challenge, m.RedirectTo)
		case m.Kind == requestRecovery:
			return s.sendLink(ctx, tx, m.client(), u, recoveryMail, m.Challenge, m.RedirectTo)
		default:
			return s.sendLink(ctx, tx, m.client(), u, magicLinkMail, m.Challenge, m.RedirectTo)
		}
	})
}

// requestedAccount returns the account of the request's e-mail address or phone number. For a change of number it also finds the
// account by its pending new number. It returns db.ErrNoRows if there is no account.
func (s *Service) requestedAccount(ctx context.Context, tx *db.Tx, m messageRequest) (User, error) {
	if m.Email != "" {
		return userByEmail(ctx, tx, m.Email)
	}
	u, err := userByPhone(ctx, tx, m.Phone)
	if !errors.Is(err, db.ErrNoRows) || m.Kind != requestPhoneChange {
		return u, err
	}
	ids, err := usersChanging(ctx, tx, colPhoneChange, m.Phone)
	if err != nil {
		return User{}, err
	}
	if len(ids) == 0 {
		return User{}, db.ErrNoRows
	}
	return userByID(ctx, tx, ids[0])
}

// sendPhoneCode sends an SMS with the code that signs in and confirms the number.
func (s *Service) sendPhoneCode(ctx context.Context, tx *db.Tx, m messageRequest, u User) error {
	kind := tokenRecovery
	if m.Kind == requestConfirmation {
		kind = tokenConfirmation
	}
	return s.sendCode(ctx, tx, m.client(), u, kind, u.Phone, m.Channel, columnChange{colConfirmationSent, s.now()})
}
