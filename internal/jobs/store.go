package jobs

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
)

// This file contains the queries on the jobs table.

// job is a row of the jobs table that a worker has claimed.
type job struct {
	id, kind  string
	claim     string // random id of this claim; the result of the job is recorded only if the row still has this id
	payload   []byte // sealed (encrypted)
	tries     int    // number of tries, including the one that this claim begins
	runAt     time.Time
	createdAt time.Time
}

// Add is Enqueue with all fields of Job, for jobs that are due later or that Drop must find.
func (q *Queue) Add(ctx context.Context, tx *db.Tx, j Job) error {
	plain, err := json.Marshal(j.Payload)
	if err != nil {
		return fmt.Errorf("job %s: %w", j.Kind, err)
	}
	id, err := uuid.NewV7() // ids grow with time: jobs that are due at the same time run in the order of their ids
	if err != nil {
		return err
	}
	now, about, condition := q.now(), any(nil), ""
	if j.At.IsZero() {
		j.At = now
	}
	if j.About != "" {
		about = j.About
	}
	if j.IfRowIn != "" {
		condition = " where exists (select 1 from " + j.IfRowIn + " where id = $4)"
	}
	if err := db.Queue(ctx, tx, `insert into jobs (id, kind, payload, about, run_at, created_at) select $1, $2, $3, $4, $5, $6`+condition,
		id.String(), j.Kind, q.sealer.Seal(plain, additionalData(id.String(), j.Kind)), about, j.At, now); err != nil {
		return fmt.Errorf("job %s: %w", j.Kind, err)
	}
	tx.AfterCommit(func() { q.wake(j.Kind) })
	return nil
}

// Drop deletes the jobs about a row, failed jobs included, in the caller's transaction. about is the UUID of the row (Job.About). A job
// that is running continues.
func (q *Queue) Drop(ctx context.Context, tx *db.Tx, about string) error {
	return db.Exec(ctx, tx, `delete from jobs where about = $1`, about)
}

// claimJobs claims (reserves) at most limit due jobs for the time of a lease. The jobs that have been due for the longest time come first.
// The claim counts as a try, so that a job that crashes its node (server) does not run again and again.
//
// claimJobs first reads whether a job is due, and writes nothing if none is. A write would make this node check its cached content again.
// That must not happen every few seconds, because only checked content is served while the database is unreachable.
func claimJobs(ctx context.Context, d *db.DB, kinds []string, limit int, now time.Time) (claimed []job, err error) {
	query, args := dueKindsStatement(kinds, now)
	due, err := db.Collect(ctx, d, db.ScanOne[string], query, args...)
	if err != nil || len(due) == 0 {
		return nil, err
	}
	query, args = claimStatement(d.Dialect, due, limit, now)
	err = d.WithShortTx(ctx, func(tx *db.Tx) error {
		claimed, err = db.Collect(ctx, tx, scanJob, query, args...)
		return err
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(claimed, func(a, b job) int { // RETURNING has no order
		return cmp.Or(a.runAt.Compare(b.runAt), strings.Compare(a.id, b.id))
	})
	return claimed, nil
}

// isDue is the condition of a job that can be claimed: it is due, and has no lease that is still valid. A time after db.LatestPlausible was
// written by a node with a wrong clock and does not count. The parameters are those of dueArgs.
const isDue = `failed_at is null and (run_at <= $1 or run_at > $2) and (leased_until is null or leased_until <= $1 or leased_until > $3)`

func dueArgs(now time.Time) []any {
	return []any{now, db.LatestPlausible(now, maxBackoff), db.LatestPlausible(now, lease)}
}

// dueKindsStatement selects the kinds that have a due job. Like claimStatement, it searches each kind separately: the index jobs_due has the
// jobs of one kind in the order of run_at, and one search for several kinds would read all jobs of these kinds, or of all kinds. column1 is
// the name that both databases give to the first column of VALUES.
func dueKindsStatement(kinds []string, now time.Time) (query string, args []any) {
	args = dueArgs(now)
	values := make([]string, len(kinds))
	for i, kind := range kinds {
		args = append(args, kind)
		values[i] = fmt.Sprintf("(cast($%d as text))", len(args))
	}
	return `select column1 from (values ` + strings.Join(values, ", ") + `) as kinds where exists (select 1 from jobs where kind = column1 and ` + isDue + `)`, args
}

// candidates is how many due jobs of each kind claimStatement chooses from, as a multiple of the limit. On PostgreSQL other nodes may lock the
// first of them meanwhile.
const candidates = 8

// claimStatement claims due jobs. The selects are materialized, because the database could otherwise run them more than once and exceed the
// limit. On PostgreSQL only the claimed jobs are locked, and those that another node has locked are skipped.
func claimStatement(dialect db.Dialect, kinds []string, limit int, now time.Time) (query string, args []any) {
	args = append(dueArgs(now), uuid.NewString(), now.Add(lease), limit, candidates*limit)
	n := len(args)
	chosen, lock := `in (select id from of_kinds)`, ""
	if dialect == db.Postgres { // which may read the whole table for a subselect
		chosen, lock = `= any (array(select id from of_kinds))`, " for update skip locked"
	}
	ofKinds := make([]string, len(kinds))
	for i, kind := range kinds {
		args = append(args, kind)
		ofKinds[i] = fmt.Sprintf(`select * from (select id from jobs where kind = $%d and %s order by run_at, id limit $%d) as of_kind`, len(args), isDue, n)
	}
	return fmt.Sprintf(`with of_kinds as materialized (%s),
		due as materialized (select id from jobs where id %s and %s order by run_at, id limit $%d%s)
		update jobs set claim = $%d, leased_until = $%d, tries = tries + 1 where id in (select id from due)
		returning id, kind, claim, payload, tries, run_at, created_at`, strings.Join(ofKinds, " union all "), chosen, isDue, n-1, lock, n-3, n-2), args
}

// scanJob reads a row of claimStatement.
func scanJob(row db.Row) (j job, err error) {
	err = row.Scan(&j.id, &j.kind, &j.claim, &j.payload, &j.tries, &j.runAt, &j.createdAt)
	return j, err
}

// deleteJob removes a job that succeeded. Like retryJob, failJob, renewJob and releaseJob, it changes nothing when another
// worker has claimed the job after the lease expired.
func deleteJob(ctx context.Context, d *db.DB, j job) error {
	return db.Exec(ctx, d, `delete from jobs where id = $1 and claim = $2`, j.id, j.claim)
}

func retryJob(ctx context.Context, d *db.DB, j job, cause string, runAt time.Time) error {
	return db.Exec(ctx, d, `update jobs set claim = null, leased_until = null, last_error = $3, run_at = $4 where id = $1 and claim = $2`, j.id, j.claim, cause, runAt)
}

func failJob(ctx context.Context, d *db.DB, j job, cause string, now time.Time) error {
	return db.Exec(ctx, d, `update jobs set claim = null, leased_until = null, last_error = $3, failed_at = $4 where id = $1 and claim = $2`, j.id, j.claim, cause, now)
}

// renewJob extends a running job's lease.
func renewJob(ctx context.Context, d *db.DB, j job, until time.Time) error {
	return db.Exec(ctx, d, `update jobs set leased_until = $3 where id = $1 and claim = $2`, j.id, j.claim, until)
}

// releaseJob undoes a claim: the job is due again, and the attempt is not counted.
func releaseJob(ctx context.Context, d *db.DB, j job) error {
	return db.Exec(ctx, d, `update jobs set claim = null, leased_until = null, tries = tries - 1 where id = $1 and claim = $2`, j.id, j.claim)
}

// Reseal finds all payloads that the previous key has sealed, seals them with the current key, and returns their number. If write is false,
// it only counts them.
func (q *Queue) Reseal(ctx context.Context, write bool) (found int, err error) {
	for last := uuid.Nil.String(); ; {
		page, err := queryPayloads(ctx, q.db, "select id, kind, payload from jobs where id > $1 order by id limit 200", last)
		if err != nil || len(page) == 0 {
			return found, err
		}
		for _, j := range page {
			last = j.id
			resealed, ok := q.sealer.Reseal(j.payload, additionalData(j.id, j.kind))
			if !ok {
				continue
			}
			found++
			if !write {
				continue
			}
			// A running job is not affected: it has read its payload already.
			if err := db.Exec(ctx, q.db, "update jobs set payload = $2 where id = $1", j.id, resealed); err != nil {
				return found, err
			}
		}
	}
}

// Purge deletes failed jobs 30 days after they failed.
func (q *Queue) Purge(ctx context.Context) error {
	return db.Exec(ctx, q.db, `delete from jobs where failed_at < $1`, q.now().Add(-failedRetention))
}

// State counts the jobs of a kind; "" means all kinds.
func (q *Queue) State(ctx context.Context, kind string) (s State, err error) {
	err = q.db.QueryRow(ctx, `select count(*) filter (where failed_at is null), count(*) filter (where failed_at is null and last_error is not null),
		count(*) filter (where failed_at is not null),
		coalesce((select last_error from jobs where failed_at is not null and ($1 = '' or kind = $1) order by failed_at desc, id limit 1), '')
		from jobs where $1 = '' or kind = $1`, kind).Scan(&s.Waiting, &s.Retried, &s.Failed, &s.LastError)
	return s, err
}

// OldestWaiting returns when the oldest job of a kind was queued that has not failed, or the zero time if there is none.
func (q *Queue) OldestWaiting(ctx context.Context, kind string) (time.Time, error) {
	at, err := db.One[*time.Time](ctx, q.db, `select min(created_at) from jobs where kind = $1 and failed_at is null`, kind)
	if at == nil {
		return time.Time{}, err
	}
	return *at, err
}

// Depths counts the jobs of every kind that has a handler on this node, in the order of the kinds, and of OtherKinds.
func (q *Queue) Depths(ctx context.Context) ([]Depth, error) {
	counted, err := db.Collect(ctx, q.db, func(row db.Row) (d Depth, err error) {
		err = row.Scan(&d.Kind, &d.Waiting, &d.Failed)
		return d, err
	}, `select kind, count(*) filter (where failed_at is null), count(*) filter (where failed_at is not null) from jobs group by kind`)
	if err != nil {
		return nil, err
	}
	known := map[string]Depth{}
	for _, p := range q.pools {
		for kind := range p.handlers {
			known[kind] = Depth{Kind: kind}
		}
	}
	depths, other := make([]Depth, 0, len(known)+1), Depth{Kind: OtherKinds}
	for _, d := range counted {
		if _, ok := known[d.Kind]; ok {
			known[d.Kind] = d
			continue
		}
		other.Waiting += d.Waiting
		other.Failed += d.Failed
	}
	for _, kind := range slices.Sorted(maps.Keys(known)) {
		depths = append(depths, known[kind])
	}
	return append(depths, other), nil
}

// openAll tries to open the payload of every job that has not failed. It returns how many payloads the key can open (readable), and the ids
// of the other jobs (unreadable).
func openAll(ctx context.Context, q db.Querier, sealKey []byte) (readable int, unreadable []string, err error) {
	all, err := queryPayloads(ctx, q, `select id, kind, payload from jobs where failed_at is null`)
	s := newSealer(sealKey)
	for _, j := range all {
		if _, err := s.Open(j.payload, additionalData(j.id, j.kind)); err == nil {
			readable++
		} else {
			unreadable = append(unreadable, j.id)
		}
	}
	return readable, unreadable, err
}

// queryPayloads runs a query that selects id, kind and payload.
func queryPayloads(ctx context.Context, q db.Querier, query string, args ...any) ([]job, error) {
	return db.Collect(ctx, q, func(row db.Row) (j job, err error) {
		err = row.Scan(&j.id, &j.kind, &j.payload)
		return j, err
	}, query, args...)
}

// FoundJob is a job that Find has found, with its decrypted payload.
type FoundJob struct {
	ID, Kind  string
	Payload   []byte // JSON
	CreatedAt time.Time
	FailedAt  *time.Time // when all tries had failed; nil if the job is still to run
}

// Find returns the jobs of the given kinds for whose payload match returns true, failed jobs included, oldest first. It leaves out jobs
// whose payload cannot be decrypted with this site's secret. The export and the deletion of the data about an e-mail address need this,
// because payloads are encrypted and SQL cannot search them.
func (q *Queue) Find(ctx context.Context, from db.Querier, match func(payload []byte) bool, kinds ...string) (found []FoundJob, err error) {
	kindList, args := db.AppendList(nil, kinds)
	all, err := db.Collect(ctx, from, func(row db.Row) (j FoundJob, err error) {
		err = row.Scan(&j.ID, &j.Kind, &j.Payload, &j.CreatedAt, &j.FailedAt)
		return j, err
	}, `select id, kind, payload, created_at, failed_at from jobs where kind in (`+kindList+`) order by id`, args...)
	for _, j := range all {
		plain, err := q.sealer.Open(j.Payload, additionalData(j.ID, j.Kind))
		if err == nil && match(plain) {
			j.Payload = plain
			found = append(found, j)
		}
	}
	return found, err
}

// Remove deletes a job in the caller's transaction. A job that is running continues.
func Remove(ctx context.Context, tx *db.Tx, id string) error {
	return db.Exec(ctx, tx, `delete from jobs where id = $1`, id)
}

// ReleaseAll ends the leases of all claimed jobs. It may be called only when no worker of any node runs: otherwise a running job would be
// claimed a second time. A job whose first or second try was interrupted runs again immediately. Later, the wait is that of a failed try:
// a program that is restarted many times within seconds does not use up all tries of a job.
func ReleaseAll(ctx context.Context, d *db.DB, now time.Time) error {
	return d.WithTx(ctx, func(tx *db.Tx) error {
		claimed, err := db.Collect(ctx, tx, func(row db.Row) (j job, err error) {
			err = row.Scan(&j.id, &j.claim, &j.tries, &j.runAt)
			return j, err
		}, `select id, claim, tries, run_at from jobs where claim is not null and failed_at is null`)
		for _, j := range claimed {
			if interrupted := min(j.tries, maxTries) - immediateTries; interrupted > 0 {
				j.runAt = now.Add(backoff[interrupted-1])
			}
			err = errors.Join(err, db.Queue(ctx, tx, `update jobs set claim = null, leased_until = null, run_at = $3 where id = $1 and claim = $2`, j.id, j.claim, j.runAt))
		}
		return err
	})
}
