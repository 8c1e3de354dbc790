package history

import "net/http"

// RestoreFiles answers rpc/restore_files {urls}: it brings the files of a revision back to their public URLs and answers with
// {missing}, the URLs whose files no longer exist. A file that no row refers to 48 hours later is removed again.
func (s *Service) RestoreFiles(w http.ResponseWriter, r *http.Request) error {
	var body struct{ URLs []string }
	if err := read(w, r, &body); err != nil {
		return err
	}
	if len(body.URLs) > maxURLs {
		return errURLs
	}
	missing, err := s.cfg.RestoreFiles(r.Context(), body.URLs)
	if err != nil {
		return err
	}
	return answer(w, map[string][]string{"missing": missing})
}
