package functions

import (
	"errors"
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/httpx"
)

// pageSize bounds what one list shows; maxFrom keeps an offset within the databases' own numbers.
const (
	pageSize = 100
	maxFrom  = 1 << 30
)

// quarantineRequest is the body of contact-quarantine. Action is list (also when empty), restore or delete.
type quarantineRequest struct {
	Action string `json:"action"`
	ID     string `json:"id"`
	From   int    `json:"from"`
	Limit  int    `json:"limit"` // 1 to 100; 100 when it is missing
}

type quarantined struct {
	ID        string    `json:"id"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	Message   string    `json:"message"`
	Filled    string    `json:"filled"` // what stood in the hidden field
	CreatedAt time.Time `json:"created_at"`
	ExpiresAt time.Time `json:"expires_at"`
}

// contactQuarantine shows administrators the messages whose hidden field was filled in, and lets them restore or
// delete one (READING §3.1). A restored message keeps its id and its time, and is new and general.
func (s *Service) contactQuarantine(w http.ResponseWriter, r *http.Request) error {
	var req quarantineRequest
	if err := httpx.DecodeJSON(w, r, maxBody, &req); err != nil {
		return err
	}
	switch req.Action {
	case "", "list":
		return s.listQuarantine(w, r, req)
	case "restore", "delete":
	default:
		return errInvalid("The action must be list, restore or delete")
	}
	id, err := uuid.Parse(req.ID)
	if err != nil {
		return errInvalid("The id must be a UUID")
	}
	err = s.db.WithTx(r.Context(), func(tx *db.Tx) error {
		m, err := takeQuarantined(r.Context(), tx, id.String())
		if err != nil || req.Action == "delete" {
			return err
		}
		m.Reason = reasons[0]
		return s.insertRecorded(r.Context(), tx, m)
	})
	if errors.Is(err, db.ErrNoRows) {
		return errNoMessage
	}
	if err != nil {
		return err
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool   `json:"success"`
		ID      string `json:"id"`
	}{true, id.String()})
}

func (s *Service) listQuarantine(w http.ResponseWriter, r *http.Request, req quarantineRequest) error {
	if req.Limit == 0 {
		req.Limit = pageSize
	}
	if req.From < 0 || req.From > maxFrom || req.Limit < 1 || req.Limit > pageSize {
		return errInvalid("from must not be negative, limit must be between 1 and 100")
	}
	found, total, err := listQuarantined(r.Context(), s.db, req.From, req.Limit)
	if err != nil {
		return err
	}
	items := make([]quarantined, len(found))
	for i, m := range found {
		items[i] = quarantined{m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt.UTC(), m.CreatedAt.Add(quarantineTime).UTC()}
	}
	return httpx.JSON(w, http.StatusOK, struct {
		Success bool          `json:"success"`
		Items   []quarantined `json:"items"`
		Total   int           `json:"total"`
	}{true, items, total})
}
