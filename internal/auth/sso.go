package auth

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// relayLife is how long a person may take at the identity provider.
const relayLife = 10 * time.Minute

const ssoStartsPerAddress = 100 // in limitWindow

// methodSAML is how the amr claim names a sign-in by SAML.
const methodSAML = "sso/saml"

type ssoRequest struct {
	challenge
	ProviderID       string `json:"provider_id"`
	Domain           string `json:"domain"`
	RedirectTo       string `json:"redirect_to"`
	SkipHTTPRedirect bool   `json:"skip_http_redirect"`
}

func (b ssoRequest) validate() error {
	switch {
	case b.ProviderID != "" && b.Domain != "":
		return errSSOTwoNames
	case b.ProviderID == "" && b.Domain == "":
		return errSSONoName
	}
	return nil
}

const maxRedirect = 2048 // bytes

// SSO is POST /auth/v1/sso: it sends the browser to the identity provider of a domain, or tells the address.
func (s *Service) SSO(w http.ResponseWriter, r *http.Request) error {
	if !s.cfg.SAML {
		return errSAMLDisabled
	}
	if err := s.limit(w, r, "auth sso address", httpx.LimitSubject(r.Context()), ssoStartsPerAddress); err != nil {
		return err
	}
	var body ssoRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if err := body.validate(); err != nil {
		return err
	}
	if body.RedirectTo == "" {
		body.RedirectTo = askedRedirect(r)
	}
	if len(body.RedirectTo) > maxRedirect {
		body.RedirectTo = "" // leads to the site, as every address that is not allowed
	}
	address, err := s.startSSO(r.Context(), body)
	if err != nil {
		return err
	}
	if body.SkipHTTPRedirect {
		w.Header().Set("Cache-Control", "no-store")
		return httpx.JSON(w, http.StatusOK, map[string]string{"url": address})
	}
	return seeOther(w, r, address)
}

// startSSO keeps a request and gives the address of the identity provider that takes it.
func (s *Service) startSSO(ctx context.Context, body ssoRequest) (string, error) {
	p, err := s.findSSOProvider(ctx, body)
	if err != nil {
		return "", err
	}
	if p.Disabled {
		return "", errSSOProviderDisabled
	}
	sp, err := s.serviceProvider(ctx)
	if err != nil {
		return "", err
	}
	idp, err := s.identityProvider(ctx, p)
	if err != nil {
		return "", err
	}
	relay := relayState{id: uuid.NewString(), providerID: p.ID, redirectTo: s.redirectTarget(body.RedirectTo), createdAt: s.now()}
	var address string
	if relay.requestID, address, err = sp.AuthnRequest(idp, relay.id, p.SAML.NameIDFormat, s.now()); err != nil {
		return "", err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		flow, err := s.startFlow(ctx, tx, flowState{authMethod: methodSAML, provider: p.provider(), redirectTo: relay.redirectTo}, body.challenge, "")
		if err != nil {
			return err
		}
		relay.flowID = flow.id
		return insertRelayState(ctx, tx, relay)
	})
	return address, err
}

func (s *Service) findSSOProvider(ctx context.Context, body ssoRequest) (SSOProvider, error) {
	if body.ProviderID != "" {
		id, ok := canonicalUUID(body.ProviderID)
		if !ok {
			return SSOProvider{}, errSSOProviderID
		}
		p, err := ssoProviderByID(ctx, s.db, id)
		if errors.Is(err, db.ErrNoRows) {
			err = errSSOUnknown
		}
		return p, err
	}
	// Clients may send a whole address where a domain belongs.
	domain := normalizeDomain(body.Domain[strings.LastIndexByte(body.Domain, '@')+1:])
	if !isDomain(domain) {
		return SSOProvider{}, errSSOUnknownDomain
	}
	p, err := ssoProviderByDomain(ctx, s.db, domain)
	if errors.Is(err, db.ErrNoRows) {
		err = errSSOUnknownDomain
	}
	return p, err
}
