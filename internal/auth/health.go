package auth

import (
	"net/http"

	"atelie/internal/httpx"
)

// healthResponse is the response body of Health.
type healthResponse struct {
	Version     string `json:"version"`
	Name        string `json:"name"`
	Description string `json:"description"`
}

// Health handles GET /auth/v1/health. The status is 200 if the database responds, and 503 if it does not.
func (s *Service) Health(w http.ResponseWriter, r *http.Request) error {
	if err := s.db.Ping(r.Context()); err != nil {
		return errUnhealthy.Because(err)
	}
	return httpx.JSON(w, http.StatusOK, healthResponse{Version: s.cfg.Version, Name: "atelie", Description: "Authentication service"})
}
