package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// claimThanks records that a thank-you mail is sent to a mailbox now, and returns true. If the mailbox has got one after since, it
// records nothing and returns false. mailbox is the hashMailbox of the recipient. A recorded time in the future does not count,
// because a node with a wrong clock has written it.
func claimThanks(ctx context.Context, tx *db.Tx, mailbox string, now, since time.Time) (bool, error) {
	return db.Changed(ctx, tx, `insert into contact_thanked (subject, sent_at) values ($1, $2)
		on conflict (subject) do update set sent_at = excluded.sent_at where contact_thanked.sent_at <= $3 or contact_thanked.sent_at > $4`,
		mailbox, now, since, db.LatestPlausible(now, 0))
}

// PurgeThanks deletes the records of thank-you mails that are older than thanksInterval. claimThanks does not need them any more.
func (s *Service) PurgeThanks(ctx context.Context) error {
	return db.Exec(ctx, s.db, "delete from contact_thanked where sent_at < $1", s.now().Add(-thanksInterval))
}
