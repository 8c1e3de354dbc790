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
			return s.deleteMessages(ctx, tx, ids)
		})
		if err != nil || len(ids) < purgeBatch {
			return err
		}
	}
}

// deleteMessages deletes messages in the inbox with their notices and jobs, and records the deletions for live changes. The function
// RecordDeleted of the configuration also calls CleanUpMessages, which queues the deletion of the mails about them.
func (s *Service) deleteMessages(ctx context.Context, tx *db.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	ids = slices.Sorted(slices.Values(ids)) // all transactions lock messages in the same order, which prevents deadlocks
	for _, id := range ids {
		if err := lockMessage(ctx, tx, id); err != nil && !errors.Is(err, errNoInboxMessage) { // another transaction may have deleted it
			return err
		}
	}
	// While the messages are locked, no reply can be added, so no data of a reply is left behind.
	if err := s.cfg.RecordDeleted(ctx, tx, ids); err != nil {
		return err
	}
	return deleteInboxMessages(ctx, tx, ids)
}

// monthsBefore returns the same day and time the given number of months earlier, or the last day of that month if it has no such day. For
// example, one month before 31 May is 30 April. time.AddDate would return 1 May, and messages would be deleted some days too early.
func monthsBefore(t time.Time, months int) time.Time {
	t = t.UTC()
	first := time.Date(t.Year(), t.Month()-time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}
