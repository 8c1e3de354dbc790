package auth

import (
	"context"
	"net/http"
	"time"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

const setupLinkLife = 24 * time.Hour

type setupRequest struct {
	Token    string `json:"token"`
	Email    string `json:"email"`
	Password string `json:"password"`
}

// Setup is POST /auth/v1/setup, our addition to the contract (READING §3.34): whoever holds a set-up link becomes the
// first owner with an address and a password of their choice, and is signed in. The link works once, and no link works
// when there is an owner.
func (s *Service) Setup(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body setupRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.Token == "" || body.Email == "" || body.Password == "" {
		return errSetupIncomplete
	}
	if err := s.limit(w, r, "auth set-up address", httpx.LimitSubject(r.Context()), setupsPerAddress); err != nil {
		return err
	}
	link := hashToken(body.Token)
	// Looked at before the costly hash; what counts is the answer in the transaction.
	usable, err := setupLinkUsable(ctx, s.db, link, s.now())
	if err != nil {
		return err
	}
	if !usable {
		return errSetupLinkInvalid
	}
	email, err := normalizeEmail(body.Email)
	if err != nil {
		return err
	}
	if err := s.validatePassword(body.Password); err != nil {
		return err
	}
	hash, err := s.passwords.hash(ctx, body.Password)
	if err != nil {
		return err
	}
	var g grant
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockOwners(ctx, tx); err != nil {
			return err
		}
		usable, err := setupLinkUsable(ctx, tx, link, s.now())
		if err != nil {
			return err
		}
		if !usable {
			return errSetupLinkInvalid.Becausef("used in the meantime")
		}
		userID, err := s.saveOwner(ctx, tx, email, hash)
		if err != nil {
			return err
		}
		g, err = s.startSession(ctx, tx, clientOf(r), userID, signIn{method: "password", provider: "email"})
		return err
	})
	if err != nil {
		return err
	}
	return s.answerPassword(w, g, body.Password)
}

// NewSetupLink gives the secret of a new set-up link, valid for 24 hours; only its hash is kept. It returns an error
// with code conflict when there is an owner.
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
		if err := deleteExpiredSetupLinks(ctx, tx, now); err != nil {
			return err
		}
		return insertSetupLink(ctx, tx, hashToken(token), now.Add(setupLinkLife), now)
	})
	if err != nil {
		return "", err
	}
	return token, nil
}
