package auth

import (
	"context"
	"net/http"

	"atelie/internal/apperr"
	"atelie/internal/db"
)

// Reauthenticate is GET /auth/v1/reauthenticate: it sends the caller a code, the nonce with which PUT user takes a new
// password in an old session.
func (s *Service) Reauthenticate(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	u, _, err := s.signedIn(ctx)
	if err != nil {
		return err
	}
	switch {
	case u.Email == "" && u.Phone == "":
		return errReauthWithout
	case u.Email != "" && u.EmailConfirmedAt == nil:
		return errReauthEmail
	case u.Email == "" && u.PhoneConfirmedAt == nil:
		return errReauthPhone
	}
	kind, to := turnReauth, u.Email
	if u.Email == "" {
		kind, to = turnSMS, u.Phone
	}
	if err := s.takeTurn(ctx, s.db, kind, to); err != nil {
		return err
	}
	c := clientOf(r)
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if u.Email == "" {
			return s.sendCode(ctx, tx, c, u, tokenReauthenticate, u.Phone, "reauthentication", "sms", change{colReauthSent, s.now()})
		}
		secret, err := s.issueToken(ctx, tx, u.ID, tokenReauthenticate, u.Email, "", codeLife)
		if err != nil {
			return err
		}
		if err := setUser(ctx, tx, u.ID, s.now(), change{colReauthSent, s.now()}); err != nil {
			return err
		}
		if err := s.audit(ctx, tx, c, auditMailSent, u.ID, map[string]any{"kind": MailReauthentication}); err != nil {
			return err
		}
		return s.sendMail(ctx, tx, Mail{Kind: MailReauthentication, To: u.Email, Language: languageFor(u, c), Code: secret.Code})
	})
	if err != nil {
		return err
	}
	return answerNothing(w)
}

// checkNonce compares the code that Reauthenticate has sent; errReauthNotValid when it is wrong, old or was sent to an
// address that the account no longer has.
func (s *Service) checkNonce(ctx context.Context, u User, nonce string) (oneTimeToken, error) {
	t, err := s.checkCode(ctx, u.ID, tokenReauthenticate, nonce)
	if err == nil && t.sentTo != u.Email && t.sentTo != u.Phone {
		err = errReauthNotValid.Becausef("sent to another address")
	}
	if e := apperr.From(err); err != nil && e.Code == errOTPExpired.Code {
		err = errReauthNotValid.Because(err)
	}
	return t, err
}
