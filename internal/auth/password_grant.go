package auth

import (
	"context"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// This file signs users in with a password.

// passwordRequest is the body of POST /auth/v1/token?grant_type=password. Either Email or Phone must be set.
type passwordRequest struct {
	Email    string `json:"email"`
	Phone    string `json:"phone"`
	Password string `json:"password"`
}

// validate checks that exactly one of Email and Phone is set. The function decode calls it.
func (p passwordRequest) validate() error {
	switch {
	case p.Email != "" && p.Phone != "":
		return errIdentifierAmbiguous
	case p.Email == "" && p.Phone == "":
		return errIdentifierMissing
	}
	return nil
}

// maxHashRaces is the maximum number of times that one sign-in compares the password with the stored hash. It compares again only if a
// concurrent request has replaced the hash during the comparison. (Another limit, signInsPerAccount, is for attempts with wrong passwords.)
const maxHashRaces = 3

var errPasswordReplaced = errors.New("the password was replaced while it was checked")

// passwordGrant handles POST /auth/v1/token?grant_type=password: it signs in with a password and an e-mail address or phone
// number.
func (s *Service) passwordGrant(w http.ResponseWriter, r *http.Request) error {
	var body passwordRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	login, err := s.loginOf(body)
	if err != nil {
		return err
	}
	if err := s.limitPerIP(w, r, limitSignIns, signInsPerIP); err != nil {
		return err
	}
	accountAndIP := hashKey(login.email + login.phone + "\n" + httpx.LimitSubject(r.Context()))
	if err := s.limit(w, r, limitAccountSignIns, accountAndIP, signInsPerAccount); err != nil {
		return err
	}
	for range maxHashRaces {
		issued, err := s.signInWithPassword(r.Context(), clientOf(r), login, body.Password)
		if !errors.Is(err, errPasswordReplaced) {
			return s.respondPasswordSession(w, issued, body.Password, err)
		}
	}
	return errInvalidCredentials.Because(errPasswordReplaced)
}

// loginOf returns the e-mail address or phone number of a request, normalized. For an invalid one it returns the zero login. The zero login
// matches no account, so the response is the same as for an unknown account.
func (s *Service) loginOf(p passwordRequest) (l login, err error) {
	switch {
	case p.Phone == "":
		l.email, _ = normalizeEmail(p.Email)
	case !s.cfg.PhoneEnabled:
		err = errPhoneDisabled
	default:
		l.phone, _ = normalizePhone(p.Phone)
	}
	return l, err
}

// signInWithPassword opens a session if the password is right. It does the same work if there is no such account, so that the
// response time does not reveal whether the account exists. If it returns errPasswordReplaced, the caller must try again.
func (s *Service) signInWithPassword(ctx context.Context, c clientInfo, l login, password string) (issuedSession, error) {
	known, err := s.findAccount(ctx, l)
	if err != nil {
		return issuedSession{}, err
	}
	provider, confirmedAt, unconfirmed := "email", known.EmailConfirmedAt, errEmailNotConfirmed
	if l.phone != "" {
		provider, confirmedAt, unconfirmed = "phone", known.PhoneConfirmedAt, errPhoneNotConfirmed
	}
	ok, outdated, err := s.hasher.verify(ctx, known.passwordHash, password)
	switch {
	case errors.Is(err, errUnreadableHash):
		return issuedSession{}, errInvalidCredentials.Becausef("user %s: %w", known.ID, err)
	case err != nil:
		return issuedSession{}, err
	case !ok:
		// Refused sign-ins are logged for unknown accounts too: otherwise the response would take longer for known ones.
		if err := s.audit(ctx, s.db, c, auditSignInRefused, known.ID, map[string]any{"method": "password"}); err != nil {
			return issuedSession{}, err
		}
		return issuedSession{}, errInvalidCredentials.Becausef("wrong password for user %q", known.ID)
	case confirmedAt == nil:
		return issuedSession{}, unconfirmed
	}
	passwordHash := known.passwordHash
	if outdated {
		if passwordHash, err = s.hasher.hash(ctx, password); err != nil {
			return issuedSession{}, err
		}
	}
	return inTx(ctx, s.db.WithShortTx, func(tx *db.Tx) (issuedSession, error) {
		// Even if the hash stays the same, swapPassword must run: it returns an error if the password was changed since the check.
		if err := swapPassword(ctx, tx, known.ID, known.passwordHash, passwordHash); err != nil {
			return issuedSession{}, err
		}
		return s.startSession(ctx, tx, c, known.ID, signIn{method: "password", provider: provider})
	})
}
