package functions

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/i18n"
	"atelie/internal/settings"
)

// This file handles POST /functions/v1/submit-contact, which stores a visitor's message. parse_contact.go reads the form, and
// validate_contact.go checks its fields.

// reasons are the valid values of the form's field "reason". The first one is the default. The form hides this field from visitors, and the
// site's scripts set it if the message is about a work. The hidden field is also a honeypot: only spam programs enter another value.
var reasons = []string{"general", "commission", "purchase", "collaboration"}

// quarantineLife is how long a message stays in quarantine before it is deleted.
const quarantineLife = 30 * 24 * time.Hour

// defaultStoreTimeout is the timeout of writes and queries that must continue when the request ends, such as storing a message.
const defaultStoreTimeout = 15 * time.Second

// contactRequest is the body of a call of submit-contact.
type contactRequest struct {
	Name     string `json:"name"`
	Email    string `json:"email"`
	Message  string `json:"message"`
	Reason   string `json:"reason"`
	Language string `json:"language"` // language of the response: "pt", or English for any other value
	// ArtworkID is the id of the work that the message asks about, or "". A value that is not a UUID becomes "" and is not an error,
	// because it is more important to store the message than to know the work.
	ArtworkID artworkID `json:"artwork_id"`
	// Follow is whether the visitor wants a private link to the message. If the site has such links, the response contains the URL.
	Follow follow `json:"follow"`

	responseLanguage i18n.Language // the result of requestedLanguage for Language
}

// submitContact handles the submit-contact function. A message that looks like spam goes into quarantine (docs/product.md, rule 13). Its
// response is the same as for any other message, so that spam programs cannot detect the quarantine.
func (s *Service) submitContact(w http.ResponseWriter, r *http.Request) error {
	req, err := readContactRequest(w, r)
	if err != nil {
		return err
	}
	req.responseLanguage = requestedLanguage(r, req.Language)
	if problems := req.normalizeAndValidate(); len(problems) > 0 {
		return errInvalid(req.responseLanguage.Text(problems[0].key))
	}
	link, err := s.storeMessage(r.Context(), req)
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success     bool   `json:"success"`
		Message     string `json:"message"`
		EnquiryURL  string `json:"enquiry_url,omitempty"`
		EnquiryCopy bool   `json:"enquiry_copy,omitempty"`
	}{true, req.responseLanguage.Text("contact.toast.sentBody"), link.URL, link.Copy})
}

// storeMessage stores a message that has passed normalizeAndValidate. The message goes into quarantine if its hidden field was filled in,
// or if it is part of a flood. It is stored even if the visitor closes the page.
func (s *Service) storeMessage(ctx context.Context, req contactRequest) (response linkResponse, err error) {
	m := contactMessage{
		ID: uuid.NewString(), Name: req.Name, Email: req.Email, Message: req.Message, Reason: req.Reason,
		ArtworkID: req.ArtworkID.pointer(), Language: req.responseLanguage, CreatedAt: s.now(),
	}
	switch {
	case req.Reason == "":
		m.Reason = reasons[0]
	case !slices.Contains(reasons, req.Reason):
		m.Reason, m.Cause = sanitize(req.Reason), causeHiddenField
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), s.storeTimeout)
	defer cancel()
	addLink, addCopy := func(*db.Tx) error { return nil }, func(*db.Tx) error { return nil }
	if req.Follow {
		site, err := settings.LoadSite(ctx, s.db)
		if err != nil {
			return response, err
		}
		if site.EnquiryLinks {
			link := s.newLink(m.CreatedAt)
			response.URL = s.urlOf(link)
			addLink = func(tx *db.Tx) error { return insertLink(ctx, tx, link, m.ID) }
			response.Copy = site.EnquiryCopies && s.cfg.MailServer
		}
	}
	if response.Copy && m.Cause == "" {
		allowed, err := s.countCopy(ctx, m.Email)
		if err != nil {
			return response, err
		}
		if allowed {
			addCopy = func(tx *db.Tx) error {
				return s.queueNotice(ctx, tx, JobCopy, notice{MessageID: m.ID, Channel: channelCopy, Recipient: m.Email, Language: m.Language})
			}
		}
	}
	return response, s.db.WithShortTx(ctx, func(tx *db.Tx) error {
		if m.Cause != "" {
			return errors.Join(insertQuarantined(ctx, tx, m), addLink(tx))
		}
		limit, hour, err := s.countAgainstFloodLimit(ctx, tx)
		if err != nil {
			return err
		}
		// None of these calls waits for a result. The last three find no message in the inbox if it is part of a flood.
		return errors.Join(
			insertUnlessFlood(ctx, tx, m, limit, hour),
			addLink(tx),
			s.cfg.RecordInserted(ctx, tx, m.ID),
			s.queueNotice(ctx, tx, JobPlan, notice{MessageID: m.ID, Channel: channelPlan, Language: m.Language}),
			addCopy(tx),
		)
	})
}
