package auth

import (
	"context"
	"errors"
	"net/http"

	"atelie/internal/db"
)

type inviteRequest struct {
	Email string         `json:"email"`
	Data  map[string]any `json:"data"`
}

// Invite is POST /auth/v1/invite, for the service key alone: an account without a password, and a mail whose link signs
// its owner in to choose one. Who has not followed the link yet is invited again. 422 email_exists for a confirmed
// address.
func (s *Service) Invite(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := elevated(ctx); err != nil {
		return err
	}
	var body inviteRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	email, err := normalizeEmail(body.Email)
	if err != nil {
		return err
	}
	redirectTo := s.redirectTarget(askedRedirect(r))
	var u User
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		var token oneTime
		if u, token, err = s.invite(ctx, tx, r, email, body.Data); err != nil {
			return err
		}
		return s.sendMail(ctx, tx, Mail{
			Kind: MailInvite, To: email, Language: languageFor(u, clientOf(r)), Link: s.verifyLink(token.Link, "invite", redirectTo), Code: token.Code,
		})
	})
	if err != nil {
		return err
	}
	return answerUser(w, u)
}

// invite makes the account unless it waits for its owner already, and a link for it.
func (s *Service) invite(ctx context.Context, tx *db.Tx, r *http.Request, email string, data map[string]any) (User, oneTime, error) {
	u, err := s.unconfirmed(ctx, tx, email, newUser{Email: email, Invited: true, UserMetadata: data})
	if err != nil {
		return User{}, oneTime{}, err
	}
	now := s.now()
	// Nobody knows who chose the password of an account that waits already: the link must not confirm it.
	if err := setUser(ctx, tx, u.ID, now, change{colInvited, now}, change{colConfirmationSent, now}, change{colPassword, nil}); err != nil {
		return User{}, oneTime{}, err
	}
	token, err := s.issueToken(ctx, tx, u.ID, tokenConfirmation, email, "", confirmLife)
	if err != nil {
		return User{}, oneTime{}, err
	}
	if err := s.auditByKey(ctx, tx, r, auditUserInvited, u.ID, nil); err != nil {
		return User{}, oneTime{}, err
	}
	u, err = userByID(ctx, tx, u.ID)
	return u, token, err
}

// unconfirmed gives the account of an address that is not confirmed, made of n when there is none; its row is held.
// errEmailExists for a confirmed address.
func (s *Service) unconfirmed(ctx context.Context, tx *db.Tx, email string, n newUser) (User, error) {
	known, err := userByEmail(ctx, tx, email)
	if err == nil {
		known, err = lockUser(ctx, tx, known.ID)
	}
	switch {
	case err == nil && known.EmailConfirmedAt != nil:
		return User{}, errEmailExists.Becausef("user %s", known.ID)
	case err == nil && known.PhoneConfirmedAt == nil:
		// Whoever opened it has not proven the address: what they left must not stay beside who is asked in.
		if err := s.disown(ctx, tx, known.ID); err != nil {
			return User{}, err
		}
		return userByID(ctx, tx, known.ID)
	case err == nil:
		return known, nil
	case !errors.Is(err, db.ErrNoRows):
		return User{}, err
	}
	now := s.now()
	n.AppMetadata = map[string]any{"provider": "email", "providers": []any{"email"}}
	id, err := insertUser(ctx, tx, n, now)
	if err != nil {
		return User{}, err
	}
	if err := saveIdentity(ctx, tx, id, "email", id, identityData(id, "email", email, false), now); err != nil {
		return User{}, err
	}
	return userByID(ctx, tx, id)
}
