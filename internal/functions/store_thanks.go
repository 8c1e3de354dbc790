package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// claimThanks records that a thank-you mail is sent now. If the same mailbox got one after since, it records nothing and
// returns false. subject is the mailboxHash of the recipient. It ignores a stored time in the future, because a node with a
// wrong clock has written it.
func claimThanks(ctx context.Context, tx *db.Tx, subject string, now, since time.Time) (bool, error) {
	return db.Changed(ctx, tx, `insert into contact_thanked (subject, sent_at) values ($1, $2)
		on conflict (subject) do update set sent_at = excluded.sent_at where contact_thanked.sent_at <= $3 or contact_thanked.sent_at > $4`,
		subject, now, since, db.LatestPlausible(now, 0))
}

// PurgeThanks deletes the records of thank-you mails that are older than thanksInterval and therefore have no effect.
func (s *Service) PurgeThanks(ctx context.Context) error {
	return db.Exec(ctx, s.db, "delete from contact_thanked where sent_at < $1", s.now().Add(-thanksInterval))
}
