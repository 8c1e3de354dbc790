package auth

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file handles sign-ups: visitors who create an account with a password.

// signupRequest is the body of Signup. Either Email or Phone must be set.
type signupRequest struct {
	Email    string         `json:"email"`
	Phone    string         `json:"phone"`
	Password string         `json:"password"`
	Data     map[string]any `json:"data"`    // user metadata
	Channel  string         `json:"channel"` // how the code is sent to a phone number: sms (the default) or whatsapp
	pkceChallenge
}

// Signup handles POST /auth/v1/signup: it creates an account. If the account needs no confirmation, the response is a session. If it needs
// a confirmation, the response is the account, and a message with a link or a code is sent. If the e-mail address or phone number is taken,
// the response is a decoy (a made-up account) and takes the same time, so that it does not reveal who has an account.
func (s *Service) Signup(w http.ResponseWriter, r *http.Request) error {
	var body signupRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	account, channel, err := s.validateSignup(body)
	if err != nil {
		return err
	}
	if err := s.limitPerIP(w, r, limitMessages, messagesPerIP); err != nil {
		return err
	}
	account.confirmed = (s.cfg.MailAutoconfirm && account.email != "") || (s.cfg.PhoneAutoconfirm && account.phone != "")
	if !account.confirmed {
		cooldown := cooldownConfirmation // the cooldown is the minimum time between two messages of a kind
		if account.phone != "" {
			cooldown = cooldownSMS
		}
		if err := s.startMessageCooldown(r.Context(), cooldown, account.email+account.phone); err != nil {
			return err
		}
	}
	return s.completeSignup(w, r, account, body, channel)
}

// validateSignup checks a request body. It returns the account to create, and for a phone number the channel of the message.
func (s *Service) validateSignup(body signupRequest) (account accountParams, channel string, err error) {
	switch {
	case body.Email == "" && body.Phone == "" && body.Password == "":
		return account, "", errAnonymousDisabled
	case !s.cfg.SignupOpen:
		return account, "", errSignupDisabled
	case body.Email == "" && body.Phone == "":
		return account, "", errSignupIdentifierMissing
	case body.Password == "":
		return account, "", errSignupPasswordMissing
	}
	if err := s.validatePassword(body.Password); err != nil {
		return account, "", err
	}
	account.clientMetadata = body.Data
	switch {
	case body.Email != "" && body.Phone != "":
		return account, "", errSignupAmbiguous
	case body.Phone != "" && body.CodeChallenge != "":
		return account, "", errSignupPhonePKCE
	case body.Phone != "":
		if channel, err = normalizeChannel(body.Channel); err == nil {
			account.phone, err = s.normalizeEnabledPhone(body.Phone, errPhoneSignupDisabled)
		}
	default:
		if _, err := body.validate(); err != nil {
			return account, "", err
		}
		account.email, err = normalizeEmail(body.Email)
	}
	if err == nil {
		err = account.validateUserMetadata()
	}
	return account, channel, err
}

// completeSignup creates the account and queues the message that confirms it. If the account exists, signUpAgain decides about the
// response.
func (s *Service) completeSignup(w http.ResponseWriter, r *http.Request, account accountParams, body signupRequest, channel string) error {
	ctx, c := r.Context(), clientOf(r)
	existing, err := s.findAccount(ctx, login{email: account.email, phone: account.phone})
	if err != nil {
		return err
	}
	// One hash is computed in both cases, so that they take the same time: the hash of the new account's password, or the hash
	// that is compared with the existing account's.
	samePassword := false
	if existing.ID == "" {
		account.passwordHash, err = s.hasher.hash(ctx, body.Password)
	} else if samePassword, _, err = s.hasher.verify(ctx, existing.passwordHash, body.Password); errors.Is(err, errUnreadableHash) {
		err = nil
	}
	if err != nil {
		return err
	}
	var (
		u      User
		issued issuedSession
	)
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		issued = issuedSession{}
		if existing.ID == "" {
			if u, err = s.createAccount(ctx, tx, c, account); err != nil {
				return err
			}
			if account.confirmed {
				issued, err = s.startSession(ctx, tx, c, u.ID, signIn{method: "password", provider: account.provider()})
				return err
			}
			u.ConfirmationSentAt = new(s.now())
			if err := setUser(ctx, tx, u.ID, s.now(), columnChange{colConfirmationSent, s.now()}); err != nil {
				return err
			}
		} else if u, err = s.signUpAgain(ctx, tx, c, existing, account, samePassword); err != nil {
			return err
		}
		// The job is queued for a taken address too, where it does nothing: both cases must do the same work.
		return s.enqueueMessageRequest(ctx, tx, r, messageRequest{Kind: requestConfirmation, Email: account.email, Phone: account.phone, Channel: channel, Challenge: body.pkceChallenge})
	})
	switch {
	case errors.Is(err, errEmailExists), errors.Is(err, errPhoneExists), errors.Is(err, db.ErrNoRows):
		// A concurrent request opened or removed the account.
		if account.confirmed {
			return errUserAlreadyExists.Because(err)
		}
		u = s.decoyUser(account)
	case err != nil:
		return err
	case issued.session.id != "":
		return s.respondPasswordSession(w, issued, body.Password, nil)
	}
	return respondPrivate(w, u, nil)
}

// signUpAgain handles a sign-up for an account that exists, and returns the account for the response. A confirmed account
// stays unchanged; the response is a decoy. An unconfirmed account will be confirmed by whoever reads its mail. That user must not
// get an account with somebody else's password. When the two passwords differ, signUpAgain therefore keeps neither, and only
// the link opens the account.
func (s *Service) signUpAgain(ctx context.Context, tx *db.Tx, c clientInfo, existing User, account accountParams, samePassword bool) (User, error) {
	u, err := lockUser(ctx, tx, existing.ID)
	if err != nil {
		return User{}, err
	}
	if account.email != "" && u.EmailConfirmedAt != nil || account.phone != "" && u.PhoneConfirmedAt != nil {
		if account.confirmed {
			return User{}, errUserAlreadyExists
		}
		if err := s.insertDecoy(ctx, tx, account); err != nil {
			return User{}, err
		}
		return s.decoyUser(account), s.audit(ctx, tx, c, auditSignUpRepeated, u.ID, map[string]any{"provider": account.provider()})
	}
	if account.confirmed {
		return User{}, errUserAlreadyExists // created when confirmation was still required: only its link opens the account
	}
	// The password of an account with a confirmed address or number belongs to its holder. A sign-up must not remove it.
	if !samePassword && u.InvitedAt == nil && u.EmailConfirmedAt == nil && u.PhoneConfirmedAt == nil {
		if err := s.removeUnconfirmedAccess(ctx, tx, u.ID); err != nil {
			return User{}, err
		}
		if u, err = userByID(ctx, tx, u.ID); err != nil {
			return User{}, err
		}
	}
	u.ConfirmationSentAt = new(s.now())
	if u.InvitedAt != nil { // anonymous callers must not see the metadata of an invitation
		u.UserMetadata, u.Identities = map[string]any{}, []Identity{}
	}
	return u, errors.Join(
		setUser(ctx, tx, u.ID, s.now(), columnChange{colConfirmationSent, s.now()}),
		s.audit(ctx, tx, c, auditSignUpRepeated, u.ID, map[string]any{"provider": account.provider()}),
	)
}

// insertDecoy inserts and deletes an account, in order to take as much time as making a new account with its identity.
func (s *Service) insertDecoy(ctx context.Context, tx *db.Tx, account accountParams) error {
	id := uuid.NewString()
	if _, err := insertUser(ctx, tx, insertUserParams{ID: id, UserMetadata: account.userMetadata(id)}, s.now()); err != nil {
		return err
	}
	return deleteUser(ctx, tx, id)
}

// decoyUser returns an account that does not exist, for the response to a sign-up with a taken e-mail address or phone number.
func (s *Service) decoyUser(account accountParams) User {
	now := s.now()
	return User{
		ID: uuid.NewString(), Aud: "authenticated", Email: account.email, Phone: account.phone, ConfirmationSentAt: &now,
		AppMetadata: map[string]any{"provider": account.provider(), "providers": []string{account.provider()}}, UserMetadata: mergeMetadata(account.clientMetadata, nil),
		Identities: []Identity{}, CreatedAt: now, UpdatedAt: now,
	}
}
