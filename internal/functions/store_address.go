package functions

import (
	"context"
	"errors"
	"strings"
	"time"

	"atelie/internal/db"
)

// messagesOf returns the ids of messages in the inbox that name the address, at most limit.
func messagesOf(ctx context.Context, q db.Querier, address string, limit int) (ids []string, err error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select id from contact_submissions where lower(email) = $1 order by id limit $2", address, limit)
}

// deleteQuarantinedOf deletes the messages in quarantine that name the address, and returns their ids.
func deleteQuarantinedOf(ctx context.Context, tx *db.Tx, address string) (ids []string, err error) {
	return db.Collect(ctx, tx, db.ScanOne[string], "delete from contact_quarantine where lower(email) = $1 returning id", address)
}

// noticesOfAddress returns the notices about messages of the address, and those to the address, oldest first.
func noticesOfAddress(ctx context.Context, q db.Querier, address string) ([]notice, error) {
	return db.Collect(ctx, q, func(row db.Row) (n notice, err error) {
		err = row.Scan(&n.ID, &n.MessageID, &n.Channel, &n.Recipient, &n.QueuedAt, &n.SentAt, &n.FailedAt, &n.LastError)
		return n, err
	}, `select n.id, n.message_id, n.channel, n.recipient, n.queued_at, n.sent_at, n.failed_at, coalesce(n.last_error, '')
		from contact_notices n join contact_submissions m on m.id = n.message_id
		where lower(m.email) = $1 or lower(n.recipient) = $1 order by n.queued_at, n.id`, address)
}

// exported returns the notice as an export of an address shows it.
func (n notice) exported(address string, now time.Time) addressNotice {
	shown := addressNotice{MessageID: n.MessageID, Channel: n.Channel, State: n.state(now), QueuedAt: n.QueuedAt.UTC().Format(time.RFC3339Nano)}
	if strings.EqualFold(n.Recipient, address) {
		shown.Recipient = n.Recipient
	}
	return shown
}

// deleteNoticesTo deletes the notices and digests to an address, and the record of its last thank-you mail, whose subject is
// the address's mailboxHash.
func deleteNoticesTo(ctx context.Context, tx *db.Tx, address, subject string) error {
	return errors.Join(
		db.Exec(ctx, tx, "delete from contact_notices where lower(recipient) = $1", address),
		db.Exec(ctx, tx, "delete from contact_digests where lower(recipient) = $1", address),
		db.Exec(ctx, tx, "delete from contact_thanked where subject = $1", subject),
	)
}
