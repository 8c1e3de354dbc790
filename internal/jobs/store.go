package jobs

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// job is a claimed row. claim must still be in the row when its end is noted.
type job struct {
	id, kind, claim string
	payload         []byte
	tries           int // this one included
	runAt           time.Time
	createdAt       time.Time
}

func insertJob(ctx context.Context, tx *db.Tx, id, kind string, payload []byte, now time.Time) error {
	_, err := tx.Exec(ctx, `insert into jobs (id, kind, payload, run_at, created_at) values ($1, $2, $3, $4, $4)`, id, kind, payload, now)
	return err
}

// claimJobs takes up to limit due jobs, oldest first, for the length of a lease. A try counts from the claim on, so that
// a job that kills its node is given up in the end. The inner select is materialized: it must run once to keep the limit.
func claimJobs(ctx context.Context, d *db.DB, kinds []string, limit int, now time.Time) (claimed []job, err error) {
	args := []any{uuid.NewString(), now.Add(lease), now, limit}
	marks := make([]string, len(kinds))
	for i, kind := range kinds {
		args = append(args, kind)
		marks[i] = fmt.Sprintf("$%d", len(args))
	}
	lock := ""
	if d.Dialect == db.Postgres {
		lock = " for update skip locked"
	}
	query := `with due as materialized (
			select id from jobs where failed_at is null and run_at <= $3 and (leased_until is null or leased_until <= $3)
			and kind in (` + strings.Join(marks, ", ") + `) order by run_at, id limit $4` + lock + `)
		update jobs set claim = $1, leased_until = $2, tries = tries + 1 where id in (select id from due)
		returning id, kind, claim, payload, tries, run_at, created_at`
	err = d.WithTx(ctx, func(tx *db.Tx) error {
		claimed = nil
		rows, err := tx.Query(ctx, query, args...)
		if err != nil {
			return err
		}
		defer func() { _ = rows.Close() }()
		for rows.Next() {
			var j job
			if err := rows.Scan(&j.id, &j.kind, &j.claim, &j.payload, &j.tries, &j.runAt, &j.createdAt); err != nil {
				return err
			}
			claimed = append(claimed, j)
		}
		return rows.Err()
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(claimed, func(a, b job) int { // returning promises no order
		return cmp.Or(a.runAt.Compare(b.runAt), strings.Compare(a.id, b.id))
	})
	return claimed, nil
}

// deleteJob, retryJob, failJob, renewJob and releaseJob change nothing when another worker has taken the job after the lease.
func deleteJob(ctx context.Context, d *db.DB, j job) error {
	_, err := d.Exec(ctx, `delete from jobs where id = $1 and claim = $2`, j.id, j.claim)
	return err
}

func retryJob(ctx context.Context, d *db.DB, j job, cause string, runAt time.Time) error {
	_, err := d.Exec(ctx, `update jobs set claim = null, leased_until = null, last_error = $3, run_at = $4 where id = $1 and claim = $2`, j.id, j.claim, cause, runAt)
	return err
}

func failJob(ctx context.Context, d *db.DB, j job, cause string, now time.Time) error {
	_, err := d.Exec(ctx, `update jobs set claim = null, leased_until = null, last_error = $3, failed_at = $4 where id = $1 and claim = $2`, j.id, j.claim, cause, now)
	return err
}

// renewJob makes a running job's lease longer.
func renewJob(ctx context.Context, d *db.DB, j job, until time.Time) error {
	_, err := d.Exec(ctx, `update jobs set leased_until = $3 where id = $1 and claim = $2`, j.id, j.claim, until)
	return err
}

// releaseJob gives a job back as if it had not been claimed.
func releaseJob(ctx context.Context, d *db.DB, j job) error {
	_, err := d.Exec(ctx, `update jobs set claim = null, leased_until = null, tries = tries - 1 where id = $1 and claim = $2`, j.id, j.claim)
	return err
}

func purgeFailed(ctx context.Context, d *db.DB, before time.Time) error {
	_, err := d.Exec(ctx, `delete from jobs where failed_at < $1`, before)
	return err
}

func readState(ctx context.Context, d *db.DB, kind string) (s State, err error) {
	err = d.QueryRow(ctx, `select count(*) filter (where failed_at is null), count(*) filter (where failed_at is null and last_error is not null),
		count(*) filter (where failed_at is not null),
		coalesce((select last_error from jobs where failed_at is not null and ($1 = '' or kind = $1) order by failed_at desc, id limit 1), '')
		from jobs where $1 = '' or kind = $1`, kind).Scan(&s.Waiting, &s.Retried, &s.Failed, &s.LastError)
	return s, err
}
