package history

import (
	"net/http"
	"time"

	"atelie/internal/httpx"
)

// RestoreFiles handles rpc/restore_files {urls, at}. The browser calls it before it saves an earlier version of a row. It restores removed
// files at their public URLs. If the request has at, it also restores the earlier content of files that were replaced since that time. The
// response is {missing}: the URLs whose files no longer exist. A restored file is removed again if no row refers to it after 48 hours.
func (s *Service) RestoreFiles(w http.ResponseWriter, r *http.Request) error {
	var body struct {
		URLs []string
		At   string
	}
	if err := authorizeAndDecode(w, r, &body); err != nil {
		return err
	}
	if len(body.URLs) > maxURLs {
		return errTooManyURLs
	}
	var at time.Time
	if body.At != "" {
		var err error
		if at, err = time.Parse(time.RFC3339Nano, body.At); err != nil || at.IsZero() {
			return errBadTime.Because(err)
		}
	}
	missing, err := s.cfg.RestoreFiles(r.Context(), body.URLs, at)
	if err != nil {
		return err
	}
	return httpx.UncachedJSON(w, map[string][]string{"missing": missing})
}
