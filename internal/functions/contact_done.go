package functions

import (
	"context"

	"atelie/internal/db"
)

// markDone handles the actions done and reopen of the function contact-reply: it marks the conversation about a message as done, or removes
// the mark. The action done also marks an unread message as read. A trigger removes the mark when the message's status becomes new, for
// example when the visitor writes again.
func (s *Service) markDone(ctx context.Context, tx *db.Tx, req replyRequest) error {
	var at any // nil removes the mark
	if req.Action == "done" {
		at = s.now()
	}
	if err := setDone(ctx, tx, req.MessageID, at); err != nil {
		return err
	}
	return s.cfg.RecordUpdated(ctx, tx, req.MessageID)
}
