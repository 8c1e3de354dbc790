package functions

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// noticesRequest is the body of contact-notices. Action is list (also when empty), retry, or webhook-secret.
type noticesRequest struct {
	Action string   `json:"action"`
	IDs    []string `json:"ids"` // of messages, at most 100
}

type shownNotice struct {
	MessageID string    `json:"message_id"`
	Channel   string    `json:"channel"`
	Recipient string    `json:"recipient"`
	State     string    `json:"state"` // waiting, retrying, sent or failed
	Error     string    `json:"error,omitempty"`
	QueuedAt  time.Time `json:"queued_at"`
}

// contactNotices tells administrators what became of the notices of messages (READING §3.30), and sends the failed ones
// again. Messages that are not there have none. It also tells the key that webhooks are signed with.
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
		}{true, s.webhookSecret()})
	default:
		return errInvalid("The action must be list, retry or webhook-secret")
	}
	if len(req.IDs) == 0 || len(req.IDs) > pageSize {
		return errInvalid("ids must have 1 to 100 entries")
	}
	for i, text := range req.IDs {
		id, err := uuid.Parse(text)
		if err != nil {
			return errInvalid("The ids must be UUIDs")
		}
		req.IDs[i] = id.String()
	}
	if req.Action == "retry" {
		if err := s.retryNotices(r, req.IDs); err != nil {
			return err
		}
	}
	found, err := noticesOf(r.Context(), s.db, req.IDs)
	if err != nil {
		return err
	}
	items := make([]shownNotice, len(found))
	for i, n := range found {
		items[i] = shownNotice{n.MessageID, n.Channel, n.Recipient, n.state(s.now()), n.LastError, n.QueuedAt.UTC()}
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool          `json:"success"`
		Items   []shownNotice `json:"items"`
	}{true, items})
}

// retryNotices queues the failed notices of messages once more.
func (s *Service) retryNotices(r *http.Request, messageIDs []string) error {
	if s.notices.Queue == nil {
		return nil
	}
	return s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		found, err := noticesOf(r.Context(), tx, messageIDs)
		if err != nil {
			return err
		}
		for _, n := range found {
			if n.state(s.now()) != "failed" {
				continue
			}
			kind := JobNotice
			if n.Channel == byPlan {
				kind = JobPlan
			}
			if err := requeueNotice(r.Context(), tx, n.ID, s.now()); err != nil {
				return err
			}
			if err := s.notices.Queue.Enqueue(r.Context(), tx, kind, noticeJob{n.ID}); err != nil {
				return err
			}
		}
		return nil
	})
}
