package auth

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file stores when messages were sent (table auth_last_sent). The times are needed for cooldowns (minimum times between two messages)
// and quotas (maximum numbers of messages in a day).

// startCooldown records that a message of a kind is sent to the subject now, and returns true. If less time than interval has passed since
// the previous message, it records nothing and returns false.
//   - subject is a hash of the recipient's address, number or account id, or "owners" for a mail to all owners.
//   - The check and the record are one statement, so that only one of several concurrent requests gets true.
//   - A stored time far in the future is ignored, because only a node (a server of the site) with a wrong clock can have written it.
func startCooldown(ctx context.Context, q db.Querier, kind, subject string, interval time.Duration, now time.Time) (bool, error) {
	return db.Changed(ctx, q, `insert into auth_last_sent (kind, subject, sent_at) values ($1, $2, $3)
		on conflict (kind, subject) do update set sent_at = excluded.sent_at where auth_last_sent.sent_at <= $4 or auth_last_sent.sent_at > $5`,
		kind, subject, now, now.Add(-interval), db.LatestPlausible(now, 0))
}

// lastSent returns when a message of a kind was last sent to a subject, or db.ErrNoRows.
func lastSent(ctx context.Context, q db.Querier, kind, subject string) (at time.Time, err error) {
	return db.One[time.Time](ctx, q, "select sent_at from auth_last_sent where kind = $1 and subject = $2", kind, subject)
}

// saveLastSent records the time of the last message of a kind to a subject.
func saveLastSent(ctx context.Context, q db.Querier, kind, subject string, at time.Time) error {
	return db.Exec(ctx, q, `insert into auth_last_sent (kind, subject, sent_at) values ($1, $2, $3)
		on conflict (kind, subject) do update set sent_at = excluded.sent_at`, kind, subject, at)
}
