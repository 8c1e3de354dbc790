package history

import (
	"net/http"
	"slices"
)

// GetDeleted answers rpc/get_deleted {table} with the rows that were deleted and have not come back, the newest first: each as the
// revision that its deletion left.
func (s *Service) GetDeleted(w http.ResponseWriter, r *http.Request) error {
	var body struct{ Table string }
	if err := read(w, r, &body); err != nil {
		return err
	}
	if !slices.Contains(contentTables, body.Table) {
		return errTable
	}
	revisions, err := listDeleted(r.Context(), s.db, body.Table)
	if err != nil {
		return err
	}
	return answer(w, revisions)
}
