package auth

import (
	"context"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// Token is POST /auth/v1/token: it opens or renews a session, as grant_type says.
func (s *Service) Token(w http.ResponseWriter, r *http.Request) error {
	switch grantType := r.URL.Query().Get("grant_type"); grantType {
	case "password":
		return s.passwordGrant(w, r)
	case "refresh_token":
		return s.refreshGrant(w, r)
	case "pkce":
		return s.pkceGrant(w, r)
	case "id_token":
		return s.idTokenGrant(w, r)
	default:
		return errUnsupportedGrant.Becausef("grant_type %q", grantType)
	}
}

type passwordRequest struct {
	Email    string `json:"email"`
	Phone    string `json:"phone"`
	Password string `json:"password"`
}

func (p passwordRequest) validate() error {
	switch {
	case p.Email != "" && p.Phone != "":
		return errIdentifierAmbiguous
	case p.Email == "" && p.Phone == "":
		return errIdentifierMissing
	}
	return nil
}

// passwordTries is more than one because two sign-ins at once may both want to renew an old hash: the second finds
// that the hash it has checked was replaced, and checks again.
const passwordTries = 3

var errPasswordReplaced = errors.New("the password was replaced while it was checked")

func (s *Service) passwordGrant(w http.ResponseWriter, r *http.Request) error {
	var body passwordRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if err := body.validate(); err != nil {
		return err
	}
	login, err := s.loginOf(body)
	if err != nil {
		return err
	}
	address := httpx.LimitSubject(r.Context())
	if err := s.limit(w, r, "auth sign-in address", address, signInsPerAddress); err != nil {
		return err
	}
	if err := s.limit(w, r, "auth sign-in account", hashToken(login.email+login.phone+"\n"+address), signInsPerAccount); err != nil {
		return err
	}
	for range passwordTries {
		g, err := s.signInWithPassword(r.Context(), clientOf(r), login, body.Password)
		if errors.Is(err, errPasswordReplaced) {
			continue
		}
		if err != nil {
			return err
		}
		return s.answerPassword(w, g, body.Password)
	}
	return errInvalidCredentials.Because(errPasswordReplaced)
}

// login is the account that a password is shown for, by one of two names. Both empty: nobody's.
type login struct{ email, phone string }

// loginOf reads the name. No address is also nobody's address: it is answered as an unknown one.
func (s *Service) loginOf(p passwordRequest) (login, error) {
	if p.Phone == "" {
		email, err := normalizeEmail(p.Email)
		if err != nil {
			return login{}, nil //nolint:nilerr // nobody's name is answered as an unknown one
		}
		return login{email: email}, nil
	}
	if !s.cfg.PhoneEnabled {
		return login{}, errPhoneDisabled // READING §3.33
	}
	phone, err := normalizePhone(p.Phone)
	if err != nil {
		return login{}, nil //nolint:nilerr // nobody's name is answered as an unknown one
	}
	return login{phone: phone}, nil
}

// account looks the login up in one query, whether it exists or not, so that both take the same time; the zero User
// when there is none. Identities and factors are not read.
func (s *Service) account(ctx context.Context, l login) (User, error) {
	u, err := credentials(ctx, s.db, l)
	if errors.Is(err, db.ErrNoRows) {
		return User{}, nil
	}
	return u, err
}

// signInWithPassword opens a session for whoever knows the password. It does the same work whether the account exists
// or not.
func (s *Service) signInWithPassword(ctx context.Context, c client, l login, password string) (grant, error) {
	known, err := s.account(ctx, l)
	if err != nil {
		return grant{}, err
	}
	provider, confirmedAt, unconfirmed := "email", known.EmailConfirmedAt, errEmailNotConfirmed
	if l.phone != "" {
		provider, confirmedAt, unconfirmed = "phone", known.PhoneConfirmedAt, errPhoneNotConfirmed
	}
	ok, outdated, err := s.passwords.verify(ctx, known.hash, password)
	switch {
	case errors.Is(err, errUnreadableHash):
		return grant{}, errInvalidCredentials.Becausef("user %s: %w", known.ID, err)
	case err != nil:
		return grant{}, err
	case !ok:
		// Kept for unknown accounts too: the answer must not take longer for known ones.
		if err := s.audit(ctx, s.db, c, auditSignInRefused, known.ID, map[string]any{"method": "password"}); err != nil {
			return grant{}, err
		}
		return grant{}, errInvalidCredentials.Becausef("wrong password for user %q", known.ID)
	case confirmedAt == nil:
		return grant{}, unconfirmed
	}
	hash := known.hash
	if outdated {
		if hash, err = s.passwords.hash(ctx, password); err != nil {
			return grant{}, err
		}
	}
	var g grant
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		// Also without a new hash: a session must not outlive a password that was changed in the meantime.
		replaced, err := swapPassword(ctx, tx, known.ID, known.hash, hash)
		if err != nil {
			return err
		}
		if !replaced {
			return errPasswordReplaced
		}
		g, err = s.startSession(ctx, tx, c, known.ID, signIn{method: "password", provider: provider})
		return err
	})
	return g, err
}
