package functions

import (
	"context"
	"time"

	"atelie/internal/db"
)

// contactMessage is a row of contact_submissions or contact_quarantine.
type contactMessage struct {
	ID, Name, Email, Message, Reason string
	Cause                            string // why the message is in quarantine: causeField or causeFlood; "" when it is not
	CreatedAt                        time.Time
}

// insertSubmission stores a message with the status "new".
func insertSubmission(ctx context.Context, q *db.Tx, m contactMessage) error {
	return db.Exec(ctx, q, "insert into contact_submissions (id, name, email, message, reason, status, created_at) values ($1, $2, $3, $4, $5, 'new', $6)",
		m.ID, m.Name, m.Email, m.Message, m.Reason, m.CreatedAt)
}

func scanSubmission(row db.Row) (m contactMessage, err error) {
	err = row.Scan(&m.ID, &m.Name, &m.Email, &m.Message, &m.Reason, &m.CreatedAt)
	return m, err
}

func hasMessage(ctx context.Context, q db.Querier, id string) (found bool, err error) {
	return db.One[bool](ctx, q, "select exists (select 1 from contact_submissions where id = $1)", id)
}
