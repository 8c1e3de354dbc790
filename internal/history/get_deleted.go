package history

import (
	"net/http"
	"slices"
)

// GetDeleted answers rpc/get_deleted {table} with the deleted rows of a table that nobody has brought back, the newest deletion
// first. Each is the revision that its deletion left: the row as it was before.
func (s *Service) GetDeleted(w http.ResponseWriter, r *http.Request) error {
	var body struct{ Table string }
	if err := decodeRequest(w, r, &body); err != nil {
		return err
	}
	if !slices.Contains(contentTables, body.Table) {
		return errBadTable
	}
	revisions, err := listDeleted(r.Context(), s.db, body.Table)
	if err != nil {
		return err
	}
	return respondUncached(w, revisions)
}
