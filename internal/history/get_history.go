package history

import (
	"math"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"atelie/internal/httpx"
)

// GetHistory handles rpc/get_history {table, id, before}. The response has the revisions of a row (the row as it was before each change),
// the newest first. Each revision lists the URLs of its files that were replaced after the change. before is the id of the last revision
// of the previous response; the first request has none.
//
// The history of a series also has revisions of its works. Their row_before is {pairs}: pairs is an array of the rows of series_works before
// works were added, removed or moved. A request for site_settings has no id. Its response has the revisions of all settings, with
// the setting's key as row_id.
func (s *Service) GetHistory(w http.ResponseWriter, r *http.Request) error {
	body := struct {
		Table, ID string
		Before    int64
	}{Before: math.MaxInt64}
	if err := authorizeAndDecode(w, r, &body); err != nil {
		return err
	}
	switch {
	case body.Table == settingsTable:
		if body.ID != "" {
			return errBadID
		}
	case body.Table != seriesWorksTable && !slices.Contains(contentTables, body.Table):
		return errBadTable
	default:
		id, err := uuid.Parse(body.ID)
		if err != nil {
			return errBadID.Because(err)
		}
		body.ID = id.String()
	}
	revisions, err := listHistory(r.Context(), s.db, body.Table, body.ID, body.Before)
	if err != nil {
		return err
	}
	replaced, err := s.cfg.Replaced(r.Context())
	if err != nil {
		return err
	}
	for i := range revisions {
		v := &revisions[i]
		urls, err := urlTexts([]string{string(v.RowBefore)})
		if err != nil {
			return err
		}
		for _, url := range urls {
			if replaced(url, v.changedAt) && !slices.Contains(v.ReplacedFiles, url) {
				v.ReplacedFiles = append(v.ReplacedFiles, url)
			}
		}
		slices.Sort(v.ReplacedFiles)
	}
	return httpx.UncachedJSON(w, revisions)
}
