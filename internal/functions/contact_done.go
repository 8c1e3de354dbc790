package functions

import (
	"context"

	"atelie/internal/db"
)

// markDone handles the actions done and reopen. It also marks an unread message as read. The mark ends with the visitor's next text, and
// with everything else that makes the message new again.
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
