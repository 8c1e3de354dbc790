package functions

import (
	"context"
	"net/http"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// This file handles POST /functions/v1/mail-test, with which owners (administrators) send themselves a mail to check the mail server.

const (
	mailTestsPerMinute = 3                // by one account
	mailTestTimeout    = 20 * time.Second // the mail server must accept a test mail within this time
)

// Results of a test mail.
const (
	mailSent    = "sent"   // the mail server has accepted the mail
	mailWritten = "kept"   // no mail server is configured, so the mail was written to a file in the data folder
	mailFailed  = "failed" // the mail could not be sent; the field "error" of the response says why
)

// mailTestRequest is the body of a call of mail-test.
type mailTestRequest struct {
	// Action is
	//   - status, or "": returns whether a mail server is configured
	//   - send: sends a mail to the caller's own e-mail address and returns the result
	Action string `json:"action"`
}

// mailTest handles the mail-test function for owners. It sends the mail during the call, without the queue of jobs.
func (s *Service) mailTest(w http.ResponseWriter, r *http.Request) error {
	var req mailTestRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	switch req.Action {
	case "", "status":
		return httpx.JSON(w, http.StatusOK, struct {
			Success bool `json:"success"`
			Server  bool `json:"server"` // whether a mail server is configured; without one, mails are written to files
		}{true, s.cfg.MailServer})
	case "send":
		if err := s.cfg.CheckSpace(); err != nil {
			return err
		}
	default:
		return errInvalid("The action must be status or send")
	}
	caller := identity.Of(r.Context())
	if err := s.enforceLimit(w, r, "mail-test", caller.UserID, mailTestsPerMinute, errTooManyTests); err != nil {
		return err
	}
	to, err := s.cfg.OwnAddress(r.Context(), caller.UserID)
	if err != nil {
		return err
	}
	if to.Email == "" { // the caller has the service key (the API key with full rights), or is an account with only a phone number
		return errNoAddress
	}
	result, cause := mailSent, ""
	ctx, cancel := context.WithTimeout(r.Context(), mailTestTimeout)
	defer cancel()
	switch err := s.cfg.SendTest(ctx, to); {
	case err != nil:
		httpx.NoteError(r.Context(), apperr.From(err))
		result, cause = mailFailed, errorSummary(err)
	case !s.cfg.MailServer:
		result = mailWritten
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool   `json:"success"`
		Result  string `json:"result"`
		To      string `json:"to"`
		Error   string `json:"error,omitempty"`
	}{true, result, to.Email, cause})
}
