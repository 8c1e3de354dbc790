package tables

import (
	"context"
	"slices"
	"time"

	"atelie/internal/db"
)

// ApplyScheduled shows and hides the works and covers for which a time has come, and records them for live clients. It returns the time
// of the next change, or the zero time if none is scheduled. Every node may call it; each change is made only once.
func (s *Service) ApplyScheduled(ctx context.Context) (next time.Time, err error) {
	now := s.now()
	next, err = nextScheduled(ctx, s.db)
	if err != nil || next.IsZero() || next.After(now) {
		return next, err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		due := map[*Table][]string{} // keys of the changed rows
		var recordDerived []func() error
		for _, flag := range scheduledFlags {
			dueKeys, err := lockDue(ctx, tx, flag, now)
			if err != nil {
				return err
			}
			record, err := s.watchDerived(ctx, tx, flag.table, dueKeys)
			if err != nil {
				return err
			}
			recordDerived = append(recordDerived, record)
			keys, err := setDue(ctx, tx, flag, now)
			if err != nil {
				return err
			}
			for _, key := range keys { // both times of a cover may have come, so that its key was added already
				if !slices.Contains(due[flag.table], key) {
					due[flag.table] = append(due[flag.table], key)
				}
			}
		}
		for t, keys := range due {
			if err := s.recordWritten(ctx, tx, t, keys, unchangedKeys(keys)); err != nil {
				return err
			}
		}
		for _, record := range recordDerived {
			if err := record(); err != nil {
				return err
			}
		}
		next, err = nextScheduled(ctx, tx)
		return err
	})
	return next, err
}
