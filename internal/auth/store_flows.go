package auth

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"atelie/internal/db"
)

// takeTurn notes that a message is asked for, unless the last one went out after the given moment; then it returns
// false. One statement, so that of many at once one succeeds.
func takeTurn(ctx context.Context, q db.Querier, kind, subject string, notAfter, now time.Time) (bool, error) {
	n, err := q.Exec(ctx, `insert into auth_last_sent (kind, subject, sent_at) values ($1, $2, $3)
		on conflict (kind, subject) do update set sent_at = excluded.sent_at where auth_last_sent.sent_at <= $4`, kind, subject, now, notAfter)
	return n == 1, err
}

func lastTurn(ctx context.Context, q db.Querier, kind, subject string) (at time.Time, err error) {
	err = q.QueryRow(ctx, "select sent_at from auth_last_sent where kind = $1 and subject = $2", kind, subject).Scan(&at)
	return at, err
}

// sessionFacts gives how and when a session was opened; db.ErrNoRows when it has ended.
func sessionFacts(ctx context.Context, q db.Querier, id, userID string) (aal string, opened time.Time, err error) {
	err = q.QueryRow(ctx, "select aal, created_at from auth_sessions where id = $1 and user_id = $2", id, userID).Scan(&aal, &opened)
	return aal, opened, err
}

// mostPending is how many accounts that want to change to one address a code is compared for; newest first.
const mostPending = 5

// usersChangingEmail gives the accounts that have asked to change to the address.
func usersChangingEmail(ctx context.Context, q db.Querier, address string) ([]string, error) {
	return userIDs(ctx, q, `select id from auth_users where email_change = $1 and deleted_at is null
		order by email_change_sent_at desc, id limit $2`, address, mostPending)
}

// usersChangingPhone gives the accounts that have asked to change to the number.
func usersChangingPhone(ctx context.Context, q db.Querier, phone string) ([]string, error) {
	return userIDs(ctx, q, `select id from auth_users where phone_change = $1 and deleted_at is null
		order by phone_change_sent_at desc, id limit $2`, phone, mostPending)
}

func userIDs(ctx context.Context, q db.Querier, query string, args ...any) (ids []string, err error) {
	rows, err := q.Query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	return ids, rows.Err()
}

// setIdentityData replaces what is kept with an identity.
func setIdentityData(ctx context.Context, tx *db.Tx, identityID string, data map[string]any, now time.Time) error {
	text, err := json.Marshal(data)
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "update auth_identities set identity_data = $2, updated_at = $3 where id = $1", identityID, string(text), now)
	return err
}
