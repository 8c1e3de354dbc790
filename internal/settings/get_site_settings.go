package settings

import (
	"net/http"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// Get handles rpc/get_site_settings for administrators. The response has all settings, the names of the texts that the owner has not
// changed, the state of the first-run guide, and the version that a save must repeat. Visitors do not need it: each page contains the
// public part of the settings.
func (s *Service) Get(w http.ResponseWriter, r *http.Request) error {
	if err := authorize(identity.Of(r.Context())); err != nil {
		return err
	}
	all, err := s.loadForOwner(r.Context(), s.db)
	if err != nil {
		return err
	}
	return httpx.UncachedJSON(w, all)
}
