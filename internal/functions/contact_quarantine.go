package functions

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/activity"
	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/identity"
)

// This file handles POST /functions/v1/contact-quarantine. With it, owners (administrators) list the messages in quarantine (messages that
// look like spam), and restore or delete one of them.

const (
	maxListed = 100 // maximum number of messages in one list
	// maxSkipped is the maximum number of messages that a list can skip: more than any site has, and less than the largest OFFSET that both
	// databases accept.
	maxSkipped = 1 << 30
)

// quarantineRequest is the body of a call of contact-quarantine.
type quarantineRequest struct {
	// Action is
	//   - list, or ""
	//   - restore: moves the message to the inbox
	//   - delete
	Action string `json:"action"`
	ID     string `json:"id"`    // id of the message to restore or delete; ignored by list
	Offset int    `json:"from"`  // number of messages that a list skips, the newest ones
	Limit  int    `json:"limit"` // maximum number of messages in a list, 1 to maxListed; 0 or missing means maxListed
}

// quarantinedMessage is one message of the list.
type quarantinedMessage struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	Message   string    `json:"message"`
	Cause     string    `json:"cause"`  // why the message is in quarantine: causeHiddenField or causeFlood
	Filled    string    `json:"filled"` // content of the hidden field; "" if Cause is causeFlood
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// contactQuarantine handles the contact-quarantine function for owners. A restored message keeps its id and its time, and gets the status
// "new". A message with causeHiddenField has what a spam program entered as its reason. When it is restored, it gets the default reason.
func (s *Service) contactQuarantine(w http.ResponseWriter, r *http.Request) error {
	var req quarantineRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	switch req.Action {
	case "", "list":
		return s.listQuarantine(w, r, req)
	case "restore":
		if err := s.cfg.CheckSpace(); err != nil {
			return err
		}
	case "delete":
	default:
		return errInvalid("The action must be list, restore or delete")
	}
	id, err := uuid.Parse(req.ID)
	if err != nil {
		return errInvalid("The id must be a UUID")
	}
	err = s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		linkHash := ""
		if req.Action == "restore" {
			// Otherwise removeQuarantined would delete the link too.
			if linkHash, err = detachLink(r.Context(), tx, id.String()); err != nil {
				return err
			}
		}
		m, err := removeQuarantined(r.Context(), tx, id.String())
		if err != nil {
			return err
		}
		if req.Action == "delete" {
			return errors.Join(
				activity.RecordDeletion(r.Context(), tx, identity.Of(r.Context()).UserID, s.now()),
				s.CleanUpMessages(r.Context(), tx, m.ID),
			)
		}
		if m.Cause == causeHiddenField {
			m.Reason = reasons[0]
		}
		if err := insertInboxMessage(r.Context(), tx, m); err != nil {
			return err
		}
		return errors.Join(s.cfg.RecordInserted(r.Context(), tx, m.ID), attachLink(r.Context(), tx, linkHash, m.ID))
	})
	if err != nil {
		return db.NoRowsAs(err, errNotQuarantined)
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool   `json:"success"`
		ID      string `json:"id"`
	}{true, id.String()})
}

// listQuarantine handles the list action.
func (s *Service) listQuarantine(w http.ResponseWriter, r *http.Request, req quarantineRequest) error {
	if req.Limit == 0 {
		req.Limit = maxListed
	}
	if req.Offset < 0 || req.Offset > maxSkipped || req.Limit < 1 || req.Limit > maxListed {
		return errInvalid(fmt.Sprintf("from must not be negative, limit must be between 1 and %d", maxListed))
	}
	found, total, flood, err := listQuarantined(r.Context(), s.db, req.Offset, req.Limit)
	if err != nil {
		return err
	}
	items := make([]quarantinedMessage, len(found))
	for i, m := range found {
		items[i] = quarantinedMessage{m.ID, m.Name, m.Email, m.Message, m.Cause, "", m.CreatedAt.UTC(), m.CreatedAt.Add(quarantineLife).UTC()}
		if m.Cause == causeHiddenField {
			items[i].Filled = m.Reason
		}
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool                 `json:"success"`
		Items   []quarantinedMessage `json:"items"`
		Total   int                  `json:"total"`
		Flood   int                  `json:"flood"` // how many of Total belong to a flood
	}{true, items, total, flood})
}
