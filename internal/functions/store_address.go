package functions

import (
	"context"
	"errors"
	"strings"
	"time"

	"atelie/internal/db"
)

// This file has the queries that find and delete the data about an e-mail address in messages and notices. The parameter address of all
// functions is in lower case.

// listMessageIDsOf returns the ids of messages in the inbox whose sender has the address, at most limit.
func listMessageIDsOf(ctx context.Context, q db.Querier, address string, limit int) (ids []string, err error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select id from contact_submissions where lower(email) = $1 order by id limit $2", address, limit)
}

// deleteQuarantinedOf deletes the messages in quarantine whose sender has the address, and returns their ids.
func deleteQuarantinedOf(ctx context.Context, tx *db.Tx, address string) (ids []string, err error) {
	return db.Collect(ctx, tx, db.ScanOne[string], "delete from contact_quarantine where lower(email) = $1 returning id", address)
}

// listNoticesOfAddress returns the notices about messages of the address and the notices to the address, the oldest first.
func listNoticesOfAddress(ctx context.Context, q db.Querier, address string) ([]notice, error) {
	return db.Collect(ctx, q, func(row db.Row) (n notice, err error) {
		err = row.Scan(&n.ID, &n.MessageID, &n.Channel, &n.Recipient, &n.QueuedAt, &n.SentAt, &n.FailedAt, &n.LastError)
		return n, err
	}, `select n.id, n.message_id, n.channel, n.recipient, n.queued_at, n.sent_at, n.failed_at, coalesce(n.last_error, '')
		from contact_notices n join contact_submissions m on m.id = n.message_id
		where lower(m.email) = $1 or lower(n.recipient) = $1 order by n.queued_at, n.id`, address)
}

// exportFor returns the entry for the notice in the export of an address. The entry has the recipient only if it is this address.
func (n notice) exportFor(address string, now time.Time) exportedNotice {
	exported := exportedNotice{MessageID: n.MessageID, Channel: n.Channel, State: n.state(now), QueuedAt: n.QueuedAt.UTC().Format(time.RFC3339Nano)}
	if strings.EqualFold(n.Recipient, address) {
		exported.Recipient = n.Recipient
	}
	return exported
}

// deleteNoticesTo deletes the notices (mails about messages) and digests (notices about many messages) to an address. It also deletes the
// time of the most recent thank-you mail to its mailbox, and the counter of copies to it. mailbox is the result of hashMailbox for the
// address.
func deleteNoticesTo(ctx context.Context, tx *db.Tx, address, mailbox string) error {
	return errors.Join(
		db.Exec(ctx, tx, "delete from contact_notices where lower(recipient) = $1", address),
		db.Exec(ctx, tx, "delete from contact_digests where lower(recipient) = $1", address),
		db.Exec(ctx, tx, "delete from contact_thanked where subject = $1", mailbox),
		db.Exec(ctx, tx, "delete from rate_limits where name = $1 and subject = $2", copyLimitMailbox, mailbox),
	)
}
