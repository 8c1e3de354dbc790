package auth

import (
	"atelie/internal/httpx"
	"context"
	"errors"
	"net/http"

	"atelie/internal/db"
)

// Token is POST /auth/v1/token: it opens or renews a session, as grant_type says.
func (s *Service) Token(w http.ResponseWriter, r *http.Request) error {
	switch grantType := r.URL.Query().Get("grant_type"); grantType {
	case "password":
		return s.passwordGrant(w, r)
	case "refresh_token":
		return s.refreshGrant(w, r)
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
	case p.Phone != "":
		return errPhoneDisabled // READING §3.33
	case p.Email == "":
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
	email, invalid := normalizeEmail(body.Email) // no address is also nobody's address: it is answered as an unknown one
	address := httpx.LimitSubject(r.Context())
	if err := s.limit(w, r, "auth sign-in address", address, signInsPerAddress); err != nil {
		return err
	}
	if err := s.limit(w, r, "auth sign-in account", hashToken(email+"\n"+address), signInsPerAccount); err != nil {
		return err
	}
	for range passwordTries {
		g, err := s.signIn(r.Context(), clientOf(r), email, invalid == nil, body.Password)
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

// signIn opens a session for whoever knows the password. It does the same work whether the account exists or not.
func (s *Service) signIn(ctx context.Context, c client, email string, lookUp bool, password string) (grant, error) {
	var known credentials
	if lookUp {
		var err error
		if known, err = credentialsByEmail(ctx, s.db, email); err != nil && !errors.Is(err, db.ErrNoRows) {
			return grant{}, err
		}
	}
	ok, outdated, err := s.passwords.verify(ctx, known.hash, password)
	switch {
	case errors.Is(err, errUnreadableHash):
		return grant{}, errInvalidCredentials.Becausef("user %s: %w", known.userID, err)
	case err != nil:
		return grant{}, err
	case !ok && known.userID == "":
		return grant{}, errInvalidCredentials.Becausef("no such account")
	case !ok:
		return grant{}, errInvalidCredentials.Becausef("wrong password for user %s", known.userID)
	case !known.confirmed:
		return grant{}, errEmailNotConfirmed
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
		replaced, err := swapPassword(ctx, tx, known.userID, known.hash, hash)
		if err != nil {
			return err
		}
		if !replaced {
			return errPasswordReplaced
		}
		g, err = s.startSession(ctx, tx, c, known.userID, "password")
		return err
	})
	return g, err
}
