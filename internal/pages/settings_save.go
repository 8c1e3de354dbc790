package pages

import (
	"encoding/json"
	"errors"
	"net/http"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

type saveSettingsRequest struct {
	Version  string          `json:"version"`
	Settings json.RawMessage `json:"settings"`
}

// SaveSettings is rpc/save_site_settings {version, settings}: it replaces what settings names, and answers with all of them
// and their new version. 409 PT409 when they are no longer what version says; 400 22023 for a field that cannot be taken,
// named in details.
func (s *Service) SaveSettings(w http.ResponseWriter, r *http.Request) error {
	ctx := r.Context()
	if err := checkSettingsCaller(identity.Of(ctx)); err != nil {
		return err
	}
	var body saveSettingsRequest
	switch err := httpx.DecodeJSON(w, r, maxSettingsBody, &body); {
	case errors.Is(err, httpx.ErrTooLarge):
		return errSettingsLarge.Because(err)
	case errors.Is(err, httpx.ErrBadJSON):
		return errSettingsJSON.Because(err)
	case err != nil:
		return err
	case len(body.Settings) == 0:
		return errSettingsJSON.Becausef("no settings")
	}
	var answer settingsAnswer
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		if err := lockSettings(ctx, tx); err != nil {
			return err
		}
		settings, err := loadSettings(ctx, tx)
		if err != nil {
			return err
		}
		if answer, err = answerOf(settings); err != nil {
			return err
		}
		if answer.Version != body.Version {
			return errSettingsStale.Becausef("%s is not %s", body.Version, answer.Version)
		}
		if err := json.Unmarshal(body.Settings, &settings); err != nil { // over what is there
			return errSettingsJSON.Because(err)
		}
		if err := settings.tidy(); err != nil {
			return err
		}
		if err := saveSettings(ctx, tx, settings, s.now()); err != nil {
			return err
		}
		answer, err = answerOf(settings)
		return err
	})
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, answer)
}
