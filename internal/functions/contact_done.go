package functions

import (
	"context"

	"atelie/internal/db"
)

// markDone handles the actions done and reopen. It also marks an unread message as read. The visitor's next text
// removes the mark done, as does everything else that sets the message's status to new.
func (s *Service) markDone(ctx context.Context, tx *db.Tx, req replyRequest) error {
	var at any
	if req.Action == "done" {
		at = s.now()
	}
	if err := setDone(ctx, tx, req.MessageID, at); err != nil {
		return err
	}
	return s.cfg.RecordUpdated(ctx, tx, req.MessageID)
}
