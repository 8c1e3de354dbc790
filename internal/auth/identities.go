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

// LinkIdentity is GET /auth/v1/user/identities/authorize: as /authorize, for adding a way to sign in to the caller's own
// account. With skip_http_redirect=true the address is answered as {url}, otherwise the browser is sent there. Errors:
// manual_linking_disabled, user_sso_managed, insufficient_aal, validation_failed.
func (s *Service) LinkIdentity(w http.ResponseWriter, r *http.Request) error {
	u, err := s.linker(r.Context())
	if err != nil {
		return err
	}
	b, err := s.beginAtProvider(w, r, u.ID)
	if errors.Is(err, oauth.ErrUnavailable) {
		return errProviderDown.Because(err)
	}
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	if r.URL.Query().Get("skip_http_redirect") == "true" {
		return httpx.JSON(w, http.StatusOK, map[string]string{"url": b.url})
	}
	http.Redirect(w, r, b.url, http.StatusFound)
	return nil
}

// linker is a caller who may change the identities of their account. Whoever got hold of a first factor must not be able
// to leave a way back in.
func (s *Service) linker(ctx context.Context) (User, error) {
	if !s.cfg.ManualLinking {
		return User{}, errManualLinkingDisabled
	}
	u, current, err := s.inSession(ctx)
	if err != nil {
		return User{}, err
	}
	if u.isSSO {
		return User{}, errSSOManaged
	}
	if current.aal != aal2 && u.hasVerifiedFactor() {
		return User{}, errLinkingAAL
	}
	return u, nil
}

// UnlinkIdentity is DELETE /auth/v1/user/identities/{identity_id}: it takes a way to sign in from the caller's account,
// answering {}. Errors: those of LinkIdentity, identity_not_found, single_identity_not_deletable,
// email_conflict_identity_not_deletable.
func (s *Service) UnlinkIdentity(w http.ResponseWriter, r *http.Request) error {
	caller, err := s.linker(r.Context())
	if err != nil {
		return err
	}
	id, ok := canonicalUUID(r.PathValue("identity_id"))
	if !ok {
		return errIdentityIDNotUUID
	}
	err = s.db.WithTx(r.Context(), func(tx *db.Tx) error { return s.unlink(r.Context(), tx, clientOf(r), caller.ID, id) })
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, struct{}{})
}

func (s *Service) unlink(ctx context.Context, tx *db.Tx, c client, userID, identityID string) error {
	u, err := lockUser(ctx, tx, userID)
	if errors.Is(err, db.ErrNoRows) {
		return errUserNotFound
	}
	if err != nil {
		return err
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
	switch gone.Provider {
	case "phone":
		err = setUser(ctx, tx, u.ID, s.now(), change{colPhone, nil}, change{colPhoneConfirmed, nil})
	case "email":
		// The password belongs to this identity: it must not open the account any more.
		err = setUser(ctx, tx, u.ID, s.now(), change{colPassword, nil})
		if err == nil {
			err = s.moveEmail(ctx, tx, u, slices.Delete(slices.Clone(u.Identities), at, at+1))
		}
	default:
		err = s.moveEmail(ctx, tx, u, slices.Delete(slices.Clone(u.Identities), at, at+1))
	}
	if err != nil {
		return err
	}
	if err := s.noteProviders(ctx, tx, u.ID); err != nil {
		return err
	}
	return s.audit(ctx, tx, c, auditUnlinked, u.ID, map[string]any{"provider": gone.Provider, "provider_id": gone.ID, "identity_id": gone.IdentityID})
}

// moveEmail gives the account the address of an identity that is left, when none of them has the one it used: the oldest
// that a provider has checked. One that nobody has checked may be somebody else's: the account is then without an address.
// Links and codes that are under way count no more.
func (s *Service) moveEmail(ctx context.Context, tx *db.Tx, u User, left []Identity) error {
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
				continue // somebody else's
			}
			if !errors.Is(err, db.ErrNoRows) {
				return err
			}
		}
		return s.setEmailOfIdentity(ctx, tx, u, email, confirmed)
	}
	return errIdentityEmailConflict
}

// emailRank puts addresses that were checked before those that were not, and both before none.
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
	changes := []change{{colEmail, orNull(email)}, {colEmailChange, nil}, {colEmailChangeStatus, 0}}
	if !confirmed {
		changes = append(changes, change{colEmailConfirmed, nil}, change{colUserMetadata, merged(u.UserMetadata, map[string]any{"email_verified": false})})
	}
	err := setUser(ctx, tx, u.ID, s.now(), changes...)
	var taken *apperr.Error
	if errors.As(err, &taken) {
		return errIdentityEmailConflict.Because(err)
	}
	if err != nil {
		return err
	}
	return deleteUnderWay(ctx, tx, u.ID)
}
