package auth

import "net/http"

type recoverRequest struct {
	Email string `json:"email"`
	challenge
}

// Recover is POST /auth/v1/recover: it sends a link and a code that sign in, so that the password can be changed. The
// answer is always {}.
func (s *Service) Recover(w http.ResponseWriter, r *http.Request) error {
	var body recoverRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.Email == "" {
		return errRecoverWithout
	}
	email, err := normalizeEmail(body.Email)
	if err != nil {
		return err
	}
	if _, err := body.validate(); err != nil {
		return err
	}
	return s.ask(w, r, turnRecovery, asked{Kind: askedRecovery, Email: email, Challenge: body.challenge})
}
