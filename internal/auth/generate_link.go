package auth

import (
	"context"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

type generateLinkRequest struct {
	Type       string         `json:"type"`
	Email      string         `json:"email"`
	NewEmail   string         `json:"new_email"`
	Password   string         `json:"password"`
	Data       map[string]any `json:"data"`
	RedirectTo string         `json:"redirect_to"`
}

// generatedLink is the account with what would otherwise go out by mail.
type generatedLink struct {
	User
	ActionLink       string `json:"action_link"`
	EmailOTP         string `json:"email_otp"`
	HashedToken      string `json:"hashed_token"` // what verifyOtp takes as token_hash
	VerificationType string `json:"verification_type"`
	RedirectTo       string `json:"redirect_to"`
}

// GenerateLink is POST /auth/v1/admin/generate_link, for the service key alone: the link and the code of a mail, for the
// caller to hand over; nothing is sent. A magic link for an unknown address becomes a sign-up. Errors: user_not_found,
// email_exists, weak_password, validation_failed.
func (s *Service) GenerateLink(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := elevated(ctx); err != nil {
		return err
	}
	var body generateLinkRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	var err error
	if body.Email, err = normalizeEmail(body.Email); err != nil {
		return err
	}
	maker, known := s.linkMakers()[body.Type]
	if !known {
		return errLinkType(body.Type)
	}
	_, err = userByEmail(ctx, s.db, body.Email)
	unknown := errors.Is(err, db.ErrNoRows)
	if err != nil && !unknown {
		return err
	}
	switch {
	case !unknown, body.Type == "invite":
	case body.Type == "magiclink":
		body.Type, body.Password, maker = "signup", "", s.signupLink
	case body.Type == "signup" && body.Password == "":
		return errSignupPasswordMissing
	case body.Type != "signup":
		return errEmailNotFound
	}
	hash := ""
	if body.Type == "signup" && body.Password != "" {
		if hash, err = s.newHash(ctx, body.Password); err != nil {
			return err
		}
	}
	if body.RedirectTo == "" {
		body.RedirectTo = askedRedirect(r)
	}
	answer := generatedLink{VerificationType: body.Type, RedirectTo: s.redirectTarget(body.RedirectTo)}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		u, token, err := maker(ctx, tx, r, body, hash)
		if err != nil {
			return err
		}
		if err := s.auditByKey(ctx, tx, r, auditLinkGenerated, u.ID, map[string]any{"type": body.Type}); err != nil {
			return err
		}
		answer.ActionLink = s.verifyLink(token.Link, verifyKind(body.Type), answer.RedirectTo)
		answer.EmailOTP, answer.HashedToken = token.Code, token.Link
		answer.User, err = userByID(ctx, tx, u.ID)
		return err
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, answer)
}

// verifyKind is the type that GET /verify knows the link by.
func verifyKind(linkType string) string {
	if linkType == "email_change_current" || linkType == "email_change_new" {
		return "email_change"
	}
	return linkType
}

// linkMaker writes what its type of link needs and makes the token, in one transaction.
type linkMaker func(ctx context.Context, tx *db.Tx, r *http.Request, body generateLinkRequest, hash string) (User, oneTime, error)

func (s *Service) linkMakers() map[string]linkMaker {
	return map[string]linkMaker{
		"signup": s.signupLink, "magiclink": s.recoveryLink, "recovery": s.recoveryLink,
		"email_change_current": s.emailChangeLink, "email_change_new": s.emailChangeLink,
		"invite": func(ctx context.Context, tx *db.Tx, r *http.Request, body generateLinkRequest, _ string) (User, oneTime, error) {
			return s.invite(ctx, tx, r, body.Email, body.Data)
		},
	}
}

// signupLink makes the account, or takes the one that is not confirmed and adds the data. The password that the link
// confirms is the one given here, or none: nobody knows who chose the older one.
func (s *Service) signupLink(ctx context.Context, tx *db.Tx, _ *http.Request, body generateLinkRequest, hash string) (User, oneTime, error) {
	u, err := s.unconfirmed(ctx, tx, body.Email, newUser{Email: body.Email, Hash: hash})
	if err != nil {
		return User{}, oneTime{}, err
	}
	now := s.now()
	if err := setUser(ctx, tx, u.ID, now, change{colConfirmationSent, now}, change{colUserMetadata, merged(u.UserMetadata, body.Data)}, change{colPassword, orNull(hash)}); err != nil {
		return User{}, oneTime{}, err
	}
	token, err := s.issueToken(ctx, tx, u.ID, tokenConfirmation, body.Email, "", confirmLife)
	return u, token, err
}

// recoveryLink signs an account in, with a magic link or to choose a new password.
func (s *Service) recoveryLink(ctx context.Context, tx *db.Tx, _ *http.Request, body generateLinkRequest, _ string) (User, oneTime, error) {
	u, err := s.lockByEmail(ctx, tx, body.Email)
	if err != nil {
		return User{}, oneTime{}, err
	}
	now := s.now()
	if err := setUser(ctx, tx, u.ID, now, change{colRecoverySent, now}); err != nil {
		return User{}, oneTime{}, err
	}
	token, err := s.issueToken(ctx, tx, u.ID, tokenRecovery, body.Email, "", linkLife)
	return u, token, err
}

// emailChangeLink makes one of the two links that a change of address needs: for the address that is given up, or for
// the one that takes its place.
func (s *Service) emailChangeLink(ctx context.Context, tx *db.Tx, _ *http.Request, body generateLinkRequest, _ string) (User, oneTime, error) {
	fresh, err := normalizeEmail(body.NewEmail)
	if err != nil {
		return User{}, oneTime{}, err
	}
	u, err := s.lockByEmail(ctx, tx, body.Email)
	if err != nil {
		return User{}, oneTime{}, err
	}
	if err := addressesFree(ctx, tx, fresh, ""); err != nil {
		return User{}, oneTime{}, err
	}
	if u.NewEmail != fresh { // a link for another address must not confirm this one
		if err := deleteOneTimeTokens(ctx, tx, u.ID, tokenEmailCurrent, tokenEmailNew); err != nil {
			return User{}, oneTime{}, err
		}
	}
	now := s.now()
	if err := setUser(ctx, tx, u.ID, now, change{colEmailChange, fresh}, change{colEmailChangeSent, now}, change{colEmailChangeStatus, 0}); err != nil {
		return User{}, oneTime{}, err
	}
	kind, sentTo := tokenEmailCurrent, u.Email
	if body.Type == "email_change_new" {
		kind, sentTo = tokenEmailNew, fresh
	}
	token, err := s.issueToken(ctx, tx, u.ID, kind, sentTo, "", confirmLife)
	return u, token, err
}

// lockByEmail holds the account of an address; errEmailNotFound when it has gone in the meantime.
func (s *Service) lockByEmail(ctx context.Context, tx *db.Tx, email string) (User, error) {
	u, err := userByEmail(ctx, tx, email)
	if err == nil {
		u, err = lockUser(ctx, tx, u.ID)
	}
	if errors.Is(err, db.ErrNoRows) {
		err = errEmailNotFound
	}
	return u, err
}
