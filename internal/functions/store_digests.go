package functions

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
)

// This file reads and writes contact_digests, the open digests. A digest is one mail or webhook call about many notices. A notice is a row
// of contact_notices, about a message or about a visitor's reply. An open digest takes further notices.

// openDigest returns the id of the recipient's open digest. If there is none, it stores a new one with the id newID, due at dueAt, and
// returns opened = true. It also replaces a digest that was due at lostBefore or earlier, because such a digest has lost its job and would
// never be sent.
func openDigest(ctx context.Context, tx *db.Tx, newID, channel, recipient string, dueAt, lostBefore time.Time) (id string, opened bool, err error) {
	err = tx.QueryRow(ctx, `insert into contact_digests (id, channel, recipient, due_at) values ($1, $2, $3, $4)
		on conflict (channel, recipient) do update set id = excluded.id, due_at = excluded.due_at where contact_digests.due_at <= $5 returning id`,
		newID, channel, recipient, dueAt, lostBefore).Scan(&id)
	if !errors.Is(err, db.ErrNoRows) {
		return id, true, err
	}
	// The insert above has locked the row until the end of tx, so the digest is not closed before the caller has added a notice.
	err = tx.QueryRow(ctx, "select id from contact_digests where channel = $1 and recipient = $2", channel, recipient).Scan(&id)
	return id, false, err
}

// closeDigest deletes the row of an open digest, so that no more notices join it. Its notices keep its id.
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
