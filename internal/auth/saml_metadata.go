package auth

import (
	"net/http"
	"strconv"

	"atelie/internal/auth/saml"
)

// SAMLMetadata is GET /auth/v1/sso/saml/metadata, which needs no key: identity providers read it. ?download=true gives
// a file that lives for five years.
func (s *Service) SAMLMetadata(w http.ResponseWriter, r *http.Request) error {
	if !s.cfg.SAML {
		return errSAMLDisabled
	}
	sp, err := s.serviceProvider(r.Context())
	if err != nil {
		return err
	}
	download := r.URL.Query().Get("download") == "true"
	body, err := sp.MetadataXML(saml.MetadataExpiry(s.now(), download))
	if err != nil {
		return err
	}
	h := w.Header()
	h.Set("Content-Type", "application/xml")
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "public, max-age=600")
	h.Set("X-Content-Type-Options", "nosniff")
	if download {
		h.Set("Content-Disposition", `attachment; filename="metadata.xml"`)
	}
	_, err = w.Write(body)
	return err
}
