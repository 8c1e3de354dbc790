package settings

import (
	"net/http"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// Get handles rpc/get_site_settings for administrators. The response has all settings, the names of the texts that still equal those of a
// new site or of the demo content, the state of the first-run guide, and a version. The version is a hash of the settings. A save must send
// the version back, so that it overwrites no newer change. Visitors do not need this response, because each page contains the public part
// of the settings.
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
