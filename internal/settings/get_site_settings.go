package settings

import (
	"net/http"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// Get handles rpc/get_site_settings, for administrators: all settings, their version (a save must repeat it), the names of the
// texts that the owner has not changed, and the state of the first-run guide. Visitors get the public part with each page.
func (s *Service) Get(w http.ResponseWriter, r *http.Request) error {
	if err := authorize(identity.Of(r.Context())); err != nil {
		return err
	}
	all, err := s.loadForOwner(r.Context(), s.db)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, all)
}
