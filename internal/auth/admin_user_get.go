package auth

import (
	"net/http"

	"atelie/internal/httpx"
)

// AdminGetUser is GET /auth/v1/admin/users/{user_id}, for the service key alone.
func (s *Service) AdminGetUser(w http.ResponseWriter, r *http.Request) error {
	if err := elevated(r.Context()); err != nil {
		return err
	}
	u, err := userInPath(r.Context(), s.db, r)
	if err != nil {
		return err
	}
	return answerUser(w, u)
}

// answerUser sends an account; no cache keeps it.
func answerUser(w http.ResponseWriter, u User) error {
	w.Header().Set("Cache-Control", "no-store")
	return httpx.JSON(w, http.StatusOK, u)
}
