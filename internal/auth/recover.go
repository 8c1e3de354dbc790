package auth

import "net/http"

// recoverRequest is the body of Recover.
type recoverRequest struct {
	Email string `json:"email"`
	pkceChallenge
}

// Recover handles POST /auth/v1/recover, for a forgotten password: it mails a link and a code that sign in, so that the password can be
// changed. The response to a valid request is always {}, whether or not the e-mail address has an account.
func (s *Service) Recover(w http.ResponseWriter, r *http.Request) error {
	var body recoverRequest
	if err := decode(w, r, &body); err != nil {
		return err
	}
	if body.Email == "" {
		return errRecoverEmailMissing
	}
	email, err := normalizeEmail(body.Email)
	if err != nil {
		return err
	}
	if _, err := body.validate(); err != nil {
		return err
	}
	return s.requestMessage(w, r, cooldownRecovery, messageRequest{Kind: requestRecovery, Email: email, Challenge: body.pkceChallenge})
}
