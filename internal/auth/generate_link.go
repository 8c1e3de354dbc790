package auth

import (
	"context"
	"errors"
	"net/http"

	"atelie/internal/db"
)

// This file makes links and codes for a program with the service key (the API key with the role service_role). The program sends them in
// its own mails.

// generateLinkRequest is the body of GenerateLink.
type generateLinkRequest struct {
	Type       string         `json:"type"` // signup, invite, magiclink, recovery, email_change_current or email_change_new
	Email      string         `json:"email"`
	NewEmail   string         `json:"new_email"`   // new e-mail address; used only by the types email_change_current and email_change_new
	Password   string         `json:"password"`    // used only by the type signup
	Data       map[string]any `json:"data"`        // user metadata; used only by the types signup and invite
	RedirectTo string         `json:"redirect_to"` // URL to which the link leads the browser
}

// generateLinkResponse is the response body of GenerateLink: the account, and its new link and code.
type generateLinkResponse struct {
	User
	ActionLink       string `json:"action_link"`
	EmailOTP         string `json:"email_otp"`         // the six-digit code
	HashedToken      string `json:"hashed_token"`      // the token in ActionLink (not a hash, in spite of its name); clients send it to Verify
	VerificationType string `json:"verification_type"` // Type of the request; signup if a magiclink was requested for an unknown address
	RedirectTo       string `json:"redirect_to"`
}

// GenerateLink handles POST /auth/v1/admin/generate_link, and requires the service key. It creates the link and the code that a
// mail would contain, and returns them without sending a mail. If no account has the e-mail address, a request for a magic link is
// treated as a signup. Errors:
//   - user_not_found: no account has the address, and the type creates none.
//   - email_exists: a confirmed account has the address of a sign-up or an invitation, or an account has the new address of a change.
//   - weak_password: the password of a sign-up is too short or easy to guess.
//   - validation_failed: another field is not valid.
func (s *Service) GenerateLink(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body generateLinkRequest
	if err := authorizeAndDecode(w, r, maxBody, &body); err != nil {
		return err
	}
	var err error
	if body.Email, err = normalizeEmail(body.Email); err != nil {
		return err
	}
	types := s.linkTypes()
	if _, isKnownType := types[body.Type]; !isKnownType {
		return errInvalid("Invalid email action link type requested: %s", body.Type)
	}
	_, err = userByEmail(ctx, s.db, body.Email)
	isUnknownAddress := errors.Is(err, db.ErrNoRows)
	if err != nil && !isUnknownAddress {
		return err
	}
	if isUnknownAddress {
		switch body.Type {
		case "invite": // creates the account
		case "signup": // creates the account with the password
			if body.Password == "" {
				return errSignupPasswordMissing
			}
		case "magiclink": // becomes a signup without a password
			body.Type, body.Password = "signup", ""
		default:
			return errEmailNotFound
		}
	}
	passwordHash := ""
	if body.Type == "signup" && body.Password != "" {
		if passwordHash, err = s.validateAndHashPassword(ctx, body.Password); err != nil {
			return err
		}
	}
	if body.RedirectTo == "" {
		body.RedirectTo = requestedRedirect(r)
	}
	response := generateLinkResponse{VerificationType: body.Type, RedirectTo: s.redirectTarget(body.RedirectTo)}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		link := types[body.Type]
		u, token, err := link.make(ctx, tx, r, body, passwordHash)
		if err != nil {
			return err
		}
		if link.action != "" {
			if err := s.auditServiceKey(ctx, tx, r, link.action, u.ID, map[string]any{"type": body.Type, "generated": true}); err != nil {
				return err
			}
		}
		response.ActionLink = s.verifyLink(token.LinkToken, link.verifyType, response.RedirectTo)
		response.EmailOTP, response.HashedToken = token.Code, token.LinkToken
		response.User, err = userByID(ctx, tx, u.ID)
		return err
	})
	return respondPrivate(w, response, err)
}

// linkMaker makes a link of one type: it changes or creates the account as the type requires, and issues the token. passwordHash is
// the hash of the request's password, or "".
type linkMaker func(ctx context.Context, tx *db.Tx, r *http.Request, body generateLinkRequest, passwordHash string) (User, issuedToken, error)

// linkType is a type of link.
type linkType struct {
	make       linkMaker
	action     auditAction // "" for an invitation, which invite itself logs
	verifyType string      // parameter type of GET /verify, which has one type for both links of a change of address
}

func (s *Service) linkTypes() map[string]linkType {
	invite := func(ctx context.Context, tx *db.Tx, r *http.Request, body generateLinkRequest, _ string) (User, issuedToken, error) {
		return s.invite(ctx, tx, r, body.Email, body.Data)
	}
	return map[string]linkType{
		"signup":               {s.makeSignupLink, auditLinkGenerated, "signup"},
		"invite":               {invite, "", "invite"},
		"magiclink":            {s.makeRecoveryLink, auditRecoveryRequested, "magiclink"},
		"recovery":             {s.makeRecoveryLink, auditRecoveryRequested, "recovery"},
		"email_change_current": {s.makeEmailChangeLink, auditLinkGenerated, "email_change"},
		"email_change_new":     {s.makeEmailChangeLink, auditLinkGenerated, "email_change"},
	}
}

// makeSignupLink creates an account, or adds the request's data to the unconfirmed account of the address. In such an account the
// request's password, or none, replaces the older password: somebody else may have chosen the older password, and the link must not
// confirm it.
func (s *Service) makeSignupLink(ctx context.Context, tx *db.Tx, _ *http.Request, body generateLinkRequest, passwordHash string) (User, issuedToken, error) {
	u, err := s.findOrCreateUnconfirmed(ctx, tx, body.Email, insertUserParams{Email: body.Email, PasswordHash: passwordHash})
	if err != nil {
		return User{}, issuedToken{}, err
	}
	token, err := s.issueToken(ctx, tx, u.ID, tokenConfirmation, body.Email, "", confirmLife,
		columnChange{colConfirmationSent, s.now()}, columnChange{colUserMetadata, mergeMetadata(u.UserMetadata, body.Data)}, columnChange{colPassword, orNull(passwordHash)})
	return u, token, err
}

// makeRecoveryLink makes a link that signs an account in, for the types magiclink and recovery.
func (s *Service) makeRecoveryLink(ctx context.Context, tx *db.Tx, _ *http.Request, body generateLinkRequest, _ string) (User, issuedToken, error) {
	u, err := s.lockByEmail(ctx, tx, body.Email)
	if err != nil {
		return User{}, issuedToken{}, err
	}
	token, err := s.issueToken(ctx, tx, u.ID, tokenRecovery, body.Email, "", linkLife, columnChange{colRecoverySent, s.now()})
	return u, token, err
}

// makeEmailChangeLink makes one of the two links that a change of address needs: for the current address, or for the new one.
func (s *Service) makeEmailChangeLink(ctx context.Context, tx *db.Tx, _ *http.Request, body generateLinkRequest, _ string) (User, issuedToken, error) {
	newEmail, err := normalizeEmail(body.NewEmail)
	if err != nil {
		return User{}, issuedToken{}, err
	}
	u, err := s.lockByEmail(ctx, tx, body.Email)
	if err != nil {
		return User{}, issuedToken{}, err
	}
	if err := checkAddressesFree(ctx, tx, newEmail, ""); err != nil {
		return User{}, issuedToken{}, err
	}
	if u.NewEmail != newEmail { // links for another new address must not confirm this one
		if err := deleteOneTimeTokens(ctx, tx, u.ID, tokenEmailCurrent, tokenEmailNew); err != nil {
			return User{}, issuedToken{}, err
		}
	}
	kind, sentTo := tokenEmailCurrent, u.Email
	if body.Type == "email_change_new" {
		kind, sentTo = tokenEmailNew, newEmail
	}
	token, err := s.issueToken(ctx, tx, u.ID, kind, sentTo, "", confirmLife,
		columnChange{colEmailChange, newEmail}, columnChange{colEmailChangeSent, s.now()}, columnChange{colEmailChangeStatus, 0})
	return u, token, err
}

// lockByEmail locks and returns the account of an address, or errEmailNotFound when there is none.
func (s *Service) lockByEmail(ctx context.Context, tx *db.Tx, email string) (User, error) {
	u, err := userByEmail(ctx, tx, email)
	if err == nil {
		u, err = lockUser(ctx, tx, u.ID)
	}
	return u, db.NoRowsAs(err, errEmailNotFound)
}
