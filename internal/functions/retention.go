package functions

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/settings"
)

// purgeBatch is how many messages one transaction of PurgeMessages deletes.
const purgeBatch = 100

// PurgeMessages deletes the messages that are older than the owner wants to keep them (settings.Site.MessageMonths), with
// everything about them, as if the owner had deleted each. It runs on every node; each message is deleted once.
func (s *Service) PurgeMessages(ctx context.Context) error {
	site, err := settings.LoadSite(ctx, s.db)
	if err != nil || site.MessageMonths <= 0 {
		return err
	}
	limit := monthsBefore(s.now(), site.MessageMonths)
	for {
		var ids []string
		err := s.db.WithTx(ctx, func(tx *db.Tx) (err error) {
			if ids, err = messagesBefore(ctx, tx, limit, purgeBatch); err != nil {
				return err
			}
			return s.deleteMessages(ctx, tx, ids)
		})
		if err != nil || len(ids) < purgeBatch {
			return err
		}
	}
}

// deleteMessages deletes messages of the inbox with everything about them: notices, jobs, live events and, by a JobForget, mails
// that were stored as files.
func (s *Service) deleteMessages(ctx context.Context, tx *db.Tx, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	if err := s.cfg.Deleting(ctx, tx, ids); err != nil {
		return err
	}
	return deleteSubmissions(ctx, tx, ids)
}

// monthsBefore returns the same day and time some months earlier. A day that the month does not have becomes its last day:
// time.AddDate would continue into the next month, and messages would be deleted some days too early.
func monthsBefore(t time.Time, months int) time.Time {
	t = t.UTC()
	first := time.Date(t.Year(), t.Month()-time.Month(months), 1, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	last := first.AddDate(0, 1, -1).Day()
	return first.AddDate(0, 0, min(t.Day(), last)-1)
}
