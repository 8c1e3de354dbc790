package functions

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
	"atelie/internal/jobs"
)

// This file handles POST /functions/v1/contact-notices, with which owners (administrators) see and retry notices. A notice is a mail or a
// webhook call about a visitor's message (notice_sending.go). The file also counts the unsent mails for the health of the site
// (CountUnsentMails).

// maxNoticeIDs is the maximum number of messages in one call of contact-notices.
const maxNoticeIDs = 100

// noticesRequest is the body of a call of contact-notices.
type noticesRequest struct {
	// Action is
	//   - list, or "": returns the notices about the messages
	//   - retry: queues the failed notices about the messages again, and then responds like list
	//   - webhook-secret: returns the key that signs webhook calls
	Action string   `json:"action"`
	IDs    []string `json:"ids"` // ids of messages, at most maxNoticeIDs; ignored by webhook-secret
}

// listedNotice is a notice in the response. The admin area shows it beside the message.
type listedNotice struct {
	MessageID string    `json:"message_id"`
	Channel   string    `json:"channel"`         // one of the channel constants, such as channelMail
	Recipient string    `json:"recipient"`       // e-mail address, or host of the webhook; "" while it is not known (channelPlan)
	State     string    `json:"state"`           // waiting, retrying, sent or failed
	Error     string    `json:"error,omitempty"` // why the most recent attempt failed; "" if no attempt has failed
	QueuedAt  time.Time `json:"queued_at"`
}

// contactNotices handles the contact-notices function for owners. It ignores the ids of unknown messages.
func (s *Service) contactNotices(w http.ResponseWriter, r *http.Request) error {
	var req noticesRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	switch req.Action {
	case "", "list", "retry":
	case "webhook-secret":
		return httpx.JSON(w, http.StatusOK, struct {
			Success bool   `json:"success"`
			Secret  string `json:"secret"`
		}{true, "whsec_" + base64.StdEncoding.EncodeToString(s.cfg.WebhookKey)}) // as Standard Webhooks 1.0 defines for receivers
	default:
		return errInvalid("The action must be list, retry or webhook-secret")
	}
	if len(req.IDs) == 0 || len(req.IDs) > maxNoticeIDs {
		return errInvalid(fmt.Sprintf("ids must have 1 to %d entries", maxNoticeIDs))
	}
	for i, text := range req.IDs {
		id, err := uuid.Parse(text)
		if err != nil {
			return errInvalid("The ids must be UUIDs")
		}
		req.IDs[i] = id.String()
	}
	if req.Action == "retry" {
		if err := s.cfg.CheckSpace(); err != nil {
			return err
		}
		if err := s.retryNotices(r, req.IDs); err != nil {
			return err
		}
	}
	found, err := listNotices(r.Context(), s.db, req.IDs)
	if err != nil {
		return err
	}
	items := make([]listedNotice, len(found))
	for i, n := range found {
		items[i] = listedNotice{n.MessageID, n.Channel, n.Recipient, n.state(s.now()), n.LastError, n.QueuedAt.UTC()}
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool           `json:"success"`
		Items   []listedNotice `json:"items"`
	}{true, items})
}

// retryNotices queues the failed notices of the messages again.
func (s *Service) retryNotices(r *http.Request, messageIDs []string) error {
	return s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		found, err := listNotices(r.Context(), tx, messageIDs)
		if err != nil {
			return err
		}
		for _, n := range found {
			requeued, err := requeueNotice(r.Context(), tx, n.ID, s.now())
			if err != nil {
				return err
			}
			if !requeued {
				continue
			}
			kind := JobNotice
			switch n.Channel {
			case channelPlan:
				kind = JobPlan
			case channelCopy:
				kind = JobCopy
			}
			if err := s.cfg.Queue.Add(r.Context(), tx, jobs.Job{Kind: kind, Payload: noticeJob{n.ID}, About: n.MessageID}); err != nil {
				return err
			}
		}
		return nil
	})
}

// failedLife is how long a failed mail is counted after its failure.
const failedLife = 30 * 24 * time.Hour

// UnsentMails contains the numbers of unsent mails: those about visitors' messages, and the thank-you mails. A digest is one mail.
type UnsentMails struct {
	Waiting int       // another attempt follows
	Retried int       // how many of Waiting have failed at least once
	Failed  int       // no attempt follows, because all have failed or noticeLife is over; only failures within failedLife
	Oldest  time.Time // when the oldest of the waiting mails was queued; thank-you mails do not count; zero if there is none
}
