package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"atelie/internal/apperr"
	"atelie/internal/auth/saml"
	"atelie/internal/db"
	"atelie/internal/httpx"
)

// This file handles the SAML responses of identity providers. It checks a response, and signs in the person whom the response names.

const (
	acsRequestsPerIP = 100                       // requests from one IP address in five minutes (limitWindow)
	maxACSBody       = 2*saml.MaxResponse + 4096 // bytes; escaping can double the response, and the form has other fields
)

// SAMLACS handles POST /auth/v1/sso/saml/acs, the assertion consumer service (ACS): the identity provider's page posts its SAML response
// to this URL. The request needs no API key. The HTTP response redirects the browser with a session or a code (PKCE). After an error it
// redirects the browser to the site with the error.
func (s *Service) SAMLACS(w http.ResponseWriter, r *http.Request) error {
	outcome, err := s.acceptSAMLResponse(w, r)
	if err != nil {
		return s.redirectWithSAMLError(w, r, err)
	}
	if outcome.code != "" {
		return s.redirectWithCode(w, r, outcome.redirectTo, outcome.code)
	}
	return s.redirectWithSession(w, r, outcome.redirectTo, outcome.session, nil)
}

// acceptSAMLResponse checks the SAML response in the request and signs in the person whom the response names.
func (s *Service) acceptSAMLResponse(w http.ResponseWriter, r *http.Request) (samlOutcome, error) {
	if !s.cfg.SAML {
		return samlOutcome{}, errSAMLDisabled
	}
	if err := s.limitPerIP(w, r, limitACSRequests, acsRequestsPerIP); err != nil {
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
	samlResponse := form.Get("SAMLResponse")
	if samlResponse == "" {
		return samlOutcome{}, errSAMLMissing
	}
	// relay is the stored authentication request that the response answers. p is the provider.
	relay, p, err := s.matchSAMLResponse(r.Context(), form.Get("RelayState"), samlResponse)
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
	assertion, err := sp.VerifyResponse(samlResponse, idp, saml.Expected{RequestID: relay.requestID, Now: s.now()})
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
	return s.signInSAMLPerson(r.Context(), clientOf(r), relay, p, assertion, person)
}

// matchSAMLResponse consumes the stored request (relayState) to which a response belongs, and returns the request and its provider.
// state is the form's RelayState. A provider may also start a sign-in without a request: state is then empty, or the URL to
// which the browser is redirected after the sign-in, and the returned relayState has no id.
func (s *Service) matchSAMLResponse(ctx context.Context, state, samlResponse string) (relayState, SSOProvider, error) {
	if id, ok := canonicalUUID(state); ok {
		relay, err := s.consumeRelayState(ctx, id)
		if err != nil {
			return relayState{}, SSOProvider{}, err
		}
		p, err := ssoProviderByID(ctx, s.db, relay.providerID)
		return relay, p, db.NoRowsAs(err, errSAMLIdPNotFound)
	}
	if _, err := url.ParseRequestURI(state); state != "" && (err != nil || len(state) > maxRedirectURL) {
		return relayState{}, SSOProvider{}, errSAMLRelayState.Becausef("RelayState of %d bytes", len(state))
	}
	issuer, err := saml.Issuer(samlResponse)
	if err != nil {
		return relayState{}, SSOProvider{}, errSAMLAssertion.Because(err)
	}
	p, err := ssoProviderByEntity(ctx, s.db, issuer)
	return relayState{redirectTo: s.redirectTarget(state)}, p, db.NoRowsAs(err, errSAMLIdPNotFound.Becausef("issuer %q", issuer))
}

// consumeRelayState returns and consumes a stored request. Errors: errSAMLRelayNotFound, errSAMLRelayExpired.
func (s *Service) consumeRelayState(ctx context.Context, id string) (relay relayState, err error) {
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		relay, err = consumeRelayStateRow(ctx, tx, id)
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

// redirectWithSAMLError redirects the browser to the site with the error in the query, as Supabase Auth does. The site shows the
// error; its cause is only logged.
func (s *Service) redirectWithSAMLError(w http.ResponseWriter, r *http.Request, err error) error {
	e := apperr.From(err)
	kind := oauthErrorCode(e)
	switch e.Status {
	case http.StatusRequestEntityTooLarge:
		kind = "invalid_request"
	case http.StatusTooManyRequests:
		kind = "temporarily_unavailable"
	}
	code := strings.Replace(e.Code, httpx.ErrTooLarge.Code, "request_entity_too_large", 1)
	if err := seeOther(w, r, withQuery(s.cfg.SiteURL, url.Values{"error": {kind}, "error_code": {code}, "error_description": {e.Message}})); err != nil {
		return err
	}
	return e // the response is written already, so the returned error is only logged
}
