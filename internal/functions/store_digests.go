package functions

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
)

// This file reads and writes contact_digests.
//   - A notice is a row of contact_notices: it tells one recipient of a visitor's message or reply.
//   - A digest is one mail or webhook call that stands for many notices to one recipient.
//   - A digest is open until it is sent. Further notices can join it. Only open digests are rows of contact_digests.

// findOrOpenDigest returns the id of the recipient's open digest. If there is none, it opens a digest with the id newID, due at dueAt, and
// returns opened = true. The caller then queues the digest's job, which sends the digest.
//
// A digest that was due at lostBefore or earlier does not count: all tries of its job are over, so nothing would send the digest.
// findOrOpenDigest replaces it with a new one.
func findOrOpenDigest(ctx context.Context, tx *db.Tx, newID, channel, recipient string, dueAt, lostBefore time.Time) (id string, opened bool, err error) {
	err = tx.QueryRow(ctx, `insert into contact_digests (id, channel, recipient, due_at) values ($1, $2, $3, $4)
		on conflict (channel, recipient) do update set id = excluded.id, due_at = excluded.due_at where contact_digests.due_at <= $5 returning id`,
		newID, channel, recipient, dueAt, lostBefore).Scan(&id)
	if !errors.Is(err, db.ErrNoRows) { // a digest was opened, or the statement failed
		return id, err == nil, err
	}
	// There is an open digest. The statement above has not changed its row, but has locked it until the end of tx. So the digest cannot be
	// closed before the caller has added a notice.
	err = tx.QueryRow(ctx, "select id from contact_digests where channel = $1 and recipient = $2", channel, recipient).Scan(&id)
	return id, false, err
}

// closeDigest closes a digest before it is sent: it deletes the row, so that no more notices join the digest. The notices that have joined
// keep its id in their column digest_id.
func closeDigest(ctx context.Context, q db.Querier, id string) error {
	return db.Exec(ctx, q, "delete from contact_digests where id = $1", id)
}

// listDigestMessages returns the messages of the unsent notices of a digest, the newest first and at most limit. For a notice about a
// visitor's reply, the entry is the message of the conversation with the text and time of the reply. count is the number of all unsent
// notices of the digest.
func listDigestMessages(ctx context.Context, q db.Querier, id string, limit int) (list []contactMessage, count int, err error) {
	if err := q.QueryRow(ctx, "select count(*) from contact_notices where digest_id = $1 and sent_at is null", id).Scan(&count); err != nil {
		return nil, 0, err
	}
	list, err = db.Collect(ctx, q, func(row db.Row) (m contactMessage, err error) {
		err = row.Scan(&m.ID, &m.Name, &m.Email, &m.Message, &m.Reason, &m.CreatedAt, &m.Pictures)
		return m, err
	}, `select m.id, m.name, m.email, coalesce(r.text, m.message), m.reason, coalesce(r.created_at, m.created_at) as at, `+replyPictures+`
		from contact_notices n join contact_submissions m on m.id = n.message_id left join contact_replies r on r.id = n.reply_id
		where n.digest_id = $1 and n.sent_at is null order by at desc, m.id limit $2`, id, limit)
	if len(list) == 0 { // the messages were deleted between the two reads
		count = 0
	}
	return list, count, err
}

// markDigestSent records that all unsent notices of a digest were sent.
func markDigestSent(ctx context.Context, q db.Querier, id string, now time.Time) error {
	return db.Exec(ctx, q, "update contact_notices set sent_at = $2, failed_at = null, last_error = null where digest_id = $1 and sent_at is null", id, now)
}

// deleteDigestNotices deletes the unsent notices of a digest.
func deleteDigestNotices(ctx context.Context, q db.Querier, id string) error {
	return db.Exec(ctx, q, "delete from contact_notices where digest_id = $1 and sent_at is null", id)
}
