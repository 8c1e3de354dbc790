package auth

import (
	"context"
	"errors"
	"net/http"

	"atelie/internal/db"
)

// This file invites users to the site by mail, for a program with the service key (the API key with the role service_role).

// inviteRequest is the body of Invite.
type inviteRequest struct {
	Email string         `json:"email"`
	Data  map[string]any `json:"data"` // user metadata of a new account
}

// Invite handles POST /auth/v1/invite, and requires the service key. It creates an account without a password, and mails a link that signs
// the invited user in. The user can then set a password. An e-mail address can be invited again until it is confirmed. Error:
// email_exists (the address is confirmed).
func (s *Service) Invite(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	var body inviteRequest
	if err := authorizeAndDecode(w, r, maxBody, &body); err != nil { // an error unless the caller has the service key
		return err
	}
	email, err := normalizeEmail(body.Email)
	if err != nil {
		return err
	}
	redirectTo := s.redirectTarget(requestedRedirect(r))
	var u User
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		var token issuedToken
		if u, token, err = s.invite(ctx, tx, r, email, body.Data); err != nil {
			return err
		}
		return s.sendMail(ctx, tx, Mail{
			Kind: MailInvite, To: email, Language: languageFor(u, clientOf(r)), Link: s.verifyLink(token.LinkToken, "invite", redirectTo), Code: token.Code,
		})
	})
	return respondPrivate(w, u, err)
}

// invite issues the token of an invitation's link, which the caller mails. It creates an account if the e-mail address has none. It also
// removes the account's password and writes the audit entry.
func (s *Service) invite(ctx context.Context, tx *db.Tx, r *http.Request, email string, data map[string]any) (User, issuedToken, error) {
	u, err := s.findOrCreateUnconfirmed(ctx, tx, email, insertUserParams{Email: email, Invited: true, UserMetadata: data})
	if err != nil {
		return User{}, issuedToken{}, err
	}
	now := s.now()
	// The link will confirm the account for whoever reads the mail. Somebody else may have signed up with this address before, and must not
	// be able to open the confirmed account. So issueToken removes the password, together with the other changes of the account's row.
	token, err := s.issueToken(ctx, tx, u.ID, tokenConfirmation, email, "", confirmLife, // "": the link belongs to no PKCE flow
		columnChange{colInvited, now}, columnChange{colConfirmationSent, now}, columnChange{colPassword, nil})
	err = errors.Join(err, s.auditServiceKey(ctx, tx, r, auditUserInvited, u.ID, nil))
	if err != nil { // rolls back the transaction
		return User{}, issuedToken{}, err
	}
	u, err = userByID(ctx, tx, u.ID)
	return u, token, err
}

// findOrCreateUnconfirmed locks and returns the account of an e-mail address that is not confirmed. If the address has no account, it
// creates an account from newUser. It returns errEmailExists for a confirmed address.
func (s *Service) findOrCreateUnconfirmed(ctx context.Context, tx *db.Tx, email string, newUser insertUserParams) (User, error) {
	existing, err := userByEmail(ctx, tx, email)
	if err == nil {
		existing, err = lockUser(ctx, tx, existing.ID)
	}
	switch {
	case err == nil && existing.EmailConfirmedAt != nil:
		return User{}, errEmailExists.Becausef("user %s", existing.ID)
	case err == nil && existing.PhoneConfirmedAt == nil:
		// Whoever opened the account has not confirmed the address, and must not keep access beside the invited user.
		if err := s.removeUnconfirmedAccess(ctx, tx, existing.ID); err != nil {
			return User{}, err
		}
		return userByID(ctx, tx, existing.ID)
	case err == nil:
		return existing, nil
	case !errors.Is(err, db.ErrNoRows):
		return User{}, err
	}
	now := s.now()
	newUser.AppMetadata = map[string]any{"provider": "email", "providers": []any{"email"}}
	id, err := insertUser(ctx, tx, newUser, now)
	if err != nil {
		return User{}, err
	}
	if err := saveAddressIdentity(ctx, tx, id, "email", email, false, now); err != nil {
		return User{}, err
	}
	return userByID(ctx, tx, id)
}
