package history

import (
	"net/http"
	"slices"

	"github.com/google/uuid"
)

// GetHistory answers rpc/get_history {table, id} with the revisions of a row (what the row was before each change), the newest
// first. A request for site_settings has no id: its response has the revisions of all settings, with the setting's key as row_id.
func (s *Service) GetHistory(w http.ResponseWriter, r *http.Request) error {
	var body struct{ Table, ID string }
	if err := decodeRequest(w, r, &body); err != nil {
		return err
	}
	switch {
	case body.Table == settingsTable:
		if body.ID != "" {
			return errBadID
		}
	case !slices.Contains(contentTables, body.Table):
		return errBadTable
	default:
		id, err := uuid.Parse(body.ID)
		if err != nil {
			return errBadID.Because(err)
		}
		body.ID = id.String()
	}
	revisions, err := listHistory(r.Context(), s.db, body.Table, body.ID)
	if err != nil {
		return err
	}
	return respondUncached(w, revisions)
}
