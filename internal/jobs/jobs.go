// Package jobs is a durable queue in the database, for slow work such as sending mail. A job is a row of the jobs table, inserted in the
// transaction that needs the work. After the commit the job runs at least once, on any node (server of the site), outside of transactions
// and requests.
//
// The kind of a job says what the job does. Each kind has one handler: the function that runs its jobs. A pool is a group of workers
// (goroutines) that run the jobs of some kinds. Frequent or slow kinds have a pool of their own. All other kinds are in the default pool.
package jobs

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/seal"
)

const (
	// defaultWorkers is the number of workers of the default pool.
	defaultWorkers = 8
	// DefaultRunTime is the time limit of one run of a job in the default pool. Other pools set their own limits.
	DefaultRunTime = time.Minute
	// lease is how long a job belongs to the worker that has claimed it. While the job runs, the worker renews the lease every
	// renewInterval. If the node dies, the lease expires, and another worker can claim the job.
	lease         = 2 * time.Minute
	renewInterval = 30 * time.Second
	// pollInterval is the interval at which the table is read even if this node has queued no job. These reads find the jobs that other nodes
	// have queued, and jobs whose lease has expired.
	pollInterval    = 5 * time.Second
	failedRetention = 30 * 24 * time.Hour // how long failed jobs stay in the table
)

// Handler runs the jobs of one kind. payload is the JSON with which the job was queued. ctx ends at the time limit of the pool. After an
// error there is another try, unless the error is marked by Permanent or maxTries tries have failed. A handler must do no harm when it runs
// again for a job that has succeeded, because the node can die before it has recorded the success.
type Handler func(ctx context.Context, payload []byte) error

// Queue adds jobs to the jobs table and runs them with the workers of this node.
type Queue struct {
	db     *db.DB
	sealer seal.Sealer
	log    *slog.Logger
	now    func() time.Time
	pools  []*pool       // the first one is the default pool; each call of HandlePool adds another one
	poll   time.Duration // pollInterval, shorter in tests
	renew  time.Duration // renewInterval, shorter in tests
}

// New returns a queue. It seals (encrypts) payloads with a key that is derived from sealKey, which may have any length. previousSealKey is
// the sealKey of the site's previous secret, with which older payloads are opened. It is nil if there is no previous secret. Jobs run only
// while the method Run runs.
func New(d *db.DB, sealKey, previousSealKey []byte, log *slog.Logger, now func() time.Time) *Queue {
	sealer := newSealer(sealKey)
	if previousSealKey != nil {
		sealer = sealer.WithPrevious(deriveKey(previousSealKey))
	}
	return &Queue{
		db:     d,
		sealer: sealer,
		log:    log,
		now:    now,
		pools:  []*pool{newPool(defaultWorkers, DefaultRunTime)},
		poll:   pollInterval,
		renew:  renewInterval,
	}
}

// Handle sets the handler of a kind. It must be called before Run. A job whose kind has no handler on this node waits for a
// node that has one. Handlers are not a parameter of New, because the services that own them need the queue first.
func (q *Queue) Handle(kind string, fn Handler) { q.pools[0].handlers[kind] = fn }

// HandlePool is Handle for kinds that are frequent or slow. They get their own pool, so that jobs of other kinds do not wait
// for them. workers is how many jobs of the pool run concurrently, runTime the time limit of each run. The maps are in order of
// priority: a job of a later map starts only when no job of an earlier map is due.
func (q *Queue) HandlePool(workers int, runTime time.Duration, priorities ...map[string]Handler) {
	p := newPool(workers, runTime)
	for _, handlers := range priorities {
		maps.Copy(p.handlers, handlers)
		p.priorities = append(p.priorities, slices.Collect(maps.Keys(handlers)))
	}
	q.pools = append(q.pools, p)
}

// Enqueue inserts a job in the caller's transaction. The job runs soon after the commit, and never when the transaction is
// rolled back. payload is encoded as JSON.
func (q *Queue) Enqueue(ctx context.Context, tx *db.Tx, kind string, payload any) error {
	return q.Add(ctx, tx, Job{Kind: kind, Payload: payload})
}

// Job is a job to be queued.
type Job struct {
	Kind    string
	Payload any       // encoded as JSON
	About   string    // UUID of the row that the job is about, for Drop; "" for none
	IfRowIn string    // name of a table: the job is queued only if the table has a row with the id About; "" for no condition
	At      time.Time // when the job is due, at most maxBackoff ahead; the zero time means now
}

// State counts the jobs of a queue.
type State struct {
	Waiting int // due now or later, running ones included
	Retried int // how many of Waiting have failed at least once
	Failed  int // jobs without another attempt; their rows are deleted after 30 days
	// LastError is the error of the job that failed last, or "".
	LastError string
}

// Depth counts the jobs of one kind, or of all kinds that this node does not know under the kind OtherKinds.
type Depth struct {
	Kind    string
	Waiting int // due now or later, running ones included
	Failed  int // without another attempt
}

// OtherKinds stands for the kinds that have no handler on this node. Newer nodes may have queued such jobs.
const OtherKinds = "other"
