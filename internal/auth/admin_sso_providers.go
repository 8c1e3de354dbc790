package auth

import (
	"net/http"

	"atelie/internal/auth/saml"
)

// This file handles the requests of the admin API that list or change the SAML identity providers (servers of other organizations, at which
// their members sign in). All of them require the service key (the API key with the role service_role), which requireServiceKey or
// authorizeAndDecode checks.

// maxProviderBody is the maximum size of a request body in bytes: MaxMetadata for the SAML metadata, and 256 KiB for the other
// fields.
const maxProviderBody = saml.MaxMetadata + 256<<10

// AdminListSSOProviders handles GET /auth/v1/admin/sso/providers: it returns all SAML identity providers. A provider can have a resource
// id, which the operator (who runs the server) chooses. The resource_id parameter selects the provider with this resource id. The
// resource_id_prefix parameter selects the providers whose resource ids begin with this text.
func (s *Service) AdminListSSOProviders(w http.ResponseWriter, r *http.Request) error {
	if err := requireServiceKey(r.Context()); err != nil {
		return err
	}
	q := r.URL.Query()
	// No provider has a resource id that PostgreSQL cannot store. One call checks both parameters.
	if !isStorableText(q.Get("resource_id") + q.Get("resource_id_prefix")) {
		return errSSOResourceID
	}
	list, err := s.SSOProviders(r.Context(), q.Get("resource_id"), q.Get("resource_id_prefix"))
	return respond(w, http.StatusOK, map[string]any{"items": list}, err)
}

// AdminAddSSOProvider handles POST /auth/v1/admin/sso/providers: it adds a provider.
func (s *Service) AdminAddSSOProvider(w http.ResponseWriter, r *http.Request) error {
	var body SSOProviderChange
	if err := authorizeAndDecode(w, r, maxProviderBody, &body); err != nil {
		return err
	}
	provider, err := s.AddSSOProvider(r.Context(), body)
	return respond(w, http.StatusCreated, provider, err)
}

// AdminGetSSOProvider handles GET /auth/v1/admin/sso/providers/{id}: it returns the provider.
func (s *Service) AdminGetSSOProvider(w http.ResponseWriter, r *http.Request) error {
	if err := requireServiceKey(r.Context()); err != nil {
		return err
	}
	provider, err := s.SSOProviderByID(r.Context(), r.PathValue("id"))
	return respond(w, http.StatusOK, provider, err)
}

// AdminUpdateSSOProvider handles PUT /auth/v1/admin/sso/providers/{id}: it changes the provider. Fields that the body does not name
// stay unchanged.
func (s *Service) AdminUpdateSSOProvider(w http.ResponseWriter, r *http.Request) error {
	var body SSOProviderChange
	if err := authorizeAndDecode(w, r, maxProviderBody, &body); err != nil {
		return err
	}
	provider, err := s.updateSSOProvider(r.Context(), r.PathValue("id"), body)
	return respond(w, http.StatusOK, provider, err)
}

// AdminDeleteSSOProvider handles DELETE /auth/v1/admin/sso/providers/{id}: it deletes the provider and returns it.
func (s *Service) AdminDeleteSSOProvider(w http.ResponseWriter, r *http.Request) error {
	if err := requireServiceKey(r.Context()); err != nil {
		return err
	}
	provider, err := s.RemoveSSOProvider(r.Context(), r.PathValue("id"))
	return respond(w, http.StatusOK, provider, err)
}
