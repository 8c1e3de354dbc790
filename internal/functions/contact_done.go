package functions

import (
	"context"

	"atelie/internal/db"
)

// changeDoneMark handles the actions done and reopen of the contact-reply function (contact_reply.go). It marks the conversation about a
// message as done, or removes the mark, and records the change for live changes. The action done also changes the status of a new message
// to read. When the status becomes new again, for example because the visitor has written, a trigger of the database removes the mark.
func (s *Service) changeDoneMark(ctx context.Context, tx *db.Tx, req replyRequest) error {
	var at any // nil removes the mark
	if req.Action == "done" {
		at = s.now()
	}
	if err := setDone(ctx, tx, req.MessageID, at); err != nil {
		return err
	}
	return s.cfg.RecordUpdated(ctx, tx, req.MessageID)
}
