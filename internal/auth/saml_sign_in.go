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

// This file signs in the user that a SAML assertion (the provider's statement about a user) names. At the first sign-in it creates the
// user's account.

// samlOutcome is the result of an accepted SAML response.
type samlOutcome struct {
	signInResult
	redirectTo string // URL to which the browser is redirected
}

// samlUser contains what an assertion states about the user who signs in.
type samlUser struct {
	subject    string         // the provider's id for the user
	email      string         // normalized
	claims     map[string]any // stored as the data of the identity and the metadata of the account
	sessionEnd *time.Time     // when the provider ends the session; nil: the assertion contains no end
}

// readSAMLUser reads the user from an assertion. The provider's attribute mapping (which attribute becomes which claim) determines the
// claims, and may determine the e-mail address. If the assertion has no usable id or e-mail address of the user, readSAMLUser returns
// errSAMLNoUserID or errSAMLNoEmail.
func readSAMLUser(provider SSOProvider, a *saml.Assertion) (samlUser, error) {
	user := samlUser{subject: a.UserID()}
	if user.subject == "" || !isStorableText(user.subject) || len(user.subject) > maxSAMLSubject {
		return samlUser{}, errSAMLNoUserID
	}
	mappedClaims := provider.SAML.AttributeMapping.Apply(a)
	email, _ := mappedClaims["email"].(string)
	if email == "" {
		email = a.Email()
	}
	if email == "" {
		return samlUser{}, errSAMLNoEmail
	}
	var err error
	if user.email, err = normalizeEmail(email); err != nil {
		return samlUser{}, errSAMLNoEmail.Because(err)
	}
	if !a.NotOnOrAfter.IsZero() {
		user.sessionEnd = &a.NotOnOrAfter
	}
	user.claims = samlClaims(mappedClaims)
	maps.Copy(user.claims, map[string]any{
		"iss": provider.SAML.EntityID, "sub": user.subject, "email": user.email, "email_verified": true, "phone_verified": false,
	})
	return user, nil
}

const maxSAMLSubject = 1024 // bytes of a provider's id for a user

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

// maxSAMLSignInTries is the maximum number of attempts at a sign-in. Two concurrent first sign-ins of a user both find no
// account. One of them fails to insert the identity and must start again.
const maxSAMLSignInTries = 3

// signInSAMLUser consumes the assertion and opens a session, or issues a code for a PKCE flow, in one transaction.
func (s *Service) signInSAMLUser(ctx context.Context, c clientInfo, request samlRequest, provider SSOProvider, a saml.Assertion, user samlUser) (out samlOutcome, err error) {
	for range maxSAMLSignInTries {
		err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
			out = samlOutcome{redirectTo: request.redirectTo}
			if err := recordAssertion(ctx, tx, provider.ID, a.ID, a.UsableUntil); err != nil {
				return err
			}
			userID, err := s.findOrCreateSAMLAccount(ctx, tx, c, provider, user)
			if err != nil {
				return err
			}
			if request.flowID == "" {
				out.session, err = s.startSession(ctx, tx, c, userID, signIn{method: methodSAML, provider: provider.providerName(), notAfter: user.sessionEnd})
				return err
			}
			if out.code, err = s.issueAuthCode(ctx, tx, request.flowID, userID, ""); err != nil {
				return err
			}
			return setFlowEnd(ctx, tx, request.flowID, user.sessionEnd)
		})
		if !errors.Is(err, errIdentityExists) {
			break
		}
	}
	return out, err
}

// findOrCreateSAMLAccount returns the account with the provider's id for the user, and creates it if there is none. It never joins
// another account with the same e-mail address: a SAML provider can claim any address, so the address proves nothing.
func (s *Service) findOrCreateSAMLAccount(ctx context.Context, tx *db.Tx, c clientInfo, provider SSOProvider, user samlUser) (userID string, err error) {
	now := s.now()
	userID, err = identityOwner(ctx, tx, provider.providerName(), user.subject)
	if errors.Is(err, db.ErrNoRows) {
		return s.createSAMLAccount(ctx, tx, c, provider, user)
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
	changes := []columnChange{{colUserMetadata, mergeMetadata(u.UserMetadata, user.claims)}}
	if u.Email != user.email { // the provider decides about the addresses of its users
		changes = append(changes, columnChange{colEmail, user.email})
	}
	return u.ID, errors.Join(
		setUser(ctx, tx, u.ID, now, changes...),
		saveIdentity(ctx, tx, u.ID, provider.providerName(), user.subject, user.claims, now),
	)
}

func (s *Service) createSAMLAccount(ctx context.Context, tx *db.Tx, c clientInfo, provider SSOProvider, user samlUser) (string, error) {
	if !s.cfg.SignupOpen {
		return "", errSignupDisabled.Becausef("a new account by %s", provider.providerName())
	}
	now := s.now()
	userID, err := insertUser(ctx, tx, insertUserParams{
		Email: user.email, EmailConfirmed: true, SSO: true, UserMetadata: user.claims,
		AppMetadata: map[string]any{"provider": provider.providerName(), "providers": []string{provider.providerName()}},
	}, now)
	if err != nil {
		return "", err
	}
	return userID, errors.Join(
		saveIdentity(ctx, tx, userID, provider.providerName(), user.subject, user.claims, now),
		s.audit(ctx, tx, c, auditSignedUp, userID, map[string]any{"provider": provider.providerName()}),
	)
}
