package backup

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file contains the queries on backup_status and backup_blobs.

func scanState(row db.Row) (s State, err error) {
	var ok, failed, since *time.Time
	err = row.Scan(&s.Kind, &ok, &failed, &since, &s.Error, &s.Detail)
	for from, to := range map[*time.Time]*time.Time{ok: &s.LastOK, failed: &s.LastError, since: &s.ErrorSince} {
		if from != nil {
			*to = *from
		}
	}
	return s, err
}

// ReadStates returns the stored states by kind.
func ReadStates(ctx context.Context, q db.Querier) (map[Kind]State, error) {
	list, err := db.Collect(ctx, q, scanState, "select kind, last_ok_at, last_error_at, error_since, error, cast(detail as text) from backup_status")
	if err != nil {
		return nil, err
	}
	states := map[Kind]State{}
	for _, s := range list {
		states[s.Kind] = s
	}
	return states, nil
}

// RecordSuccess stores that a part succeeded: everything up to moment is in its place. detail is a JSON object.
func RecordSuccess(ctx context.Context, q db.Querier, kind Kind, moment time.Time, detail string) error {
	return db.Exec(ctx, q, `insert into backup_status (kind, last_ok_at, error, detail) values ($1, $2, '', $3)
		on conflict (kind) do update set last_ok_at = excluded.last_ok_at, error_since = null, error = '', detail = excluded.detail`, kind, moment, detail)
}

// RecordFailure stores that a part failed at a time. text is safe to show. The time of the first failure in a row stays.
func RecordFailure(ctx context.Context, q db.Querier, kind Kind, at time.Time, text string) error {
	return db.Exec(ctx, q, `insert into backup_status (kind, last_error_at, error_since, error, detail) values ($1, $2, $2, $3, '{}')
		on conflict (kind) do update set last_error_at = excluded.last_error_at, error = excluded.error,
		error_since = coalesce(backup_status.error_since, excluded.error_since)`, kind, at, text)
}

func countWaiting(ctx context.Context, q db.Querier) (int64, error) {
	return db.One[int64](ctx, q, "select count(*) from backup_blobs where copied_at is null and removed_at is null")
}
