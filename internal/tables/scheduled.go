package tables

import (
	"context"
	"slices"
	"time"

	"atelie/internal/db"
)

// ApplyScheduled shows and hides the works and covers whose scheduled time has come, and records them for live clients. To show or hide a
// row, it sets one of the row's scheduled flags, such as is_published (see store_scheduled.go). It returns the time of the next change, or
// the zero time if none is scheduled. Every node may call it, and each change is made only once.
func (s *Service) ApplyScheduled(ctx context.Context) (next time.Time, err error) {
	now := s.now()
	next, err = nextScheduled(ctx, s.db)
	if err != nil || next.IsZero() || next.After(now) {
		return next, err
	}
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		changed := map[*Table][]string{} // keys of the changed rows, by table
		var recordDerived []func() error // functions that record the rows that triggers change (see derived.go)
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
			for _, key := range keys { // a cover has two flags; if both were set, its key is already in the list
				if !slices.Contains(changed[flag.table], key) {
					changed[flag.table] = append(changed[flag.table], key)
				}
			}
		}
		for t, keys := range changed {
			if err := s.recordWritten(ctx, tx, t, keys, sameKeys(keys)); err != nil {
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
