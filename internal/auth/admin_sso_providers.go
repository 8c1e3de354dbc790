package auth

import (
	"context"
	"net/http"

	"atelie/internal/auth/saml"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

const maxProviderBody = saml.MaxMetadata + 256<<10 // bytes

// ssoAdministrator lets the elevated key pass; an owner's own token is not it (READING §2).
func ssoAdministrator(ctx context.Context) error {
	if role := identity.Of(ctx).Role; role != identity.Service {
		return errNotAdmin.Becausef("role %q", role)
	}
	return nil
}

// AdminSSOProviders is GET /auth/v1/admin/sso/providers. ?resource_id and ?resource_id_prefix filter.
func (s *Service) AdminSSOProviders(w http.ResponseWriter, r *http.Request) error {
	if err := ssoAdministrator(r.Context()); err != nil {
		return err
	}
	q := r.URL.Query()
	if !storable(q.Get("resource_id") + q.Get("resource_id_prefix")) {
		return errSSOResourceID
	}
	list, err := s.SSOProviders(r.Context(), q.Get("resource_id"), q.Get("resource_id_prefix"))
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, map[string]any{"items": list})
}

// AdminAddSSOProvider is POST /auth/v1/admin/sso/providers.
func (s *Service) AdminAddSSOProvider(w http.ResponseWriter, r *http.Request) error {
	if err := ssoAdministrator(r.Context()); err != nil {
		return err
	}
	var body SSOProviderChange
	if err := httpx.DecodeJSON(w, r, maxProviderBody, &body); err != nil {
		return err
	}
	p, err := s.AddSSOProvider(r.Context(), body)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusCreated, p)
}

// AdminSSOProvider is GET /auth/v1/admin/sso/providers/{id}.
func (s *Service) AdminSSOProvider(w http.ResponseWriter, r *http.Request) error {
	if err := ssoAdministrator(r.Context()); err != nil {
		return err
	}
	p, err := s.SSOProviderByID(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, p)
}

// AdminUpdateSSOProvider is PUT /auth/v1/admin/sso/providers/{id}: what the body does not name stays.
func (s *Service) AdminUpdateSSOProvider(w http.ResponseWriter, r *http.Request) error {
	if err := ssoAdministrator(r.Context()); err != nil {
		return err
	}
	var body SSOProviderChange
	if err := httpx.DecodeJSON(w, r, maxProviderBody, &body); err != nil {
		return err
	}
	p, err := s.updateSSOProvider(r.Context(), r.PathValue("id"), body)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, p)
}

// AdminDeleteSSOProvider is DELETE /auth/v1/admin/sso/providers/{id}; it answers what was deleted.
func (s *Service) AdminDeleteSSOProvider(w http.ResponseWriter, r *http.Request) error {
	if err := ssoAdministrator(r.Context()); err != nil {
		return err
	}
	p, err := s.RemoveSSOProvider(r.Context(), r.PathValue("id"))
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, p)
}
