package auth

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"atelie/internal/auth/saml"
	"atelie/internal/db"
)

// This file signs in the person whom a SAML assertion (the provider's statement about a person) names. At the first sign-in it creates the
// person's account.

// samlOutcome is the result of an accepted SAML response: a code or a session.
type samlOutcome struct {
	redirectTo string        // URL to which the browser is redirected
	code       string        // the code of a PKCE flow; "" in an implicit flow
	session    issuedSession // the session of an implicit flow; the zero value in a PKCE flow
}

// samlPerson contains what an assertion states about the person who signs in.
type samlPerson struct {
	subject    string         // the provider's id for the person
	email      string         // normalized
	claims     map[string]any // stored as the data of the identity and the metadata of the account
	sessionEnd *time.Time     // when the provider ends the session; nil: the assertion contains no end
}

// readSAMLPerson reads the person from an assertion. The provider's attribute mapping (which attribute becomes which claim) is applied
// first. If the assertion has no usable id or e-mail address of the person, it returns errSAMLNoUserID or errSAMLNoEmail.
func readSAMLPerson(p SSOProvider, a *saml.Assertion) (samlPerson, error) {
	person := samlPerson{subject: a.UserID()}
	if person.subject == "" || !isStorableText(person.subject) || len(person.subject) > maxSAMLSubject {
		return samlPerson{}, errSAMLNoUserID
	}
	mappedClaims := p.SAML.AttributeMapping.Apply(a)
	email, _ := mappedClaims["email"].(string)
	if email == "" {
		email = a.Email()
	}
	if email == "" {
		return samlPerson{}, errSAMLNoEmail
	}
	var err error
	if person.email, err = normalizeEmail(email); err != nil {
		return samlPerson{}, errSAMLNoEmail.Because(err)
	}
	if !a.NotOnOrAfter.IsZero() {
		person.sessionEnd = &a.NotOnOrAfter
	}
	person.claims = samlClaims(mappedClaims)
	maps.Copy(person.claims, map[string]any{
		"iss": p.SAML.EntityID, "sub": person.subject, "email": person.email, "email_verified": true, "phone_verified": false,
	})
	return person, nil
}

const maxSAMLSubject = 1024 // bytes of a provider's id for a person

// standardClaims are the mapped claims that are stored under their own names, like sub and email. All other claims are stored under
// custom_claims.
var standardClaims = []string{
	"name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website", "gender", "birthdate",
	"zoneinfo", "locale", "updated_at", "phone", "full_name", "avatar_url", "slug", "provider_id", "user_name",
}

// samlClaims returns the claims to store for the mapped claims.
func samlClaims(mappedClaims map[string]any) map[string]any {
	claims, custom := map[string]any{}, map[string]any{}
	for name, value := range mappedClaims {
		switch {
		case slices.Contains(standardClaims, name):
			claims[name] = value
		case !slices.Contains([]string{"iss", "sub", "aud", "iat", "exp", "email", "email_verified", "phone_verified", "custom_claims"}, name):
			custom[name] = value
		}
	}
	if len(custom) > 0 {
		claims["custom_claims"] = custom
	}
	return claims
}

// samlTries is the maximum number of attempts at a sign-in. Two concurrent first sign-ins of a person both find no account. One
// of them fails to insert the identity and must start again.
const samlTries = 3

// signInSAMLPerson consumes the assertion and opens a session, or issues a code for a PKCE flow, in one transaction.
func (s *Service) signInSAMLPerson(ctx context.Context, c client, relay relayState, p SSOProvider, a saml.Assertion, person samlPerson) (out samlOutcome, err error) {
	for range samlTries {
		err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
			out = samlOutcome{redirectTo: relay.redirectTo}
			first, err := recordAssertion(ctx, tx, p.ID, a.ID, a.UsableUntil)
			if err != nil {
				return err
			}
			if !first {
				return errSAMLAssertion.Becausef("assertion %q was used before", a.ID)
			}
			userID, err := s.findOrCreateSAMLAccount(ctx, tx, c, p, person)
			if err != nil {
				return err
			}
			if relay.flowID == "" {
				out.session, err = s.startSession(ctx, tx, c, userID, signIn{method: methodSAML, provider: p.provider(), notAfter: person.sessionEnd})
				return err
			}
			if out.code, err = s.issueAuthCode(ctx, tx, relay.flowID, userID, ""); err != nil {
				return err
			}
			return setFlowEnd(ctx, tx, relay.flowID, person.sessionEnd)
		})
		if !errors.Is(err, errIdentityExists) {
			break
		}
	}
	return out, err
}

// findOrCreateSAMLAccount returns the account with the provider's id for the person, and creates it if there is none. It never joins
// another account with the same e-mail address: a SAML provider can claim any address, so the address proves nothing.
func (s *Service) findOrCreateSAMLAccount(ctx context.Context, tx *db.Tx, c client, p SSOProvider, person samlPerson) (userID string, err error) {
	now := s.now()
	userID, err = identityOwner(ctx, tx, p.provider(), person.subject)
	if errors.Is(err, db.ErrNoRows) {
		return s.createSAMLAccount(ctx, tx, c, p, person)
	}
	if err != nil {
		return "", err
	}
	u, err := lockUser(ctx, tx, userID)
	if err != nil {
		return "", db.NoRowsAs(err, errUserBanned.Becausef("account %s was deleted", userID))
	}
	if u.banned(now) {
		return "", errUserBanned.Becausef("user %s, until %s", u.ID, u.BannedUntil)
	}
	metadata := map[string]any{}
	maps.Copy(metadata, u.UserMetadata)
	maps.Copy(metadata, person.claims)
	changes := []columnChange{{colUserMetadata, metadata}}
	if u.Email != person.email { // the provider decides about the addresses of its users
		changes = append(changes, columnChange{colEmail, person.email})
	}
	return u.ID, errors.Join(
		setUser(ctx, tx, u.ID, now, changes...),
		saveIdentity(ctx, tx, u.ID, p.provider(), person.subject, person.claims, now),
	)
}

func (s *Service) createSAMLAccount(ctx context.Context, tx *db.Tx, c client, p SSOProvider, person samlPerson) (string, error) {
	if !s.cfg.SignupOpen {
		return "", errSignupDisabled.Becausef("a new account by %s", p.provider())
	}
	now := s.now()
	userID, err := insertUser(ctx, tx, insertUserParams{
		Email: person.email, EmailConfirmed: true, SSO: true, UserMetadata: person.claims,
		AppMetadata: map[string]any{"provider": p.provider(), "providers": []string{p.provider()}},
	}, now)
	if err != nil {
		return "", err
	}
	return userID, errors.Join(
		saveIdentity(ctx, tx, userID, p.provider(), person.subject, person.claims, now),
		s.audit(ctx, tx, c, auditSignedUp, userID, map[string]any{"provider": p.provider()}),
	)
}
