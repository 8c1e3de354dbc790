package history

import (
	"net/http"
	"slices"

	"github.com/google/uuid"
)

// GetHistory answers rpc/get_history {table, id} with the revisions of a row, the newest first. For site_settings, without id, it
// answers with those of all settings: row_id is the setting's key.
func (s *Service) GetHistory(w http.ResponseWriter, r *http.Request) error {
	var body struct{ Table, ID string }
	if err := read(w, r, &body); err != nil {
		return err
	}
	switch {
	case body.Table == settingsTable:
		if body.ID != "" {
			return errRow
		}
	case !slices.Contains(contentTables, body.Table):
		return errTable
	default:
		id, err := uuid.Parse(body.ID)
		if err != nil {
			return errRow.Because(err)
		}
		body.ID = id.String()
	}
	revisions, err := listHistory(r.Context(), s.db, body.Table, body.ID)
	if err != nil {
		return err
	}
	return answer(w, revisions)
}
