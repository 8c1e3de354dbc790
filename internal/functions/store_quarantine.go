package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file reads and writes contact_quarantine, the table of messages that look like spam.

// insertQuarantined stores a message in quarantine. m.Cause (why it looks like spam) must be set. m.ArtworkID is stored only if that work
// (a row of products) is published.
func insertQuarantined(ctx context.Context, q *db.Tx, m contactMessage) error {
	return db.Queue(ctx, q, `insert into contact_quarantine (id, name, email, message, reason, cause, created_at, artwork_id, language)
		values ($1, $2, $3, $4, $5, $6, $7, (select id from products where id = $8 and is_published), $9)`,
		m.ID, m.Name, m.Email, m.Message, m.Reason, m.Cause, m.CreatedAt, m.ArtworkID, nullIfEmpty(string(m.Language)))
}

// PurgeQuarantine deletes the messages that were received longer than quarantineLife (30 days) ago.
func (s *Service) PurgeQuarantine(ctx context.Context) error {
	return db.Exec(ctx, s.db, "delete from contact_quarantine where created_at < $1", s.now().Add(-quarantineLife))
}

// countFlood returns how many of the messages that arrived since the given time are in quarantine because of a flood (too many messages in
// an hour).
func countFlood(ctx context.Context, q db.Querier, since time.Time) (n int, err error) {
	return db.One[int](ctx, q, "select count(*) from contact_quarantine where cause = 'flood' and created_at >= $1", since)
}

// quarantineColumns are the columns that scanQuarantined reads.
const quarantineColumns = "id, name, email, message, reason, cause, created_at, artwork_id, language"

func scanQuarantined(row db.Row) (m contactMessage, err error) {
	var language *string
	err = row.Scan(&m.ID, &m.Name, &m.Email, &m.Message, &m.Reason, &m.Cause, &m.CreatedAt, &m.ArtworkID, &language)
	m.Language = storedLanguage(language)
	return m, err
}

// listQuarantined returns messages in quarantine, the newest first. It skips offset messages and returns at most limit. total is the number
// of all messages in quarantine, and flood is how many of these are in quarantine because of a flood.
func listQuarantined(ctx context.Context, q db.Querier, offset, limit int) (list []contactMessage, total, flood int, err error) {
	if err := q.QueryRow(ctx, "select count(*), count(*) filter (where cause = 'flood') from contact_quarantine").Scan(&total, &flood); err != nil {
		return nil, 0, 0, err
	}
	list, err = db.Collect(ctx, q, scanQuarantined, "select "+quarantineColumns+" from contact_quarantine order by created_at desc, id limit $1 offset $2", limit, offset)
	return list, total, flood, err
}

// removeQuarantined deletes a message from the quarantine and returns it, or db.ErrNoRows if there is no such message.
func removeQuarantined(ctx context.Context, q db.Querier, id string) (contactMessage, error) {
	return scanQuarantined(q.QueryRow(ctx, "delete from contact_quarantine where id = $1 returning "+quarantineColumns, id))
}
