package history

import "net/http"

// RestoreFiles answers rpc/restore_files {urls}. It brings removed files back to their public URLs and answers with {missing}, the
// URLs whose files no longer exist. A file to which no row refers 48 hours later is removed again.
func (s *Service) RestoreFiles(w http.ResponseWriter, r *http.Request) error {
	var body struct{ URLs []string }
	if err := decodeRequest(w, r, &body); err != nil {
		return err
	}
	if len(body.URLs) > maxURLs {
		return errTooManyURLs
	}
	missing, err := s.cfg.RestoreFiles(r.Context(), body.URLs)
	if err != nil {
		return err
	}
	return respondUncached(w, map[string][]string{"missing": missing})
}
