package functions

import (
	"context"
	"errors"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/settings"
)

// This file deletes messages in the inbox: once an hour those that are older than the retention in the settings, and on request those that
// an owner or a visitor erases.

// purgeBatch is the maximum number of messages that one transaction of PurgeMessages deletes.
const purgeBatch = 100

// PurgeMessages deletes the messages in the inbox that are older than settings.Site.MessageMonths, with everything about them. If that is
// 0, it deletes nothing. It keeps messages with a later reply, and those with a commission that is accepted or in progress. Several nodes
// (servers) may call it at the same time.
func (s *Service) PurgeMessages(ctx context.Context) error {
	site, err := settings.LoadSite(ctx, s.db)
	if err != nil || site.MessageMonths <= 0 {
		return err
	}
	cutoff := monthsBefore(s.now(), site.MessageMonths)
	for {
		var ids []string
		err := s.db.WithTx(ctx, func(tx *db.Tx) (err error) {
			if ids, err = listMessageIDsBefore(ctx, tx, cutoff, purgeBatch); err != nil {
				return err
			}
			if err := lockMessages(ctx, tx, ids); err != nil {
				return err
			}
			// On PostgreSQL, a reply or a commission can have been stored before the locks. The second list leaves such messages out.
			recheckedIDs, err := listMessageIDsBefore(ctx, tx, cutoff, purgeBatch)
			if err != nil {
				return err
			}
			lockedIDs := slices.DeleteFunc(recheckedIDs, func(id string) bool { return !slices.Contains(ids, id) })
			return s.deleteLocked(ctx, tx, lockedIDs)
		})
		if err != nil || len(ids) < purgeBatch {
			return err
		}
	}
}

// deleteMessages locks messages in the inbox and deletes them.
func (s *Service) deleteMessages(ctx context.Context, tx *db.Tx, ids []string) error {
	if err := lockMessages(ctx, tx, ids); err != nil {
		return err
	}
	return s.deleteLocked(ctx, tx, ids)
}

// lockMessages locks messages in the inbox. Those that another transaction has deleted are no error.
func lockMessages(ctx context.Context, tx *db.Tx, ids []string) error {
	for _, id := range slices.Sorted(slices.Values(ids)) { // all transactions lock messages in the same order, which prevents deadlocks
		if err := lockMessage(ctx, tx, id); err != nil && !errors.Is(err, errNoInboxMessage) {
			return err
		}
	}
	return nil
}

// monthsBefore returns the same day and time the given number of months earlier, or the last day of that month if it has no such day. For
// example, one month before 31 May is 30 April. time.AddDate would return 1 May, and messages would be deleted some days too early.
func monthsBefore(t time.Time, months int) time.Time {
	t = t.UTC()
	first := time.Date(t.Year(), t.Month()-time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}
