package auth

import (
	"context"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

type signupRequest struct {
	Email    string         `json:"email"`
	Phone    string         `json:"phone"`
	Password string         `json:"password"`
	Data     map[string]any `json:"data"`
	Channel  string         `json:"channel"`
	challenge
}

// Signup is POST /auth/v1/signup. With confirmation switched off it answers a session; otherwise the account, to which
// a link or a code was sent. A taken address is answered with an invented account (WIRE), in the same time.
func (s *Service) Signup(w http.ResponseWriter, r *http.Request) error {
	var body signupRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	n, channel, err := s.validateSignup(body)
	if err != nil {
		return err
	}
	if err := s.limit(w, r, "auth ask address", httpx.LimitSubject(r.Context()), asksPerAddress); err != nil {
		return err
	}
	n.confirmed = s.cfg.MailAutoconfirm && n.email != "" || s.cfg.PhoneAutoconfirm && n.phone != ""
	if !n.confirmed {
		kind := turnConfirmation
		if n.phone != "" {
			kind = turnSMS
		}
		if err := s.takeTurn(r.Context(), s.db, kind, n.email+n.phone); err != nil {
			return err
		}
	}
	return s.signUp(w, r, n, body, channel)
}

func (s *Service) validateSignup(body signupRequest) (n newAccount, channel string, err error) {
	switch {
	case body.Email == "" && body.Phone == "" && body.Password == "":
		return n, "", errAnonymousDisabled
	case !s.cfg.SignupOpen:
		return n, "", errSignupDisabled
	case body.Email == "" && body.Phone == "":
		return n, "", errSignupWithout
	case body.Password == "":
		return n, "", errSignupPasswordMissing
	}
	if err := s.validatePassword(body.Password); err != nil {
		return n, "", err
	}
	n.data = body.Data
	switch {
	case body.Email != "" && body.Phone != "":
		return n, "", errSignupAmbiguous
	case body.Phone != "" && body.CodeChallenge != "":
		return n, "", errSignupPhonePKCE
	case body.Phone != "":
		if channel, err = checkChannel(body.Channel); err == nil {
			n.phone, err = s.phoneOf(body.Phone, errPhoneSignupsOff)
		}
	default:
		if _, err := body.validate(); err != nil {
			return n, "", err
		}
		n.email, err = normalizeEmail(body.Email)
	}
	if err == nil {
		err = n.checkFacts()
	}
	return n, channel, err
}

func (s *Service) signUp(w http.ResponseWriter, r *http.Request, n newAccount, body signupRequest, channel string) error {
	ctx, c := r.Context(), clientOf(r)
	known, err := s.account(ctx, login{email: n.email, phone: n.phone})
	if err != nil {
		return err
	}
	// One hash in either case: a new one for a new account, a comparison for one that exists.
	samePassword := false
	if known.ID == "" {
		n.hash, err = s.passwords.hash(ctx, body.Password)
	} else if samePassword, _, err = s.passwords.verify(ctx, known.hash, body.Password); errors.Is(err, errUnreadableHash) {
		err = nil
	}
	if err != nil {
		return err
	}
	var (
		u User
		g grant
	)
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		g = grant{}
		if known.ID == "" {
			if u, err = s.openAccount(ctx, tx, c, n); err != nil {
				return err
			}
			if n.confirmed {
				g, err = s.startSession(ctx, tx, c, u.ID, signIn{method: "password", provider: n.provider()})
				return err
			}
			u.ConfirmationSentAt = pointerTo(s.now())
			if err := setUser(ctx, tx, u.ID, s.now(), change{colConfirmationSent, s.now()}); err != nil {
				return err
			}
		} else if u, err = s.signUpAgain(ctx, tx, c, known, n, samePassword); err != nil {
			return err
		}
		// Also for a taken address, where nothing comes of it.
		return s.enqueueAsked(ctx, tx, r, asked{Kind: askedConfirmation, Email: n.email, Phone: n.phone, Channel: channel, Challenge: body.challenge})
	})
	switch {
	case errors.Is(err, errEmailExists), errors.Is(err, errPhoneExists), errors.Is(err, db.ErrNoRows):
		// Opened or removed by somebody else between our look and our transaction.
		if n.confirmed {
			return errUserAlreadyExists.Because(err)
		}
		u = s.inventedUser(n)
	case err != nil:
		return err
	case g.session.id != "":
		return s.answerPassword(w, g, body.Password)
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, u)
}

// signUpAgain answers a sign-up for an account that exists. A confirmed one stays as it is and an invented account is
// returned. An unconfirmed one is confirmed by whoever reads its mail, so that a password which another has put there
// must not stay: two different ones void each other, and the link alone opens the account.
func (s *Service) signUpAgain(ctx context.Context, tx *db.Tx, c client, known User, n newAccount, samePassword bool) (User, error) {
	u, err := lockUser(ctx, tx, known.ID)
	if err != nil {
		return User{}, err
	}
	if n.email != "" && u.EmailConfirmedAt != nil || n.phone != "" && u.PhoneConfirmedAt != nil {
		if n.confirmed {
			return User{}, errUserAlreadyExists
		}
		if err := s.shadowAccount(ctx, tx, n); err != nil {
			return User{}, err
		}
		return s.inventedUser(n), s.audit(ctx, tx, c, auditSignUpRepeated, u.ID, map[string]any{"provider": n.provider()})
	}
	if n.confirmed {
		return User{}, errUserAlreadyExists // made while confirmation was asked for: the link is the way in
	}
	// An account that is proven by its other address belongs to somebody: a stranger must not take its password.
	if !samePassword && u.InvitedAt == nil && u.EmailConfirmedAt == nil && u.PhoneConfirmedAt == nil {
		if err := s.disown(ctx, tx, u.ID); err != nil {
			return User{}, err
		}
		if u, err = userByID(ctx, tx, u.ID); err != nil {
			return User{}, err
		}
	}
	if err := setUser(ctx, tx, u.ID, s.now(), change{colConfirmationSent, s.now()}); err != nil {
		return User{}, err
	}
	if err := s.audit(ctx, tx, c, auditSignUpRepeated, u.ID, map[string]any{"provider": n.provider()}); err != nil {
		return User{}, err
	}
	u.ConfirmationSentAt = pointerTo(s.now())
	if u.InvitedAt != nil { // what the inviter wrote is nothing for strangers
		u.UserMetadata, u.Identities = map[string]any{}, []Identity{}
	}
	return u, nil
}

// shadowAccount writes an account and takes it away again, which costs what a new one's account and identity do.
func (s *Service) shadowAccount(ctx context.Context, tx *db.Tx, n newAccount) error {
	id := uuid.NewString()
	if _, err := insertUser(ctx, tx, newUser{ID: id, UserMetadata: n.facts(id)}, s.now()); err != nil {
		return err
	}
	return deleteUser(ctx, tx, id)
}

// inventedUser is an account that does not exist, for the answer to a sign-up with a taken address.
func (s *Service) inventedUser(n newAccount) User {
	now := s.now()
	data := n.data
	if data == nil {
		data = map[string]any{}
	}
	return User{
		ID: uuid.NewString(), Aud: "authenticated", Email: n.email, Phone: n.phone, ConfirmationSentAt: &now,
		AppMetadata: map[string]any{"provider": n.provider(), "providers": []string{n.provider()}}, UserMetadata: data,
		Identities: []Identity{}, CreatedAt: now, UpdatedAt: now,
	}
}
