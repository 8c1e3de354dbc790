package auth

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"slices"

	"atelie/internal/apperr"
	"atelie/internal/auth/oauth"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

// This file adds identities (ways to sign in, such as an account at a provider) to the caller's account, and removes them.

// LinkIdentity handles GET /auth/v1/user/identities/authorize: it sends the browser to a provider, as Authorize does. After the return, the
// user's identity at the provider is added to the caller's account. With skip_http_redirect=true the response has the provider's URL
// instead of a redirect. Errors:
//   - manual_linking_disabled: the setting Config.ManualLinking is false.
//   - user_sso_managed: the account belongs to a SAML identity provider.
//   - insufficient_aal: the account has a second factor, and the session has not used it.
//   - reauthentication_needed: the caller is an owner (an account with the role admin) whose sign-in is not recent.
//   - validation_failed: the provider is unknown, or a parameter is malformed.
func (s *Service) LinkIdentity(w http.ResponseWriter, r *http.Request) error {
	u, err := s.authorizeLinking(w, r)
	if err != nil {
		return err
	}
	redirect, err := s.startProviderFlow(w, r, u.ID)
	if errors.Is(err, oauth.ErrUnavailable) {
		return errProviderDown.Because(err)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Query().Get("skip_http_redirect") == "true" {
		return httpx.JSON(w, http.StatusOK, map[string]string{"url": redirect.url})
	}
	http.Redirect(w, r, redirect.url, http.StatusFound)
	return nil
}

// UnlinkIdentity handles DELETE /auth/v1/user/identities/{identity_id}: it removes an identity from the caller's account and
// responds with {}. It has the errors of LinkIdentity, and also:
//   - identity_not_found: the account has no identity with this id.
//   - single_identity_not_deletable: it is the account's only identity, so the account would have no way to sign in.
//   - email_conflict_identity_not_deletable: the remaining identities have only e-mail addresses that belong to other accounts.
func (s *Service) UnlinkIdentity(w http.ResponseWriter, r *http.Request) error {
	caller, err := s.authorizeLinking(w, r)
	if err != nil {
		return err
	}
	id, ok := canonicalUUID(r.PathValue("identity_id"))
	if !ok {
		return errIdentityIDNotUUID
	}
	err = s.db.WithTx(r.Context(), func(tx *db.Tx) error { return s.unlinkIdentity(r.Context(), tx, clientOf(r), caller.ID, id) })
	return respondEmpty(w, err)
}

// authorizeLinking checks that the caller may add and remove identities of its account, and returns the account. If the account has a
// second factor, the session must be at the assurance level aal2 (signed in with that factor), because a stolen password must not be enough
// to add another way to sign in.
func (s *Service) authorizeLinking(w http.ResponseWriter, r *http.Request) (User, error) {
	u, current, err := s.currentSession(r.Context())
	if err != nil {
		return User{}, err
	}
	if !s.cfg.ManualLinking {
		return User{}, errManualLinkingDisabled
	}
	if u.isSSO {
		return User{}, errSSOManaged
	}
	if current.aal != aal2 && u.hasVerifiedFactor() {
		return User{}, errLinkingAAL
	}
	_, err = s.reauthenticateIfStale(w, r, u, current.id, proof{}) // these requests cannot carry a proof: see ConfirmReauthentication
	return u, err
}

// unlinkIdentity removes an identity from an account, and with it the password, phone number or e-mail address that belongs to it.
func (s *Service) unlinkIdentity(ctx context.Context, tx *db.Tx, c clientInfo, userID, identityID string) error {
	u, err := lockUser(ctx, tx, userID)
	if err != nil {
		return db.NoRowsAs(err, errUserNotFound)
	}
	if len(u.Identities) <= 1 {
		return errSingleIdentity
	}
	index := slices.IndexFunc(u.Identities, func(i Identity) bool { return i.IdentityID == identityID })
	if index < 0 {
		return errIdentityNotFound
	}
	removed := u.Identities[index]
	if err := deleteIdentity(ctx, tx, removed.IdentityID, u.ID); err != nil {
		return err
	}
	if removed.Provider == "email" { // the password belongs to this identity and must stop working
		err = setUser(ctx, tx, u.ID, s.now(), columnChange{colPassword, nil})
	}
	if removed.Provider == "phone" {
		err = setUser(ctx, tx, u.ID, s.now(), columnChange{colPhone, nil}, columnChange{colPhoneConfirmed, nil})
	} else {
		err = errors.Join(err, s.reassignEmail(ctx, tx, u, slices.Delete(slices.Clone(u.Identities), index, index+1)))
	}
	detail := map[string]any{"provider": removed.Provider, "provider_id": removed.ID, "identity_id": removed.IdentityID}
	return errors.Join(err, s.syncProviders(ctx, tx, u.ID), s.audit(ctx, tx, c, auditIdentityUnlinked, u.ID, detail))
}

// reassignEmail keeps the account's e-mail address if one of the remaining identities has it. Otherwise the account gets the
// address of the oldest remaining identity whose provider has verified it, or none: an unverified address may be somebody else's,
// and is used only with MailAutoconfirm. A change of the address deletes pending links and codes.
func (s *Service) reassignEmail(ctx context.Context, tx *db.Tx, u User, remaining []Identity) error {
	for _, i := range remaining {
		if email, err := normalizeEmail(i.Email); err == nil && email == u.Email {
			return nil
		}
	}
	slices.SortStableFunc(remaining, func(a, b Identity) int { return cmp.Compare(emailRank(a), emailRank(b)) })
	for _, i := range remaining {
		email, confirmed := "", false
		if usable, err := normalizeEmail(i.Email); err == nil && (emailRank(i) == 0 || s.cfg.MailAutoconfirm) {
			email, confirmed = usable, true
			_, err := userByEmail(ctx, tx, email)
			if err == nil {
				continue // another account has the address
			}
			if !errors.Is(err, db.ErrNoRows) {
				return err
			}
		}
		return s.setEmailOfIdentity(ctx, tx, u, email, confirmed)
	}
	return errIdentityEmailConflict
}

// emailRank returns the place of an identity in the order in which reassignEmail tries them: 0 with a verified address, 1 with an
// unverified address, 2 without an address.
func emailRank(i Identity) int {
	verified, _ := i.IdentityData["email_verified"].(bool)
	switch {
	case i.Email == "":
		return 2
	case !verified:
		return 1
	}
	return 0
}

// setEmailOfIdentity stores the account's new e-mail address, or none if email is "". It deletes pending links and codes.
func (s *Service) setEmailOfIdentity(ctx context.Context, tx *db.Tx, u User, email string, confirmed bool) error {
	changes := []columnChange{{colEmail, orNull(email)}, {colEmailChange, nil}, {colEmailChangeStatus, 0}}
	if !confirmed {
		changes = append(changes, columnChange{colEmailConfirmed, nil}, columnChange{colUserMetadata, mergeMetadata(u.UserMetadata, map[string]any{"email_verified": false})})
	}
	err := setUser(ctx, tx, u.ID, s.now(), changes...)
	if taken, ok := errors.AsType[*apperr.Error](err); ok && taken.Status < http.StatusInternalServerError {
		return errIdentityEmailConflict.Because(err)
	}
	if err != nil {
		return err
	}
	return deletePending(ctx, tx, u.ID)
}
