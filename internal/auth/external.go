package auth

import (
	"context"
	"encoding/json"
	"errors"
	"maps"

	"atelie/internal/apperr"
	"atelie/internal/auth/oauth"
	"atelie/internal/db"
)

// person is somebody whom an identity provider vouches for.
type person struct {
	oauth.Identity
	provider string
	email    string // as stored; "" without a usable address
	proven   bool   // the provider has checked the address
}

func newPerson(provider string, who oauth.Identity) person {
	p := person{Identity: who, provider: provider}
	if email, err := normalizeEmail(who.Email); err == nil { // an unusable address counts as none
		p.email, p.proven = email, who.EmailVerified
	}
	return p
}

// sealProviderTokens gives the form in which they wait for the exchange of the code; "" for none.
func (s *Service) sealProviderTokens(t providerTokens) (string, error) {
	if t == (providerTokens{}) {
		return "", nil
	}
	plain, err := json.Marshal(t)
	if err != nil {
		return "", err
	}
	return s.sealer.seal(providerTokensPurpose, plain), nil
}

// personTries is more than one because the same person may come back twice at once, and both find no account yet.
const personTries = 3

// withPerson finds or makes the person's account, or adds the identity to the account linkTo, and runs then in the same
// transaction. A refusal may still have had an effect, such as a confirmation mail that leads back to redirectTo.
func (s *Service) withPerson(ctx context.Context, c client, linkTo, redirectTo string, p person, then func(tx *db.Tx, userID string) error) error {
	for try := 1; ; try++ {
		var refusal *apperr.Error
		err := s.db.WithTx(ctx, func(tx *db.Tx) error {
			a := admission{s: s, tx: tx, client: c, redirectTo: redirectTo, person: p}
			userID, err := a.admit(ctx, linkTo)
			refusal = a.refusal
			if err != nil || refusal != nil {
				return err
			}
			return then(tx, userID)
		})
		if try < personTries && linkTo == "" && (errors.Is(err, errEmailTakenMeanwhile) || errors.Is(err, errIdentityTakenMeanwhile)) {
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

// admission is one person at the door, within a transaction.
type admission struct {
	s          *Service
	tx         *db.Tx
	client     client
	redirectTo string
	person     person
	// refusal is for the person, while the transaction stands: it may have caused a mail.
	refusal *apperr.Error
}

func (a *admission) admit(ctx context.Context, linkTo string) (userID string, err error) {
	if linkTo != "" {
		return linkTo, a.link(ctx, linkTo)
	}
	u, joined, err := a.account(ctx)
	if err != nil || a.refusal != nil {
		return "", err
	}
	if u.banned(a.s.now()) {
		return "", errUserBanned.Becausef("user %s", u.ID)
	}
	data := maps.Clone(a.person.Claims)
	if locale, chosen := u.UserMetadata["locale"]; chosen {
		data["locale"] = locale // the language that the person chose here
	}
	if err := a.saveIdentity(ctx, u.ID); err != nil {
		return "", err
	}
	if u.EmailConfirmedAt == nil {
		return u.ID, a.unconfirmed(ctx, u, joined, data)
	}
	if err := a.change(ctx, u.ID, change{colUserMetadata, merged(u.UserMetadata, data)}); err != nil {
		return "", err
	}
	return u.ID, a.s.noteProviders(ctx, a.tx, u.ID)
}

// account finds the account of the person, held until the transaction ends, or makes it. joined tells that the identity
// is new to an account that was there before.
func (a *admission) account(ctx context.Context) (u User, joined bool, err error) {
	p := a.person
	owner, err := identityOwner(ctx, a.tx, p.provider, p.Subject)
	if err == nil {
		u, err = lockUser(ctx, a.tx, owner)
		if errors.Is(err, db.ErrNoRows) { // deleted softly: its identities stay taken
			err = errUserBanned.Becausef("account %s was deleted", owner)
		}
		return u, false, err
	}
	if !errors.Is(err, db.ErrNoRows) {
		return u, false, err
	}
	if p.email == "" {
		return u, false, errProviderEmailMissing.Becausef("provider %s", p.provider)
	}
	match, err := a.match(ctx)
	if err != nil {
		return u, false, err
	}
	switch decide(p.proven, match.id != "", match.taken, a.s.cfg.SignupOpen) {
	case joinAccount:
		u, err = lockUser(ctx, a.tx, match.id)
		if err == nil {
			err = a.audit(ctx, auditLinked, u.ID)
		}
		return u, true, err
	case refuseSignup:
		return u, false, errSignupDisabled
	case refuseUnproven:
		// As if a mail had left: nobody learns who has an account.
		a.refusal = errProviderEmailUnproven.Becausef("%s has not checked the address, which has an account", p.provider)
		return u, false, nil
	}
	id, err := insertUser(ctx, a.tx, newUser{Email: p.email, UserMetadata: p.Claims}, a.s.now())
	if errors.Is(err, errEmailExists) || db.IsConstraint(err, db.UniqueViolation) {
		return u, false, errEmailTakenMeanwhile
	}
	if err != nil {
		return u, false, err
	}
	if err := a.audit(ctx, auditUserCreated, id); err != nil {
		return u, false, err
	}
	u, err = lockUser(ctx, a.tx, id)
	return u, false, err
}

// decision is what becomes of a person whose identity is new here.
type decision int

const (
	makeAccount decision = iota
	joinAccount
	refuseSignup
	refuseUnproven
)

// decide follows Supabase Auth's automatic linking: only an address that the provider has checked joins an account.
// matched: one account is the address's. taken: an account has the address, whoever it belongs to.
func decide(proven, matched, taken, signupOpen bool) decision {
	switch {
	case proven && matched:
		return joinAccount
	case !signupOpen:
		return refuseSignup
	case taken:
		return refuseUnproven
	}
	return makeAccount
}

// match is the account of an address.
type match struct {
	id    string // "" when none may be joined
	taken bool
}

// match looks for an account that has the person's address, or an identity with it that a provider has checked.
// Accounts that an organisation manages (SSO) are never joined.
func (a *admission) match(ctx context.Context) (match, error) {
	u, err := userByEmail(ctx, a.tx, a.person.email)
	if err == nil {
		return match{u.ID, true}, nil
	}
	if !errors.Is(err, db.ErrNoRows) {
		return match{}, err
	}
	ids, err := usersByProvenEmail(ctx, a.tx, a.person.email)
	switch {
	case err != nil || len(ids) == 0:
		return match{}, err
	case len(ids) > 1 && a.person.proven:
		return match{}, errMultipleAccounts.Becausef("accounts %v", ids)
	}
	return match{id: ids[0]}, nil
}

// unconfirmed is for an account whose address nobody has proven yet: now the provider does, or a mail has to.
func (a *admission) unconfirmed(ctx context.Context, u User, joined bool, data map[string]any) error {
	p, now := a.person, a.s.now()
	proves := p.email != "" && p.email == u.Email && (p.proven || a.s.cfg.MailAutoconfirm && !joined)
	switch {
	case proves && (joined || u.PhoneConfirmedAt == nil):
		if err := a.evict(ctx, u); err != nil {
			return err
		}
		if err := a.change(ctx, u.ID, change{colEmailConfirmed, now}, change{colUserMetadata, data}); err != nil {
			return err
		}
		if err := a.audit(ctx, auditEmailConfirmed, u.ID); err != nil {
			return err
		}
	case proves:
		if err := a.change(ctx, u.ID, change{colEmailConfirmed, now}, change{colUserMetadata, merged(u.UserMetadata, data)}); err != nil {
			return err
		}
	case u.PhoneConfirmedAt != nil, u.Email == "":
		// The account proves itself otherwise; the identity is its own.
		if err := a.change(ctx, u.ID, change{colUserMetadata, merged(u.UserMetadata, data)}); err != nil {
			return err
		}
	default:
		a.refusal = errProviderEmailUnproven.Becausef("%s has not checked the address of user %s", p.provider, u.ID)
		if err := a.s.noteProviders(ctx, a.tx, u.ID); err != nil {
			return err
		}
		return a.askForConfirmation(ctx, u)
	}
	return a.s.noteProviders(ctx, a.tx, u.ID)
}

// evict takes away every other way into an account whose address was never proven: somebody may have opened it in the
// name of the person who now proves to be at that address, and must not share it.
func (a *admission) evict(ctx context.Context, u User) error {
	if err := a.change(ctx, u.ID, change{colPassword, nil}, change{colPhone, nil}, change{colPhoneConfirmed, nil}, change{colEmailChange, nil},
		change{colEmailChangeStatus, 0}, change{colPhoneChange, nil}); err != nil {
		return err
	}
	return errors.Join(
		deleteOtherIdentities(ctx, a.tx, u.ID, a.person.provider, a.person.Subject),
		deleteFactors(ctx, a.tx, u.ID),
		deleteSessions(ctx, a.tx, u.ID),
		deleteUnderWay(ctx, a.tx, u.ID),
	)
}

// askForConfirmation sends the link that confirms the address, unless one has just left.
func (a *admission) askForConfirmation(ctx context.Context, u User) error {
	now := a.s.now()
	if u.ConfirmationSentAt != nil && now.Before(u.ConfirmationSentAt.Add(a.s.cfg.MailMinInterval)) {
		return nil
	}
	return a.s.sendConfirmation(ctx, a.tx, a.client, u, challenge{}, a.redirectTo)
}

// link adds the identity to an account, whose holder asked for it.
func (a *admission) link(ctx context.Context, userID string) error {
	p, now := a.person, a.s.now()
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
	owner, err := identityOwner(ctx, a.tx, p.provider, p.Subject)
	switch {
	case err == nil && owner == u.ID:
		return errIdentityExists
	case err == nil:
		return errIdentityElsewhere.Becausef("user %s", owner)
	case !errors.Is(err, db.ErrNoRows):
		return err
	}
	if err := saveIdentity(ctx, a.tx, u.ID, p.provider, p.Subject, p.Claims, now); err != nil {
		return err
	}
	if err := a.audit(ctx, auditLinked, u.ID); err != nil {
		return err
	}
	if u.Email == "" && p.email != "" {
		if err := a.takeEmail(ctx, u); err != nil {
			return err
		}
	}
	return a.s.noteProviders(ctx, a.tx, u.ID)
}

// takeEmail gives an account without an address that of its new identity; one that the provider has not checked is
// asked for by mail, as a change of address.
func (a *admission) takeEmail(ctx context.Context, u User) error {
	_, err := userByEmail(ctx, a.tx, a.person.email)
	if err == nil {
		return errEmailExists
	}
	if !errors.Is(err, db.ErrNoRows) {
		return err
	}
	if a.person.proven {
		return a.change(ctx, u.ID, change{colEmail, a.person.email}, change{colEmailConfirmed, a.s.now()})
	}
	// Until then the address stays free: whoever it belongs to must not find themselves in this account.
	a.refusal = errLinkingEmailUnproven
	if now := a.s.now(); u.EmailChangeSentAt != nil && now.Before(u.EmailChangeSentAt.Add(a.s.cfg.MailMinInterval)) {
		return nil
	}
	return a.s.sendEmailChange(ctx, a.tx, a.client, u, a.person.email, challenge{}, a.redirectTo)
}

func (a *admission) change(ctx context.Context, userID string, changes ...change) error {
	return setUser(ctx, a.tx, userID, a.s.now(), changes...)
}

func (a *admission) audit(ctx context.Context, action auditAction, userID string) error {
	return a.s.audit(ctx, a.tx, a.client, action, userID, map[string]any{"provider": a.person.provider, "provider_id": a.person.Subject})
}

// saveIdentity ties the person to the account, or renews what the provider says of them.
func (a *admission) saveIdentity(ctx context.Context, userID string) error {
	err := saveIdentity(ctx, a.tx, userID, a.person.provider, a.person.Subject, a.person.Claims, a.s.now())
	if errors.Is(err, errIdentityExists) {
		return errIdentityTakenMeanwhile
	}
	return err
}
