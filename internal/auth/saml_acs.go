package auth

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/auth/saml"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

const (
	acsPerAddress = 100                       // in limitWindow
	maxACSBody    = 2*saml.MaxResponse + 4096 // bytes: the answer, escaped for a form
)

// SAMLACS is POST /auth/v1/sso/saml/acs, to which the identity provider's page posts its answer: it needs no key. The
// browser is sent on with a session, a code (PKCE), or, to the site, an error.
func (s *Service) SAMLACS(w http.ResponseWriter, r *http.Request) error {
	in, err := s.acceptSAML(w, r)
	if err != nil {
		return s.failSAML(w, r, err)
	}
	if in.code != "" {
		return s.redirectWithCode(w, r, in.to, in.code)
	}
	return s.redirectWithSession(w, r, in.to, in.session, nil)
}

// samlOutcome is an answer that was accepted.
type samlOutcome struct {
	to      string
	code    string // of a PKCE flow
	session grant  // of an implicit flow
}

func (s *Service) acceptSAML(w http.ResponseWriter, r *http.Request) (samlOutcome, error) {
	if !s.cfg.SAML {
		return samlOutcome{}, errSAMLDisabled
	}
	if err := s.limit(w, r, "auth saml address", httpx.LimitSubject(r.Context()), acsPerAddress); err != nil {
		return samlOutcome{}, err
	}
	body, err := httpx.ReadBody(w, r, maxACSBody)
	if err != nil {
		return samlOutcome{}, err
	}
	form, err := url.ParseQuery(string(body))
	if err != nil {
		return samlOutcome{}, errSAMLForm.Because(err)
	}
	answer := form.Get("SAMLResponse")
	if answer == "" {
		return samlOutcome{}, errSAMLMissing
	}
	relay, p, err := s.whoseAnswer(r.Context(), form.Get("RelayState"), answer)
	if err != nil {
		return samlOutcome{}, err
	}
	if p.Disabled {
		return samlOutcome{}, errSSOProviderDisabled
	}
	sp, err := s.serviceProvider(r.Context())
	if err != nil {
		return samlOutcome{}, err
	}
	idp, err := s.identityProvider(r.Context(), p)
	if err != nil {
		return samlOutcome{}, err
	}
	assertion, err := sp.Response(answer, idp, saml.Expected{RequestID: relay.requestID, Now: s.now()})
	if errors.Is(err, saml.ErrStatus) {
		return samlOutcome{}, errSAMLStatus.Because(err)
	}
	if err != nil {
		return samlOutcome{}, errSAMLAssertion.Because(err)
	}
	person, err := readSAMLPerson(p, &assertion)
	if err != nil {
		return samlOutcome{}, err
	}
	return s.letInBySAML(r.Context(), clientOf(r), relay, p, assertion, person)
}

// whoseAnswer finds the request that is answered, which then is used up whatever becomes of it. Without a request the
// provider has begun the sign-in by itself: RelayState is then empty or the address to go to.
func (s *Service) whoseAnswer(ctx context.Context, state, answer string) (relayState, SSOProvider, error) {
	if id, ok := canonicalUUID(state); ok {
		relay, err := s.takeRelay(ctx, id)
		if err != nil {
			return relayState{}, SSOProvider{}, err
		}
		p, err := ssoProviderByID(ctx, s.db, relay.providerID)
		if errors.Is(err, db.ErrNoRows) {
			err = errSAMLIdPNotFound
		}
		return relay, p, err
	}
	if _, err := url.ParseRequestURI(state); state != "" && (err != nil || len(state) > maxRedirect) {
		return relayState{}, SSOProvider{}, errSAMLRelayState.Becausef("RelayState of %d bytes", len(state))
	}
	issuer, err := saml.Issuer(answer)
	if err != nil {
		return relayState{}, SSOProvider{}, errSAMLAssertion.Because(err)
	}
	p, err := ssoProviderByEntity(ctx, s.db, issuer)
	if errors.Is(err, db.ErrNoRows) {
		err = errSAMLIdPNotFound.Becausef("issuer %q", issuer)
	}
	return relayState{redirectTo: s.redirectTarget(state)}, p, err
}

func (s *Service) takeRelay(ctx context.Context, id string) (relay relayState, err error) {
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		relay, err = takeRelayState(ctx, tx, id)
		return err
	})
	switch {
	case errors.Is(err, db.ErrNoRows):
		return relayState{}, errSAMLRelayNotFound
	case err == nil && !s.now().Before(relay.createdAt.Add(relayLife)):
		return relayState{}, errSAMLRelayExpired
	}
	return relay, err
}

// samlPerson is who the provider says has signed in.
type samlPerson struct {
	subject, email string
	claims         map[string]any
	sessionEnd     *time.Time
}

func readSAMLPerson(p SSOProvider, a *saml.Assertion) (samlPerson, error) {
	person := samlPerson{subject: a.UserID()}
	if person.subject == "" || !storable(person.subject) || len(person.subject) > maxSubject {
		return samlPerson{}, errSAMLNoUserID
	}
	mapped := p.SAML.AttributeMapping.Apply(a)
	address, _ := mapped["email"].(string)
	if address == "" {
		address = a.Email()
	}
	if address == "" {
		return samlPerson{}, errSAMLNoEmail
	}
	var err error
	if person.email, err = normalizeEmail(address); err != nil {
		return samlPerson{}, errSAMLNoEmail.Because(err)
	}
	if !a.NotOnOrAfter.IsZero() {
		person.sessionEnd = &a.NotOnOrAfter
	}
	person.claims = samlClaims(mapped)
	maps.Copy(person.claims, map[string]any{"iss": p.SAML.EntityID, "sub": person.subject, "email": person.email, "email_verified": true, "phone_verified": false})
	return person, nil
}

const maxSubject = 1024 // bytes

// standardClaims stand beside sub and email; whatever else is mapped stands under custom_claims.
var standardClaims = []string{
	"name", "family_name", "given_name", "middle_name", "nickname", "preferred_username", "profile", "picture", "website", "gender", "birthdate",
	"zoneinfo", "locale", "updated_at", "phone", "full_name", "avatar_url", "slug", "provider_id", "user_name",
}

func samlClaims(mapped map[string]any) map[string]any {
	claims, custom := map[string]any{}, map[string]any{}
	for name, value := range mapped {
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

// ssoTries is more than one because two first sign-ins at once both want to make the account.
const ssoTries = 3

// letInBySAML marks the assertion as used and opens the session, or issues the code, in one transaction.
func (s *Service) letInBySAML(ctx context.Context, c client, relay relayState, p SSOProvider, a saml.Assertion, person samlPerson) (out samlOutcome, err error) {
	for range ssoTries {
		err = s.db.WithTx(ctx, func(tx *db.Tx) error {
			out = samlOutcome{to: relay.redirectTo}
			first, err := useAssertion(ctx, tx, p.ID, a.ID, a.UsableUntil)
			if err != nil {
				return err
			}
			if !first {
				return errSAMLAssertion.Becausef("assertion %q was used before", a.ID)
			}
			userID, err := s.samlAccount(ctx, tx, c, p, person)
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

// samlAccount finds or makes the account of a person. It is never one that somebody can enter in another way: an
// address proves nothing here, as any provider may claim any.
func (s *Service) samlAccount(ctx context.Context, tx *db.Tx, c client, p SSOProvider, person samlPerson) (userID string, err error) {
	now := s.now()
	userID, err = identityOwner(ctx, tx, p.provider(), person.subject)
	if errors.Is(err, db.ErrNoRows) {
		return s.newSAMLAccount(ctx, tx, c, p, person)
	}
	if err != nil {
		return "", err
	}
	u, err := lockUser(ctx, tx, userID)
	if errors.Is(err, db.ErrNoRows) {
		return "", errUserBanned.Becausef("account %s was deleted", userID)
	}
	if err != nil {
		return "", err
	}
	if u.banned(now) {
		return "", errUserBanned.Becausef("user %s, until %s", u.ID, u.BannedUntil)
	}
	own := maps.Clone(u.UserMetadata)
	if own == nil {
		own = map[string]any{}
	}
	maps.Copy(own, person.claims)
	changes := []change{{colUserMetadata, own}}
	if u.Email != person.email { // the provider is the authority on its people's addresses
		changes = append(changes, change{colEmail, person.email})
	}
	if err := setUser(ctx, tx, u.ID, now, changes...); err != nil {
		return "", err
	}
	return u.ID, saveIdentity(ctx, tx, u.ID, p.provider(), person.subject, person.claims, now)
}

func (s *Service) newSAMLAccount(ctx context.Context, tx *db.Tx, c client, p SSOProvider, person samlPerson) (string, error) {
	if !s.cfg.SignupOpen {
		return "", errSignupDisabled.Becausef("a new account by %s", p.provider())
	}
	now := s.now()
	userID, err := insertUser(ctx, tx, newUser{
		Email: person.email, EmailConfirmed: true, SSO: true, UserMetadata: person.claims,
		AppMetadata: map[string]any{"provider": p.provider(), "providers": []string{p.provider()}},
	}, now)
	if err != nil {
		return "", err
	}
	if err := saveIdentity(ctx, tx, userID, p.provider(), person.subject, person.claims, now); err != nil {
		return "", err
	}
	return userID, s.audit(ctx, tx, c, auditUserCreated, userID, map[string]any{"provider": p.provider()})
}

// failSAML sends the browser to the site with the error in the query, as the service that we stand in for does. The
// site shows it; the log has the cause.
func (s *Service) failSAML(w http.ResponseWriter, r *http.Request, err error) error {
	e := apperr.From(err)
	kind := "server_error"
	switch {
	case e.Code == errSignupDisabled.Code, e.Code == errUserBanned.Code, e.Status == http.StatusForbidden:
		kind = "access_denied"
	case e.Status == http.StatusBadRequest, e.Status == http.StatusRequestEntityTooLarge:
		kind = "invalid_request"
	case e.Status == http.StatusUnauthorized:
		kind = "unauthorized_client"
	case e.Status == http.StatusServiceUnavailable, e.Status == http.StatusTooManyRequests:
		kind = "temporarily_unavailable"
	}
	code := strings.Replace(e.Code, httpx.ErrTooLarge.Code, "request_entity_too_large", 1)
	if err := seeOther(w, r, withQuery(s.cfg.SiteURL, url.Values{"error": {kind}, "error_code": {code}, "error_description": {e.Message}})); err != nil {
		return err
	}
	return e // the answer is written: this reaches the log alone
}
