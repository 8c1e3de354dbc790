package auth

import (
	"context"
	"errors"
	"net/http"
	"time"

	"atelie/internal/db"
)

// This file creates set-up links and handles their use. A set-up link is a URL with which a user becomes the first owner of the site.

// setupLinkLife is how long a set-up link is valid.
const setupLinkLife = 24 * time.Hour

// setupRequest is the body of Setup.
type setupRequest struct {
	Token    string `json:"token"` // the secret of the set-up link
	Email    string `json:"email"`
	Password string `json:"password"`
}

// Setup handles POST /auth/v1/setup (not in Supabase Auth). It makes the account of the given e-mail address the first owner (an account
// with the role admin), sets its password and opens a session. A set-up link works once, and only while the site has no owner.
func (s *Service) Setup(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body setupRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.Token == "" || body.Email == "" || body.Password == "" {
		return errSetupIncomplete
	}
	if err := s.limitPerIP(w, r, limitSetups, setupsPerIP); err != nil {
		return err
	}
	linkHash := hashToken(body.Token)
	// This check refuses an invalid link before the slow password hash is computed. Another request can use the link in the meantime, so
	// the transaction below checks the link again.
	isUsable, err := isSetupLinkUsable(ctx, s.db, linkHash, s.now())
	if err != nil {
		return err
	}
	if !isUsable {
		return errSetupLinkInvalid
	}
	email, err := normalizeEmail(body.Email)
	if err != nil {
		return err
	}
	passwordHash, err := s.validateAndHashPassword(ctx, body.Password)
	if err != nil {
		return err
	}
	issued, err := inTx(ctx, s.db.WithTx, func(tx *db.Tx) (issued issuedSession, err error) {
		if err := lockOwners(ctx, tx); err != nil { // two concurrent requests must not both make a first owner
			return issued, err
		}
		isUsable, err := isSetupLinkUsable(ctx, tx, linkHash, s.now())
		if err != nil {
			return issued, err
		}
		if !isUsable {
			return issued, errSetupLinkInvalid.Becausef("used in the meantime")
		}
		userID, err := s.saveOwner(ctx, tx, email, passwordHash)
		if err != nil {
			return issued, err
		}
		return s.startSession(ctx, tx, clientOf(r), userID, signIn{method: "password", provider: "email"})
	})
	return s.respondPasswordSession(w, issued, body.Password, err)
}

// NewSetupLink creates a set-up link, valid for 24 hours, and returns the secret in it. The database stores only a hash. It
// returns an error with the code conflict when there is an owner.
func (s *Service) NewSetupLink(ctx context.Context) (token string, err error) {
	token = randomToken()
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockOwners(ctx, tx); err != nil {
			return err
		}
		owners, err := countOwners(ctx, tx)
		if err != nil {
			return err
		}
		if owners > 0 {
			return errOwnerExists
		}
		now := s.now()
		return errors.Join(
			deleteBefore(ctx, tx, "auth_setup_links", "expires_at", now),
			insertSetupLink(ctx, tx, hashToken(token), now.Add(setupLinkLife), now),
		)
	})
	if err != nil {
		return "", err
	}
	return token, nil
}
