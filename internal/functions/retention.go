package functions

import (
	"context"
	"errors"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/settings"
)

// This file deletes old messages. Its deleteMessages also deletes the messages that an owner or a visitor erases.

// purgeBatch is how many messages one transaction of PurgeMessages deletes.
const purgeBatch = 100

// PurgeMessages deletes the messages in the inbox that are older than settings.Site.MessageMonths, with everything about them. 0 months
// means that all messages are kept. It keeps messages with a later reply, or with a commission that is accepted or in progress
// (listMessageIDsBefore). Several nodes may call it at the same time.
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
			return s.deleteMessages(ctx, tx, ids)
		})
		if err != nil || len(ids) < purgeBatch {
			return err
		}
	}
}

// deleteMessages deletes messages in the inbox with their notices and jobs, and records the deletions for live changes. RecordDeleted calls
// CleanUpMessages, which queues a JobCleanUp.
func (s *Service) deleteMessages(ctx context.Context, tx *db.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	ids = slices.Sorted(slices.Values(ids)) // two transactions that lock several messages lock them in the same order
	for _, id := range ids {
		if err := lockMessage(ctx, tx, id); err != nil && !errors.Is(err, errNoInboxMessage) { // another transaction may have deleted it
			return err
		}
	}
	// The locks keep replies from being added from here on, so no data of a reply is left behind.
	if err := s.cfg.RecordDeleted(ctx, tx, ids); err != nil {
		return err
	}
	return deleteInboxMessages(ctx, tx, ids)
}

// monthsBefore returns the same day and time the given number of months earlier, or the last day of that month if it has no such day.
// time.AddDate would return a day of the following month in that case, and messages would be deleted some days too early.
func monthsBefore(t time.Time, months int) time.Time {
	t = t.UTC()
	first := time.Date(t.Year(), t.Month()-time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}
