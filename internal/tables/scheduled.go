package tables

import (
	"context"
	"time"

	"atelie/internal/db"
)

// PublishScheduled publishes the works whose scheduled time has come, and records the changes for live clients. It returns the time at
// which the next work is due, or the zero time if none is scheduled. Several nodes may call it at the same time: each work is published
// once.
func (s *Service) PublishScheduled(ctx context.Context) (next time.Time, err error) {
	now := s.now()
	next, err = nextScheduled(ctx, s.db)
	if err != nil || next.IsZero() || next.After(now) {
		return next, err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		keys, err := publishDue(ctx, tx, now)
		if err != nil {
			return err
		}
		if err := s.recordWritten(ctx, tx, schema["products"], keys, unchangedKeys(keys)); err != nil {
			return err
		}
		next, err = nextScheduled(ctx, tx)
		return err
	})
	return next, err
}
