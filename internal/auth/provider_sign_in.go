package auth

import (
	"context"
	"errors"
	"maps"

	"atelie/internal/apperr"
	"atelie/internal/auth/oauth"
	"atelie/internal/db"
)

// This file finds or creates the account of a user who has signed in at an OAuth provider. It also adds the user's identity (the account at
// the provider) to the account of a user who is already signed in.

// providerUser is a user who signs in at an OAuth provider: the provider's name, and what the provider reports about the user.
type providerUser struct {
	oauth.Identity
	provider         string // the provider's name in identities, such as google
	email            string // normalized e-mail address; "" when the provider reports no valid one
	emailVerified    bool   // Identity.EmailVerified, but false if email is ""
	verifiedByPolicy bool   // Identity.EmailVerifiedByPolicy, but false if email is ""
}

// newProviderUser returns the providerUser for the Identity that a provider reports.
func newProviderUser(provider string, reported oauth.Identity) providerUser {
	user := providerUser{Identity: reported, provider: provider}
	if email, err := normalizeEmail(reported.Email); err == nil {
		user.email, user.emailVerified, user.verifiedByPolicy = email, reported.EmailVerified, reported.EmailVerifiedByPolicy
	}
	return user
}

// maxSignInTries is the maximum number of attempts at a sign-in. Two concurrent sign-ins of a new user can both find no account. Only one
// of them can insert the account. The other sign-in must start again, and then finds the account.
const maxSignInTries = 3

// signInProviderUser finds or creates the user's account. If linkingUserID is not "", it adds the user's identity to that account instead.
// It then calls finish with the account's id, in the same transaction, to open a session or to issue a code. If the account needs a
// confirmation mail, signInProviderUser does not call finish. It queues the mail with a link that redirects to redirectTo, commits and
// returns an error.
func (s *Service) signInProviderUser(
	ctx context.Context, c clientInfo, linkingUserID, redirectTo string, user providerUser, finish func(tx *db.Tx, userID string) error,
) error {
	for try := 1; ; try++ {
		var refusal *apperr.Error // the error to return although the transaction is committed
		err := s.db.WithShortTx(ctx, func(tx *db.Tx) error {
			attempt := providerSignIn{s: s, tx: tx, client: c, redirectTo: redirectTo, user: user}
			userID, err := attempt.resolveAccount(ctx, linkingUserID)
			refusal = attempt.refusal
			if err != nil || refusal != nil {
				return err
			}
			return finish(tx, userID)
		})
		takenMeanwhile := errors.Is(err, errEmailTakenMeanwhile) || errors.Is(err, errIdentityTakenMeanwhile)
		if takenMeanwhile && linkingUserID == "" && try < maxSignInTries {
			continue
		}
		if err == nil && refusal != nil {
			err = refusal
		}
		return err
	}
}

var (
	errEmailTakenMeanwhile    = errors.New("another request made the account")
	errIdentityTakenMeanwhile = errors.New("another request made the identity")
)

// providerSignIn is one attempt of signInProviderUser, within its transaction.
type providerSignIn struct {
	s          *Service
	tx         *db.Tx
	client     clientInfo
	redirectTo string
	user       providerUser
	// refusal is an error that signInProviderUser returns after the commit; nil for none. An error within the transaction would
	// roll back the confirmation mail that the transaction has queued.
	refusal *apperr.Error
}

// resolveAccount returns the id of the account to sign in, and stores the identity in this account. If it sets a.refusal, nobody
// may be signed in.
func (a *providerSignIn) resolveAccount(ctx context.Context, linkingUserID string) (userID string, err error) {
	if linkingUserID != "" {
		return linkingUserID, a.linkIdentity(ctx, linkingUserID)
	}
	u, joined, err := a.findOrCreateAccount(ctx)
	if err != nil || a.refusal != nil {
		return "", err
	}
	if u.banned(a.s.now()) {
		return "", errUserBanned.Becausef("user %s", u.ID)
	}
	data := maps.Clone(a.user.Claims)
	if locale, chosen := u.UserMetadata["locale"]; chosen {
		data["locale"] = locale // the language that the user has chosen on this site stays
	}
	if err := a.saveIdentity(ctx, u.ID); err != nil {
		return "", err
	}
	if u.EmailConfirmedAt == nil {
		return u.ID, a.confirmByProvider(ctx, u, joined, data)
	}
	if err := a.setUser(ctx, u.ID, columnChange{colUserMetadata, mergeMetadata(u.UserMetadata, data)}); err != nil {
		return "", err
	}
	return u.ID, a.s.syncProviders(ctx, a.tx, u.ID)
}

// findOrCreateAccount finds and locks the user's account, or creates one. joined is true if the account existed before and gets a
// new identity. The function may set a.refusal.
func (a *providerSignIn) findOrCreateAccount(ctx context.Context) (u User, joined bool, err error) {
	user := a.user
	owner, err := identityOwner(ctx, a.tx, user.provider, user.Subject)
	if err == nil {
		u, err = lockUser(ctx, a.tx, owner)
		return u, false, db.NoRowsAs(err, errUserBanned.Becausef("account %s was deleted", owner))
	}
	if !errors.Is(err, db.ErrNoRows) {
		return u, false, err
	}
	if user.email == "" {
		return u, false, errProviderEmailMissing.Becausef("provider %s", user.provider)
	}
	matchID, taken, err := a.matchAddress(ctx)
	if err != nil {
		return u, false, err
	}
	verified := user.emailVerified
	if matchID != "" && user.verifiedByPolicy { // an account with a role is joined only when the provider says that it has verified the address
		isOwner, err := hasOwnerRole(ctx, a.tx, matchID)
		if err != nil {
			return u, false, err
		}
		if isOwner {
			verified, taken = false, true
		}
	}
	switch decideNewIdentity(verified, matchID != "", taken, a.s.cfg.SignupOpen) {
	case joinAccount:
		u, err = lockUser(ctx, a.tx, matchID)
		if err == nil {
			err = a.audit(ctx, auditIdentityLinked, u.ID)
		}
		return u, true, err
	case refuseSignup:
		return u, false, errSignupDisabled
	case refuseUnverified:
		// The error is the same as after a confirmation mail, so that it does not reveal who has an account.
		a.refusal = errProviderEmailUnverified.Becausef("%s has not checked the address, which has an account", user.provider)
		return u, false, nil
	}
	id, err := insertUser(ctx, a.tx, insertUserParams{Email: user.email, UserMetadata: user.Claims}, a.s.now())
	if errors.Is(err, errEmailExists) || db.IsConstraint(err, db.UniqueViolation) {
		return u, false, errEmailTakenMeanwhile
	}
	if err != nil {
		return u, false, err
	}
	if err := a.audit(ctx, auditSignedUp, id); err != nil {
		return u, false, err
	}
	u, err = lockUser(ctx, a.tx, id)
	return u, false, err
}

// decision is what happens to a user with a new identity.
type decision int

const (
	makeAccount decision = iota
	joinAccount
	refuseSignup
	refuseUnverified
)

// decideNewIdentity has the rules of Supabase Auth's automatic linking: an identity joins an account only when its provider has
// verified the address. matched means that matchAddress has found an account to join, and taken that an account has the
// address itself.
func decideNewIdentity(verified, matched, taken, signupOpen bool) decision {
	switch {
	case verified && matched:
		return joinAccount
	case !signupOpen:
		return refuseSignup
	case taken:
		return refuseUnverified
	}
	return makeAccount
}

// matchAddress looks for an account with the user's e-mail address, or with an identity whose provider has verified that address.
// It leaves out accounts of SAML single sign-on. id is the account that may be joined, or "". taken is true if the account has the address
// itself, and not only an identity with it.
func (a *providerSignIn) matchAddress(ctx context.Context) (id string, taken bool, err error) {
	u, err := userByEmail(ctx, a.tx, a.user.email)
	if !errors.Is(err, db.ErrNoRows) {
		return u.ID, true, err
	}
	ids, err := usersByVerifiedEmail(ctx, a.tx, a.user.email)
	switch {
	case err != nil || len(ids) == 0:
		return "", false, err
	case len(ids) > 1 && a.user.emailVerified:
		return "", false, errMultipleAccounts.Becausef("accounts %v", ids)
	}
	return ids[0], false, nil
}

// confirmByProvider signs in to an account with an unconfirmed address. It may confirm the address now, for example because the provider
// has verified it. If it cannot, it sends a confirmation mail and sets a.refusal. It does neither if the account is confirmed by its number
// or has no address.
func (a *providerSignIn) confirmByProvider(ctx context.Context, u User, joined bool, data map[string]any) (err error) {
	user, now := a.user, a.s.now()
	confirms := user.email != "" && user.email == u.Email && (user.emailVerified || a.s.cfg.MailAutoconfirm && !joined)
	switch {
	case confirms && (joined || u.PhoneConfirmedAt == nil):
		err = errors.Join(
			a.removeOtherAccess(ctx, u),
			a.setUser(ctx, u.ID, columnChange{colEmailConfirmed, now}, columnChange{colUserMetadata, data}),
		)
		if joined {
			err = errors.Join(err, a.audit(ctx, auditSignedUp, u.ID))
		}
	case confirms:
		err = a.setUser(ctx, u.ID, columnChange{colEmailConfirmed, now}, columnChange{colUserMetadata, mergeMetadata(u.UserMetadata, data)})
	case u.PhoneConfirmedAt != nil, u.Email == "":
		// The account is confirmed by its number, or has no address to confirm. The identity belongs to it already.
		err = a.setUser(ctx, u.ID, columnChange{colUserMetadata, mergeMetadata(u.UserMetadata, data)})
	default:
		a.refusal = errProviderEmailUnverified.Becausef("%s has not checked the address of user %s", user.provider, u.ID)
		if !a.s.sentRecently(u.ConfirmationSentAt, now) {
			err = a.s.sendLink(ctx, a.tx, a.client, u, confirmationMail, pkceChallenge{}, a.redirectTo)
		}
	}
	return errors.Join(err, a.s.syncProviders(ctx, a.tx, u.ID))
}

// removeOtherAccess removes every way into an account with an unconfirmed address except the new identity. Somebody else may have
// opened the account, and must not keep access beside the user whose address is confirmed now.
func (a *providerSignIn) removeOtherAccess(ctx context.Context, u User) error {
	return errors.Join(
		a.setUser(ctx, u.ID, columnChange{colPassword, nil}, columnChange{colPhone, nil}, columnChange{colPhoneConfirmed, nil},
			columnChange{colEmailChange, nil}, columnChange{colEmailChangeStatus, 0}, columnChange{colPhoneChange, nil}),
		deleteOtherIdentities(ctx, a.tx, u.ID, a.user.provider, a.user.Subject),
		deleteFactors(ctx, a.tx, u.ID),
		deleteSessions(ctx, a.tx, u.ID),
		deletePending(ctx, a.tx, u.ID),
	)
}

// linkIdentity adds the identity to the account of a signed-in user.
func (a *providerSignIn) linkIdentity(ctx context.Context, userID string) error {
	user, now := a.user, a.s.now()
	u, err := lockUser(ctx, a.tx, userID)
	switch {
	case errors.Is(err, db.ErrNoRows):
		return errLinkingUserNotFound
	case err != nil:
		return err
	case u.isSSO:
		return errSSOManaged
	case u.banned(now):
		return errUserBanned.Becausef("user %s", u.ID)
	}
	owner, err := identityOwner(ctx, a.tx, user.provider, user.Subject)
	switch {
	case err == nil && owner == u.ID:
		return errIdentityExists
	case err == nil:
		return errIdentityElsewhere.Becausef("user %s", owner)
	case !errors.Is(err, db.ErrNoRows):
		return err
	}
	err = errors.Join(saveIdentity(ctx, a.tx, u.ID, user.provider, user.Subject, user.Claims, now), a.audit(ctx, auditIdentityLinked, u.ID))
	if u.Email == "" && user.email != "" {
		err = errors.Join(err, a.adoptEmail(ctx, u))
	}
	return errors.Join(err, a.s.syncProviders(ctx, a.tx, u.ID))
}

// adoptEmail gives an account without an e-mail address the address of its new identity. If the provider has not verified this
// address, adoptEmail mails a link that confirms it, as in a change of address, and sets a.refusal.
func (a *providerSignIn) adoptEmail(ctx context.Context, u User) error {
	_, err := userByEmail(ctx, a.tx, a.user.email)
	if err == nil {
		return errEmailExists
	}
	if !errors.Is(err, db.ErrNoRows) {
		return err
	}
	if a.user.emailVerified {
		return a.setUser(ctx, u.ID, columnChange{colEmail, a.user.email}, columnChange{colEmailConfirmed, a.s.now()})
	}
	// The account gets the address only when it is confirmed: otherwise its real owner could be signed in to this account.
	a.refusal = errLinkingEmailUnverified
	if a.s.sentRecently(u.EmailChangeSentAt, a.s.now()) {
		return nil
	}
	err = a.s.sendEmailChange(ctx, a.tx, a.client, u, a.user.email, pkceChallenge{}, a.redirectTo)
	if refusal, ok := errors.AsType[*apperr.Error](err); ok && refusal.Code == codeMailTooSoon {
		return nil
	}
	return err
}

func (a *providerSignIn) setUser(ctx context.Context, userID string, changes ...columnChange) error {
	return setUser(ctx, a.tx, userID, a.s.now(), changes...)
}

func (a *providerSignIn) audit(ctx context.Context, action auditAction, userID string) error {
	return a.s.audit(ctx, a.tx, a.client, action, userID, map[string]any{"provider": a.user.provider, "provider_id": a.user.Subject})
}

// saveIdentity adds the identity to the account, or updates its data.
func (a *providerSignIn) saveIdentity(ctx context.Context, userID string) error {
	err := saveIdentity(ctx, a.tx, userID, a.user.provider, a.user.Subject, a.user.Claims, a.s.now())
	if errors.Is(err, errIdentityExists) {
		return errIdentityTakenMeanwhile
	}
	return err
}
