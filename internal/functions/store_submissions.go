package functions

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"

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

// messagesBefore returns the ids of the messages that arrived at the given time or earlier, the oldest first, at most limit.
func messagesBefore(ctx context.Context, q db.Querier, at time.Time, limit int) (ids []string, err error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select id from contact_submissions where created_at <= $1 order by created_at, id limit $2", at, limit)
}

// deleteSubmissions deletes messages. Their notices go with them.
func deleteSubmissions(ctx context.Context, tx *db.Tx, ids []string) error {
	marks, args := listOf(ids)
	return db.Exec(ctx, tx, "delete from contact_submissions where id in ("+marks+")", args...)
}

// exportedMessage is a message in an export.
type exportedMessage struct {
	ID        string    `json:"id"`
	CreatedAt time.Time `json:"created_at"`
	Name      string    `json:"name"`
	Email     string    `json:"email"`
	Reason    string    `json:"reason"`
	Status    string    `json:"status"` // new, read, replied or quarantine
	Message   string    `json:"message"`
}

// exportAfter returns the messages that follow last in the order of an export, at most limit: those of the inbox (quarantined
// is false) or of the quarantine, the oldest first. The zero last begins with the first one. An address, in lower case, selects
// the messages that name it; "" selects all.
func exportAfter(ctx context.Context, q db.Querier, quarantined bool, address string, last exportedMessage, limit int) ([]exportedMessage, error) {
	from := "reason, status, message from contact_submissions"
	if quarantined { // the hidden field of a quarantined message may contain anything
		from = "case when cause = 'flood' then reason else '' end, 'quarantine', message from contact_quarantine"
	}
	id := last.ID
	if id == "" {
		id = uuid.Nil.String()
	}
	return db.Collect(ctx, q, func(row db.Row) (m exportedMessage, err error) {
		err = row.Scan(&m.ID, &m.CreatedAt, &m.Name, &m.Email, &m.Reason, &m.Status, &m.Message)
		m.CreatedAt = m.CreatedAt.UTC()
		return m, err
	}, "select id, created_at, name, email, "+from+" where (created_at > $1 or (created_at = $1 and id > $2)) and ($3 = '' or lower(email) = $3) order by created_at, id limit $4",
		last.CreatedAt, id, address, limit)
}

// listOf returns the placeholders of an SQL list ("$1, $2") and their arguments.
func listOf(values []string) (marks string, args []any) {
	places := make([]string, len(values))
	for i, value := range values {
		places[i] = fmt.Sprintf("$%d", i+1)
		args = append(args, value)
	}
	return strings.Join(places, ", "), args
}

func hasMessage(ctx context.Context, q db.Querier, id string) (found bool, err error) {
	return db.One[bool](ctx, q, "select exists (select 1 from contact_submissions where id = $1)", id)
}
