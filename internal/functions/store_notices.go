package functions

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// This file reads and writes contact_notices, the table of notices (mails and webhook calls about visitors' messages). The messages are in
// contact_submissions (the inbox) or contact_quarantine. Only messages in the inbox have notices.

// notice is a row of contact_notices.
type notice struct {
	ID, MessageID, Channel, Recipient string // Channel is one of the channel constants in notice_sending.go
	ReplyID                           string // the visitor's reply that the notice is about; "" for the message itself
	ReplyKind                         string // kind of that reply (contact_replies.kind); "" for the message itself
	Language                          i18n.Language
	QueuedAt                          time.Time
	SentAt, FailedAt                  *time.Time // when the notice was sent, and when its last attempt failed; nil if that has not happened
	LastError                         string     // why the most recent attempt failed; "" if no attempt has failed
	DigestID                          string     // the digest (one mail about many notices) that contains the notice; "" for a notice that is sent alone
}

// insertNotice stores a notice that is queued now. It stores nothing, and inserted is false, if there is a notice about the same message or
// reply for the same channel and recipient.
func insertNotice(ctx context.Context, q *db.Tx, n notice, now time.Time) (inserted bool, err error) {
	return db.Changed(ctx, q, `insert into contact_notices (id, message_id, channel, recipient, language, queued_at, digest_id, reply_id) values ($1, $2, $3, $4, $5, $6, $7, $8)
		on conflict do nothing`, n.ID, n.MessageID, n.Channel, n.Recipient, string(n.Language), now, nullIfEmpty(n.DigestID), nullIfEmpty(n.ReplyID))
}

// nullIfEmpty returns text as a query argument. For "" it returns nil, which is NULL in SQL.
func nullIfEmpty(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// insertIfInInbox stores a notice that is queued now: one with channelPlan or channelCopy. It stores nothing if the message is not in the
// inbox. A row with channelPlan is for a new message, whose recipients are not known yet. It lets the owner see that notices are queued, or
// that they have failed. JobPlan finds the recipients and replaces the row with one row for each notice.
func insertIfInInbox(ctx context.Context, tx *db.Tx, n notice, now time.Time) error {
	return db.Queue(ctx, tx, `insert into contact_notices (id, message_id, channel, recipient, language, queued_at) select $1, $2, $3, $4, $5, $6
		where exists (select 1 from contact_submissions where id = $2)`, n.ID, n.MessageID, n.Channel, n.Recipient, string(n.Language), now)
}

func deleteNotice(ctx context.Context, q db.Querier, id string) error {
	return db.Exec(ctx, q, "delete from contact_notices where id = $1", id)
}

// readNotice returns a notice and its message. For a notice about a reply, the message has the text and time of the reply. The error is
// db.ErrNoRows if the notice was deleted. A notice is deleted together with its message or reply.
func readNotice(ctx context.Context, q db.Querier, id string) (n notice, m contactMessage, err error) {
	err = q.QueryRow(ctx, `select n.id, n.channel, n.recipient, n.language, n.queued_at, n.sent_at, coalesce(cast(n.reply_id as text), ''), coalesce(r.kind, ''),
			m.id, m.name, m.email, coalesce(r.text, m.message), m.reason, coalesce(r.created_at, m.created_at), `+replyPictures+`
		from contact_notices n join contact_submissions m on m.id = n.message_id left join contact_replies r on r.id = n.reply_id where n.id = $1`, id).
		Scan(&n.ID, &n.Channel, &n.Recipient, &n.Language, &n.QueuedAt, &n.SentAt, &n.ReplyID, &n.ReplyKind, &m.ID, &m.Name, &m.Email, &m.Message, &m.Reason, &m.CreatedAt, &m.Pictures)
	n.MessageID = m.ID
	return n, m, err
}

// markNoticeSent records that a notice was sent. exists is false if the notice was deleted while it was sent.
func markNoticeSent(ctx context.Context, q db.Querier, id string, now time.Time) (exists bool, err error) {
	return db.Changed(ctx, q, "update contact_notices set sent_at = $2, failed_at = null, last_error = null where id = $1", id, now)
}

// markFailed records a failed attempt to send the unsent notices whose column ("id" or "digest_id") has the value id. final is
// whether no other attempt follows.
func markFailed(ctx context.Context, q db.Querier, column, id, cause string, final bool, now time.Time) error {
	var failedAt *time.Time
	if final {
		failedAt = &now
	}
	return db.Exec(ctx, q, "update contact_notices set last_error = $2, failed_at = coalesce($3, failed_at) where "+column+" = $1 and sent_at is null", id, cause, failedAt)
}

// CountUnsentMails counts the mails of this package that are not sent. A mail that is still unsent after noticeLife counts as failed, as in
// notice.state.
func (s *Service) CountUnsentMails(ctx context.Context) (m UnsentMails, err error) {
	const waiting = "failed_at is null and queued_at > $1"
	var oldest *time.Time
	err = s.db.QueryRow(ctx, `select count(distinct coalesce(digest_id, id)) filter (where `+waiting+`),
		count(distinct coalesce(digest_id, id)) filter (where `+waiting+` and last_error is not null),
		count(distinct coalesce(digest_id, id)) filter (where not (`+waiting+`) and coalesce(failed_at, queued_at) > $2),
		min(case when `+waiting+` and channel = '`+channelMail+`' then queued_at end)
		from contact_notices where sent_at is null and channel in ('`+channelMail+`', '`+channelThanks+`', '`+channelCopy+`')`,
		s.now().Add(-noticeLife), s.now().Add(-failedLife)).Scan(&m.Waiting, &m.Retried, &m.Failed, &oldest)
	if oldest != nil {
		m.Oldest = *oldest
	}
	return m, err
}

// selectNotices is the beginning of the queries whose rows scanNotice reads.
const selectNotices = `select n.id, n.message_id, n.channel, n.recipient, n.language, n.queued_at, n.sent_at, n.failed_at, coalesce(n.last_error, '') from contact_notices n `

func scanNotice(row db.Row) (n notice, err error) {
	err = row.Scan(&n.ID, &n.MessageID, &n.Channel, &n.Recipient, &n.Language, &n.QueuedAt, &n.SentAt, &n.FailedAt, &n.LastError)
	return n, err
}

// listNotices returns the notices about messages, the oldest first.
func listNotices(ctx context.Context, q db.Querier, messageIDs []string) (found []notice, err error) {
	list, args := db.AppendList(nil, messageIDs)
	return db.Collect(ctx, q, scanNotice, selectNotices+"where n.message_id in ("+list+") order by n.queued_at, n.channel, n.recipient", args...)
}

// hasCopy reports whether a copy of a message is or was mailed to the visitor.
func hasCopy(ctx context.Context, q db.Querier, messageID string) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from contact_notices where message_id = $1 and channel = '"+channelCopy+"')", messageID)
}

// requeueNotice changes a failed notice to one that is queued now and belongs to no digest. The condition is that of notice.state. requeued
// is false if the notice has not failed, or another transaction has queued it meanwhile.
func requeueNotice(ctx context.Context, q db.Querier, id string, now time.Time) (requeued bool, err error) {
	return db.Changed(ctx, q, `update contact_notices set queued_at = $2, failed_at = null, last_error = null, digest_id = null
		where id = $1 and sent_at is null and (failed_at is not null or queued_at <= $3)`, id, now, now.Add(-noticeLife))
}

// claimThanks records that a thank-you mail is sent to a mailbox now, and returns true. If one was sent to the mailbox after since, it
// records nothing and returns false. mailbox is the result of hashMailbox for the recipient. A recorded time in the future does not count,
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
