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

// LinkIdentity handles GET /auth/v1/user/identities/authorize. It begins a flow as /authorize does, but the flow adds the
// provider's identity to the caller's account. With skip_http_redirect=true the response is {url}; otherwise it redirects the
// browser to the provider. Errors: manual_linking_disabled, user_sso_managed, insufficient_aal, validation_failed.
func (s *Service) LinkIdentity(w http.ResponseWriter, r *http.Request) error {
	u, err := s.linkingUser(r.Context())
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
// responds with {}. Errors: those of LinkIdentity, identity_not_found, single_identity_not_deletable,
// email_conflict_identity_not_deletable.
func (s *Service) UnlinkIdentity(w http.ResponseWriter, r *http.Request) error {
	caller, err := s.linkingUser(r.Context())
	if err != nil {
		return err
	}
	id, ok := canonicalUUID(r.PathValue("identity_id"))
	if !ok {
		return errIdentityIDNotUUID
	}
	err = s.db.WithTx(r.Context(), func(tx *db.Tx) error { return s.unlink(r.Context(), tx, clientOf(r), caller.ID, id) })
	return respondEmpty(w, err)
}

// linkingUser returns the caller's account, or an error when the caller must not change its identities. If the account has a
// second factor, the session must be at aal2: a stolen password must not be enough to add another way to sign in.
func (s *Service) linkingUser(ctx context.Context) (User, error) {
	u, current, err := s.currentSession(ctx)
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
	return u, nil
}

// unlink removes an identity from an account, with everything that only this identity allowed.
func (s *Service) unlink(ctx context.Context, tx *db.Tx, c client, userID, identityID string) error {
	u, err := lockUser(ctx, tx, userID)
	if err != nil {
		return noRowsAs(err, errUserNotFound)
	}
	if len(u.Identities) <= 1 {
		return errSingleIdentity
	}
	at := slices.IndexFunc(u.Identities, func(i Identity) bool { return i.IdentityID == identityID })
	if at < 0 {
		return errIdentityNotFound
	}
	gone := u.Identities[at]
	if _, err := deleteIdentity(ctx, tx, gone.IdentityID, u.ID); err != nil {
		return err
	}
	if gone.Provider == "email" { // the password belongs to this identity and must stop working
		err = setUser(ctx, tx, u.ID, s.now(), columnChange{colPassword, nil})
	}
	if gone.Provider == "phone" {
		err = setUser(ctx, tx, u.ID, s.now(), columnChange{colPhone, nil}, columnChange{colPhoneConfirmed, nil})
	} else {
		err = errors.Join(err, s.reassignEmail(ctx, tx, u, slices.Delete(slices.Clone(u.Identities), at, at+1)))
	}
	detail := map[string]any{"provider": gone.Provider, "provider_id": gone.ID, "identity_id": gone.IdentityID}
	return errors.Join(err, s.syncProviders(ctx, tx, u.ID), s.audit(ctx, tx, c, auditUnlinked, u.ID, detail))
}

// reassignEmail keeps the account's e-mail address if one of the remaining identities (left) has it. Otherwise the account gets
// the address of the oldest identity whose provider has verified it, or none: an unverified address may be somebody else's. A
// change of the address deletes pending links and codes.
func (s *Service) reassignEmail(ctx context.Context, tx *db.Tx, u User, left []Identity) error {
	for _, i := range left {
		if email, err := normalizeEmail(i.Email); err == nil && email == u.Email {
			return nil
		}
	}
	slices.SortStableFunc(left, func(a, b Identity) int { return cmp.Compare(emailRank(a), emailRank(b)) })
	for _, i := range left {
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

// emailRank is the order in which reassignEmail tries identities: 0 with a verified address, 1 with an unverified one, 2
// without one.
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

func (s *Service) setEmailOfIdentity(ctx context.Context, tx *db.Tx, u User, email string, confirmed bool) error {
	changes := []columnChange{{colEmail, orNull(email)}, {colEmailChange, nil}, {colEmailChangeStatus, 0}}
	if !confirmed {
		changes = append(changes, columnChange{colEmailConfirmed, nil}, columnChange{colUserMetadata, mergeMetadata(u.UserMetadata, map[string]any{"email_verified": false})})
	}
	err := setUser(ctx, tx, u.ID, s.now(), changes...)
	var taken *apperr.Error
	if errors.As(err, &taken) {
		return errIdentityEmailConflict.Because(err)
	}
	if err != nil {
		return err
	}
	return deletePending(ctx, tx, u.ID)
}
