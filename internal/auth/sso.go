package auth

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file starts single sign-on by SAML: it sends the browser to an identity provider, such as the server of the user's company.
// saml_acs.go handles the provider's response.

// samlRequestLife is how long a stored authentication request (samlRequest) waits for the provider's response. A later response is refused.
const samlRequestLife = 10 * time.Minute

const ssoStartsPerIP = 100 // requests from one IP address in five minutes (limitWindow)

// methodSAML is the method of a sign-in by SAML in the amr claim of access tokens, which lists how the session was authenticated.
const methodSAML = "sso/saml"

// ssoRequest is the body of SSO. Either ProviderID or Domain names the identity provider.
type ssoRequest struct {
	pkceChallenge
	ProviderID       string `json:"provider_id"`
	Domain           string `json:"domain"`             // domain of the user's e-mail address
	RedirectTo       string `json:"redirect_to"`        // URL to which the browser returns after the sign-in; "": the site
	SkipHTTPRedirect bool   `json:"skip_http_redirect"` // respond with {url} instead of a redirect
}

// validate checks that exactly one of ProviderID and Domain is set. The function decode calls it.
func (b ssoRequest) validate() error {
	switch {
	case b.ProviderID != "" && b.Domain != "":
		return errSSOProviderAmbiguous
	case b.ProviderID == "" && b.Domain == "":
		return errSSOProviderMissing
	}
	return nil
}

const maxRedirectURL = 2048 // bytes of the URL to which the browser returns after the sign-in

// SSO handles POST /auth/v1/sso, the start of a single sign-on by SAML: it redirects the browser to the identity provider, or
// returns the URL of this redirect.
func (s *Service) SSO(w http.ResponseWriter, r *http.Request) error {
	if !s.cfg.SAML {
		return errSAMLDisabled
	}
	if err := s.limitPerIP(w, r, limitSSOStarts, ssoStartsPerIP); err != nil {
		return err
	}
	var body ssoRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.RedirectTo == "" {
		body.RedirectTo = requestedRedirect(r)
	}
	if len(body.RedirectTo) > maxRedirectURL {
		body.RedirectTo = "" // as for a URL that is not allowed, the browser returns to the site
	}
	redirectURL, err := s.startSSO(r.Context(), body)
	if err != nil {
		return err
	}
	if body.SkipHTTPRedirect {
		return respondPrivate(w, map[string]string{"url": redirectURL}, nil)
	}
	return seeOther(w, r, redirectURL)
}

// startSSO stores an authentication request and returns the identity provider's URL that contains it.
func (s *Service) startSSO(ctx context.Context, body ssoRequest) (string, error) {
	provider, err := s.findSSOProvider(ctx, body)
	if err != nil {
		return "", err
	}
	if provider.Disabled {
		return "", errSSOProviderDisabled
	}
	sp, err := s.serviceProvider(ctx)
	if err != nil {
		return "", err
	}
	idp, err := s.identityProvider(ctx, provider)
	if err != nil {
		return "", err
	}
	request := samlRequest{id: uuid.NewString(), providerID: provider.ID, redirectTo: s.redirectTarget(body.RedirectTo), createdAt: s.now()}
	var redirectURL string
	if request.requestID, redirectURL, err = sp.AuthnRequest(idp, request.id, provider.SAML.NameIDFormat, s.now()); err != nil {
		return "", err
	}
	err = s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		flow, err := s.startFlow(ctx, tx, flowState{authMethod: methodSAML, provider: provider.providerName(), redirectTo: request.redirectTo}, body.pkceChallenge, "")
		if err != nil {
			return err
		}
		request.flowID = flow.id
		return insertSAMLRequest(ctx, tx, request)
	})
	return redirectURL, err
}

// findSSOProvider returns the identity provider that a request names.
func (s *Service) findSSOProvider(ctx context.Context, body ssoRequest) (SSOProvider, error) {
	if body.ProviderID != "" {
		id, ok := canonicalUUID(body.ProviderID)
		if !ok {
			return SSOProvider{}, errSSOProviderID
		}
		provider, err := ssoProviderWhere(ctx, s.db, ssoByID, id)
		return provider, db.NoRowsAs(err, errSSOUnknown)
	}
	// Clients may send an email address as the domain.
	domain := normalizeDomain(body.Domain[strings.LastIndexByte(body.Domain, '@')+1:])
	if !isDomain(domain) {
		return SSOProvider{}, errSSOUnknownDomain
	}
	provider, err := ssoProviderWhere(ctx, s.db, ssoByDomain, domain)
	return provider, db.NoRowsAs(err, errSSOUnknownDomain)
}
