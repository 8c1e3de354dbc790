package auth

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strconv"

	"atelie/internal/auth/saml"
	"atelie/internal/db"
)

// This file sends the SAML metadata of this service (the XML that describes it) to identity providers. It also creates and renews the
// service's SAML key pair.

// SAMLMetadata handles GET /auth/v1/sso/saml/metadata: it sends the SAML metadata of this service. The request needs no API key. With
// download=true the browser saves the metadata as a file, which is valid for five years.
func (s *Service) SAMLMetadata(w http.ResponseWriter, r *http.Request) error {
	if !s.cfg.SAML {
		return errSAMLDisabled
	}
	sp, err := s.serviceProvider(r.Context())
	if err != nil {
		return err
	}
	isDownload := r.URL.Query().Get("download") == "true"
	expiry := saml.MetadataExpiry(s.now(), isDownload)
	body, err := sp.MetadataXML(expiry)
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/xml")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "public, max-age=600")
	h.Set("X-Content-Type-Options", "nosniff")
	if isDownload {
		h.Set("Content-Disposition", `attachment; filename="metadata.xml"`)
	}
	_, err = w.Write(body)
	return err
}

// purposeSSOKey is the purpose with which the private key of this service is sealed (encrypted). A sealed value can be decrypted only with
// its own purpose.
const purposeSSOKey = "saml key"

// serviceProvider returns this service as a SAML service provider. It creates the key pair if none is stored, and caches the decrypted
// private key until another key is stored.
func (s *Service) serviceProvider(ctx context.Context) (*saml.ServiceProvider, error) {
	s.samlProvider.mu.Lock()
	defer s.samlProvider.mu.Unlock()
	sealed, certificate, err := ssoKey(ctx, s.db)
	if errors.Is(err, db.ErrNoRows) {
		sealed, certificate, err = s.createSSOKey(ctx)
	}
	if err != nil {
		return nil, err
	}
	if s.samlProvider.sp != nil && s.samlProvider.sealedKey == sealed {
		return s.samlProvider.sp, nil
	}
	plain, err := s.sealer.unseal(purposeSSOKey, sealed)
	if err != nil {
		return nil, err
	}
	key, cert, err := saml.ParseKeyPair(plain, certificate)
	if err != nil {
		return nil, err
	}
	s.samlProvider.sp, s.samlProvider.sealedKey = saml.New(s.cfg.APIURL+"/auth/v1/sso/saml", key, cert), sealed
	return s.samlProvider.sp, nil
}

// createSSOKey creates a key pair and stores it, unless another node has stored one first. It returns the stored key pair.
func (s *Service) createSSOKey(ctx context.Context) (sealed string, certificate []byte, err error) {
	host := s.cfg.APIURL
	if u, err := url.Parse(s.cfg.APIURL); err == nil {
		host = u.Hostname()
	}
	key, certificate, err := saml.NewKeyPair(host, s.now())
	if err != nil {
		return "", nil, err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		sealed, certificate, err = insertSSOKey(ctx, tx, s.sealer.seal(purposeSSOKey, key), certificate, s.now())
		return err
	})
	return sealed, certificate, err
}

// RenewSSOKey deletes the service's SAML key pair; the next use creates a new one. It is for a key that has leaked, or that
// cannot be decrypted because the secret is lost. Running servers use the new key immediately. Identity providers must read the
// metadata again.
func (s *Service) RenewSSOKey(ctx context.Context) error {
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		return errors.Join(
			deleteSSOKey(ctx, tx),
			s.audit(ctx, tx, clientInfo{}, auditSSOProviderChanged, "", map[string]any{"change": "own key renewed"}),
		)
	})
}

// SSOInfo holds the values of this service that the operator enters at an identity provider.
type SSOInfo struct {
	Enabled               bool // Config.SAML: users can sign in by SAML
	SignupOpen            bool // users without an account can sign in
	EntityID, MetadataURL string
	ACSURL                string
}

// SSOInfo returns the values to enter at an identity provider. It creates the key pair when none is stored.
func (s *Service) SSOInfo(ctx context.Context) (SSOInfo, error) {
	sp, err := s.serviceProvider(ctx)
	if err != nil {
		return SSOInfo{}, err
	}
	return SSOInfo{Enabled: s.cfg.SAML, SignupOpen: s.cfg.SignupOpen, EntityID: sp.MetadataURL, MetadataURL: sp.MetadataURL, ACSURL: sp.ACSURL}, nil
}
