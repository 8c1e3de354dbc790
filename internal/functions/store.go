package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// contactMessage is a row of contact_submissions or contact_quarantine.
type contactMessage struct {
	ID, Name, Email, Message, Reason string
	CreatedAt                        time.Time
}

func insertSubmission(ctx context.Context, q *db.Tx, m contactMessage) error {
	_, err := q.Exec(ctx, "insert into contact_submissions (id, name, email, message, reason, status, created_at) values ($1, $2, $3, $4, $5, 'new', $6)",
		m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt)
	return err
}

func insertQuarantined(ctx context.Context, q *db.Tx, m contactMessage) error {
	_, err := q.Exec(ctx, "insert into contact_quarantine (id, name, email, message, reason, created_at) values ($1, $2, $3, $4, $5, $6)",
		m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt)
	return err
}

func deleteQuarantined(ctx context.Context, q db.Querier, before time.Time) error {
	_, err := q.Exec(ctx, "delete from contact_quarantine where created_at < $1", before)
	return err
}
