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

// This file handles the SAML responses of identity providers. saml_sign_in.go does the sign-in.

const (
	acsRequestsPerIP = 100                       // requests from one IP address in five minutes (limitWindow)
	maxACSBody       = 2*saml.MaxResponse + 4096 // bytes; escaping can double the response, and the form has other fields
)

// SAMLACS handles POST /auth/v1/sso/saml/acs, the assertion consumer service (ACS): the identity provider's page posts its SAML response
// to this URL. The request needs no API key. The HTTP response redirects the browser. The redirect URL contains the session, or a code in a
// PKCE flow. After an error, the browser is redirected to the site with the error.
func (s *Service) SAMLACS(w http.ResponseWriter, r *http.Request) error {
	outcome, err := s.acceptSAMLResponse(w, r)
	if err != nil {
		return s.redirectWithSAMLError(w, r, err)
	}
	return s.redirectWithResult(w, r, outcome.redirectTo, outcome.signInResult, nil /* no further parameters */)
}

// acceptSAMLResponse checks the SAML response in the HTTP request, and signs in the user that the response names.
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
	authnRequest, provider, err := s.matchSAMLResponse(r.Context(), form.Get("RelayState"), samlResponse)
	if err != nil {
		return samlOutcome{}, err
	}
	if provider.Disabled {
		return samlOutcome{}, errSSOProviderDisabled
	}
	sp, err := s.serviceProvider(r.Context())
	if err != nil {
		return samlOutcome{}, err
	}
	idp, err := s.identityProvider(r.Context(), provider)
	if err != nil {
		return samlOutcome{}, err
	}
	assertion, err := sp.VerifyResponse(samlResponse, idp, saml.Expected{RequestID: authnRequest.requestID, Now: s.now()})
	if errors.Is(err, saml.ErrStatus) {
		return samlOutcome{}, errSAMLStatus.Because(err)
	}
	if err != nil {
		return samlOutcome{}, errSAMLAssertion.Because(err)
	}
	user, err := readSAMLUser(provider, &assertion)
	if err != nil {
		return samlOutcome{}, err
	}
	return s.signInSAMLUser(r.Context(), clientOf(r), authnRequest, provider, assertion, user)
}

// matchSAMLResponse consumes the stored authentication request to which a response belongs, and returns the request and its provider.
// state is the form's RelayState. A provider may also start a sign-in without a request. state is then empty, or the URL to which
// the browser is redirected after the sign-in, and the returned samlRequest has no id.
func (s *Service) matchSAMLResponse(ctx context.Context, state, samlResponse string) (samlRequest, SSOProvider, error) {
	if id, ok := canonicalUUID(state); ok {
		request, err := s.consumeSAMLRequest(ctx, id)
		if err != nil {
			return samlRequest{}, SSOProvider{}, err
		}
		provider, err := ssoProviderWhere(ctx, s.db, ssoByID, request.providerID)
		return request, provider, db.NoRowsAs(err, errSAMLIdPNotFound)
	}
	if _, err := url.ParseRequestURI(state); state != "" && (err != nil || len(state) > maxRedirectURL) {
		return samlRequest{}, SSOProvider{}, errSAMLRelayState.Becausef("RelayState of %d bytes", len(state))
	}
	issuer, err := saml.Issuer(samlResponse)
	if err != nil {
		return samlRequest{}, SSOProvider{}, errSAMLAssertion.Because(err)
	}
	provider, err := ssoProviderWhere(ctx, s.db, ssoByEntity, issuer)
	return samlRequest{redirectTo: s.redirectTarget(state)}, provider, db.NoRowsAs(err, errSAMLIdPNotFound.Becausef("issuer %q", issuer))
}

// consumeSAMLRequest returns and consumes a stored request. Errors: errSAMLRelayNotFound, errSAMLRelayExpired.
func (s *Service) consumeSAMLRequest(ctx context.Context, id string) (request samlRequest, err error) {
	request, err = inTx(ctx, s.db.WithShortTx, func(tx *db.Tx) (samlRequest, error) { return consumeSAMLRequestRow(ctx, tx, id) })
	switch {
	case errors.Is(err, db.ErrNoRows):
		return samlRequest{}, errSAMLRelayNotFound
	case err == nil && !s.now().Before(request.createdAt.Add(samlRequestLife)):
		return samlRequest{}, errSAMLRelayExpired
	}
	return request, err
}

// redirectWithSAMLError redirects the browser to the site with the error in the query, as Supabase Auth does. The site shows the
// error; its cause is only logged.
func (s *Service) redirectWithSAMLError(w http.ResponseWriter, r *http.Request, err error) error {
	e := apperr.From(err)
	oauthCode := oauthErrorCode(e)
	switch e.Status {
	case http.StatusRequestEntityTooLarge:
		oauthCode = "invalid_request"
	case http.StatusTooManyRequests:
		oauthCode = "temporarily_unavailable"
	}
	code := strings.Replace(e.Code, httpx.ErrTooLarge.Code, "request_entity_too_large", 1)
	if err := seeOther(w, r, withQuery(s.cfg.SiteURL, url.Values{"error": {oauthCode}, "error_code": {code}, "error_description": {e.Message}})); err != nil {
		return err
	}
	return e // the response is written already, so the returned error is only logged
}
