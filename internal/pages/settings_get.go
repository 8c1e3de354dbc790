package pages

import (
	"net/http"

	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// GetSettings is rpc/get_site_settings: all settings and the version that a save must show. For administrators; what
// visitors may know comes with each page.
func (s *Service) GetSettings(w http.ResponseWriter, r *http.Request) error {
	if err := checkSettingsCaller(identity.Of(r.Context())); err != nil {
		return err
	}
	settings, err := loadSettings(r.Context(), s.db)
	if err != nil {
		return err
	}
	answer, err := answerOf(settings)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, answer)
}
