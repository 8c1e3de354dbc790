package history

import (
	"math"
	"net/http"
	"slices"

	"atelie/internal/httpx"
)

// GetDeleted handles rpc/get_deleted {table, before}. The response has the deleted rows of a table that were not restored, the newest
// deletion first. Each of them is a revision: the row as it was before its deletion. before is the id of the last revision of the
// previous response.
func (s *Service) GetDeleted(w http.ResponseWriter, r *http.Request) error {
	body := struct {
		Table  string
		Before int64
	}{Before: math.MaxInt64}
	if err := authorizeAndDecode(w, r, &body); err != nil {
		return err
	}
	if !slices.Contains(contentTables, body.Table) {
		return errBadTable
	}
	revisions, err := listDeleted(r.Context(), s.db, body.Table, body.Before)
	if err != nil {
		return err
	}
	return httpx.UncachedJSON(w, revisions)
}
