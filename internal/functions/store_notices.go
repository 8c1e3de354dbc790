package functions

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"atelie/internal/db"
	"atelie/internal/i18n"
)

// notice is a row of contact_notices.
type notice struct {
	ID, MessageID, Channel, Recipient string
	Language                          i18n.Language
	QueuedAt                          time.Time
	SentAt, FailedAt                  *time.Time
	LastError                         string
}

// insertNotice adds a notice unless the message has it already; fresh tells which.
func insertNotice(ctx context.Context, q *db.Tx, n notice, now time.Time) (fresh bool, err error) {
	var id string
	err = q.QueryRow(ctx, `insert into contact_notices (id, message_id, channel, recipient, language, queued_at) values ($1, $2, $3, $4, $5, $6)
		on conflict (message_id, channel, recipient) do nothing returning id`, n.ID, n.MessageID, n.Channel, n.Recipient, string(n.Language), now).Scan(&id)
	if errors.Is(err, db.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func deleteNotice(ctx context.Context, q db.Querier, id string) error {
	_, err := q.Exec(ctx, "delete from contact_notices where id = $1", id)
	return err
}

func readNotice(ctx context.Context, q db.Querier, id string) (n notice, m contactMessage, err error) {
	err = q.QueryRow(ctx, `select n.id, n.channel, n.recipient, n.language, n.queued_at, n.sent_at, m.id, m.name, m.email, m.message, m.reason, m.created_at
		from contact_notices n join contact_submissions m on m.id = n.message_id where n.id = $1`, id).
		Scan(&n.ID, &n.Channel, &n.Recipient, &n.Language, &n.QueuedAt, &n.SentAt, &m.ID, &m.Name, &m.Email, &m.Message, &m.Reason, &m.CreatedAt)
	n.MessageID = m.ID
	return n, m, err
}

func markNoticeSent(ctx context.Context, q db.Querier, id string, now time.Time) error {
	_, err := q.Exec(ctx, "update contact_notices set sent_at = $2, failed_at = null, last_error = null where id = $1", id, now)
	return err
}

func markNoticeFailed(ctx context.Context, q db.Querier, id, cause string, final bool, now time.Time) error {
	set := "last_error = $2"
	args := []any{id, cause}
	if final {
		set += ", failed_at = $3"
		args = append(args, now)
	}
	_, err := q.Exec(ctx, "update contact_notices set "+set+" where id = $1 and sent_at is null", args...)
	return err
}

// noticesOf gives the notices of messages, oldest first.
func noticesOf(ctx context.Context, q db.Querier, messageIDs []string) (found []notice, err error) {
	marks, args := make([]string, len(messageIDs)), make([]any, len(messageIDs))
	for i, id := range messageIDs {
		marks[i], args[i] = fmt.Sprintf("$%d", i+1), id
	}
	rows, err := q.Query(ctx, `select id, message_id, channel, recipient, language, queued_at, sent_at, failed_at, coalesce(last_error, '')
		from contact_notices where message_id in (`+strings.Join(marks, ", ")+`) order by queued_at, channel, recipient`, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var n notice
		if err := rows.Scan(&n.ID, &n.MessageID, &n.Channel, &n.Recipient, &n.Language, &n.QueuedAt, &n.SentAt, &n.FailedAt, &n.LastError); err != nil {
			return nil, err
		}
		found = append(found, n)
	}
	return found, rows.Err()
}

func requeueNotice(ctx context.Context, q db.Querier, id string, now time.Time) error {
	_, err := q.Exec(ctx, "update contact_notices set queued_at = $2, failed_at = null, last_error = null where id = $1", id, now)
	return err
}

func readNoticeSettings(ctx context.Context, q db.Querier) (s noticeSettings, err error) {
	rows, err := q.Query(ctx, "select key, value from site_settings where key in ($1, $2, $3, $4)", keyNoticeMail, keyNoticeWebhook, keyNoticeLang, keyThanks)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var key, value string
		if err := rows.Scan(&key, &value); err != nil {
			return s, err
		}
		s.set(key, value)
	}
	return s, rows.Err()
}

// claimThanks notes that a mailbox is thanked now; false when it was since the given moment.
func claimThanks(ctx context.Context, q *db.Tx, subject string, now, since time.Time) (bool, error) {
	var got string
	err := q.QueryRow(ctx, `insert into contact_thanked (subject, sent_at) values ($1, $2)
		on conflict (subject) do update set sent_at = excluded.sent_at where contact_thanked.sent_at <= $3 returning subject`, subject, now, since).Scan(&got)
	if errors.Is(err, db.ErrNoRows) {
		return false, nil
	}
	return err == nil, err
}

func deleteThanked(ctx context.Context, q db.Querier, before time.Time) error {
	_, err := q.Exec(ctx, "delete from contact_thanked where sent_at < $1", before)
	return err
}

// listQuarantined gives a part of the quarantine, newest first, and how many there are in all.
func listQuarantined(ctx context.Context, q db.Querier, from, limit int) (list []contactMessage, total int, err error) {
	if err := q.QueryRow(ctx, "select count(*) from contact_quarantine").Scan(&total); err != nil {
		return nil, 0, err
	}
	rows, err := q.Query(ctx, "select id, name, email, message, reason, created_at from contact_quarantine order by created_at desc, id limit $1 offset $2", limit, from)
	if err != nil {
		return nil, 0, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var m contactMessage
		if err := rows.Scan(&m.ID, &m.Name, &m.Email, &m.Message, &m.Reason, &m.CreatedAt); err != nil {
			return nil, 0, err
		}
		list = append(list, m)
	}
	return list, total, rows.Err()
}

// takeQuarantined removes a message from the quarantine and gives it; db.ErrNoRows when it is not there.
func takeQuarantined(ctx context.Context, q db.Querier, id string) (m contactMessage, err error) {
	err = q.QueryRow(ctx, "delete from contact_quarantine where id = $1 returning id, name, email, message, reason, created_at", id).
		Scan(&m.ID, &m.Name, &m.Email, &m.Message, &m.Reason, &m.CreatedAt)
	return m, err
}
