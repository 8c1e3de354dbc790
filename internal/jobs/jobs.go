// Package jobs is a durable queue in the database: work is written down in the transaction that asks for it and done
// after the commit, at least once, by any node. Nothing slow (mail, SMS) happens inside a transaction or a request.
package jobs

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/seal"
)

const (
	workers = 8
	// runTime is what one run may take unless its kind says otherwise. A lease is longer, and a run that lasts renews it:
	// nobody takes a job whose worker is still at it, and a job whose node has died waits for no more than a lease.
	runTime    = time.Minute
	lease      = 2 * time.Minute
	renewAfter = 30 * time.Second
	// pollEvery finds what no bell announces: jobs of other nodes, and those whose lease ran out.
	pollEvery  = 5 * time.Second
	keepFailed = 30 * 24 * time.Hour
)

// pauses are the waits before the second, third, … try. After the last one a job has failed for good.
var pauses = [...]time.Duration{
	time.Second, 5 * time.Second, 30 * time.Second, 2 * time.Minute, 10 * time.Minute,
	30 * time.Minute, time.Hour, 3 * time.Hour, 6 * time.Hour,
}

const maxTries = len(pauses) + 1

// Handler does the work of one kind of job. Its context ends after a minute, or after what HandleSlow was told. An error
// means "again later", unless it is Permanent. A handler may be called twice for one job, when a node dies between the work and its note of it.
type Handler func(ctx context.Context, payload []byte) error

// Queue is the jobs table and this node's workers on it.
type Queue struct {
	db     *db.DB
	sealer seal.Sealer
	log    *slog.Logger
	now    func() time.Time
	lanes  []*lane // the first one is that of all quick kinds
	poll   time.Duration
	renew  time.Duration
}

// lane are kinds of jobs with workers of their own, so that slow work never keeps a mail waiting.
type lane struct {
	handlers map[string]Handler
	ranks    [][]string // kinds that go before those that follow; nil when all are alike
	workers  int
	runTime  time.Duration
	bell     chan struct{}
}

func newLane(workers int, runTime time.Duration) *lane {
	return &lane{handlers: map[string]Handler{}, workers: workers, runTime: runTime, bell: make(chan struct{}, 1)}
}

// New makes a queue whose payloads are sealed with a key made of sealKey. Jobs run only while Run does.
func New(d *db.DB, sealKey []byte, log *slog.Logger, now func() time.Time) *Queue {
	key := sha256.Sum256(sealKey) // any length of key gives the 32 bytes
	return &Queue{db: d, sealer: seal.New(key[:]), log: log, now: now, lanes: []*lane{newLane(workers, runTime)}, poll: pollEvery, renew: renewAfter}
}

// Handle names the handler of a kind. Call it before Run; a kind without a handler waits for a node that has one.
func (q *Queue) Handle(kind string, fn func(ctx context.Context, payload []byte) error) {
	q.lanes[0].handlers[kind] = fn
}

// Slow is a kind of jobs whose runs take long.
type Slow struct {
	Kind string
	Do   func(ctx context.Context, payload []byte) error
}

// HandleSlow is Handle for kinds whose runs take long: together they get so many workers of their own, and each run so
// much time. A job of a later kind begins only when none of an earlier one waits.
func (q *Queue) HandleSlow(workers int, runTime time.Duration, kinds ...Slow) {
	l := newLane(workers, runTime)
	for _, k := range kinds {
		l.handlers[k.Kind] = k.Do
		l.ranks = append(l.ranks, []string{k.Kind})
	}
	q.lanes = append(q.lanes, l)
}

// Enqueue writes a job down in the caller's transaction; it runs soon after the commit, and never when that fails.
// payload is encoded as JSON.
func (q *Queue) Enqueue(ctx context.Context, tx *db.Tx, kind string, payload any) error {
	plain, err := json.Marshal(payload)
	if err != nil {
		return fmt.Errorf("job %s: %w", kind, err)
	}
	id, err := uuid.NewV7() // in the order of creation, which is the order of jobs of one moment
	if err != nil {
		return err
	}
	if err := insertJob(ctx, tx, id.String(), kind, q.sealer.Seal(plain, id.String()+kind), q.now()); err != nil {
		return fmt.Errorf("job %s: %w", kind, err)
	}
	tx.AfterCommit(q.ring)
	return nil
}

// ring wakes the dispatchers; it never blocks.
func (q *Queue) ring() {
	for _, l := range q.lanes {
		select {
		case l.bell <- struct{}{}:
		default: // it is going to look anyway
		}
	}
}

// Run works until ctx ends, and returns when what was running then has finished: a quick job in a minute at most. A slow
// one is told to stop, and begins anew at the next start.
func (q *Queue) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, l := range q.lanes {
		all.Go(func() { q.run(ctx, l) })
	}
	all.Wait()
}

func (q *Queue) run(ctx context.Context, l *lane) {
	if l.ranks == nil && len(l.handlers) > 0 {
		l.ranks = [][]string{slices.Collect(maps.Keys(l.handlers))}
	}
	var (
		slots   = make(chan struct{}, l.workers)
		running sync.WaitGroup
	)
	defer running.Wait()
	tick := time.NewTicker(q.poll)
	defer tick.Stop()
	for len(l.ranks) > 0 {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		free := 1
		for ; len(slots) < l.workers; free++ {
			slots <- struct{}{} // only this loop fills slots, so there is room
		}
		var claimed []job
		for _, kinds := range l.ranks {
			if len(claimed) == free {
				break
			}
			more, err := claimJobs(ctx, q.db, kinds, free-len(claimed), q.now())
			if err != nil && ctx.Err() == nil {
				q.log.Error("jobs: the queue cannot be read", "cause", err.Error())
			}
			claimed = append(claimed, more...)
		}
		for range free - len(claimed) {
			<-slots
		}
		for _, j := range claimed {
			running.Go(func() {
				defer func() { <-slots }()
				q.work(ctx, l, j)
			})
		}
		if len(claimed) == free {
			continue // there may be more
		}
		select {
		case <-l.bell:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// work runs one claimed job and notes how it ended. A stop lets a quick one finish.
func (q *Queue) work(stop context.Context, l *lane, j job) {
	log := q.log.With("job", j.id, "kind", j.kind, "try", j.tries)
	ctx := context.WithoutCancel(stop)
	run := ctx
	if l.runTime > runTime {
		run = stop
	}
	done := make(chan struct{})
	var renewing sync.WaitGroup
	renewing.Go(func() { q.keepLease(ctx, log, j, done) })
	err := q.attempt(run, l, j)
	close(done)
	renewing.Wait()
	var end error
	switch {
	case err != nil && run.Err() != nil:
		log.Info("job stopped, it runs again at the next start")
		end = releaseJob(ctx, q.db, j)
	case err == nil:
		end = deleteJob(ctx, q.db, j)
	case IsPermanent(err) || j.tries >= maxTries:
		log.Error("job failed for good", "cause", err.Error())
		end = failJob(ctx, q.db, j, storable(err), q.now())
	default:
		pause := pauses[j.tries-1]
		log.Warn("job failed, another try follows", "in", pause.String(), "cause", err.Error())
		end = retryJob(ctx, q.db, j, storable(err), q.now().Add(pause))
		if pause < q.poll {
			time.AfterFunc(pause, q.ring)
		}
	}
	if end != nil {
		log.Error("the end of a job could not be noted; it runs again after its lease", "cause", end.Error())
	}
}

// keepLease renews a running job's lease.
func (q *Queue) keepLease(ctx context.Context, log *slog.Logger, j job, done <-chan struct{}) {
	tick := time.NewTicker(q.renew)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			if err := renewJob(ctx, q.db, j, q.now().Add(lease)); err != nil {
				log.Warn("the lease of a running job could not be renewed", "cause", err.Error())
			}
		case <-done:
			return
		}
	}
}

func (q *Queue) attempt(ctx context.Context, l *lane, j job) (err error) {
	if j.tries > maxTries {
		return Permanent(errors.New("no run came to its end: the program died, or lost the database, each time"))
	}
	plain, err := q.sealer.Open(j.payload, j.id+j.kind)
	if err != nil {
		return Permanent(fmt.Errorf("the payload cannot be opened: %w", err))
	}
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, ticketKey{}, Ticket{ID: j.id, Created: j.createdAt, Last: j.tries >= maxTries}), l.runTime)
	defer cancel()
	return l.handlers[j.kind](ctx, plain)
}

// Ticket is what a handler may know of its job. ID is the same at every try, for receivers that drop what comes twice.
// Last says that no other try will follow.
type Ticket struct {
	ID      string
	Created time.Time
	Last    bool
}

type ticketKey struct{}

// TicketOf gives the job that a handler's context belongs to; the zero Ticket outside of one.
func TicketOf(ctx context.Context) Ticket {
	t, _ := ctx.Value(ticketKey{}).(Ticket)
	return t
}

// Purge deletes failed jobs 30 days after they failed.
func (q *Queue) Purge(ctx context.Context) error {
	return purgeFailed(ctx, q.db, q.now().Add(-keepFailed))
}

// State is what an owner wants to know about the queue.
type State struct {
	Waiting int // due now or later, running ones included
	Retried int // of these, the ones that have failed at least once
	Failed  int // given up, kept for 30 days
	// LastError is the newest failure's text, empty when there is none.
	LastError string
}

// State counts the jobs of a kind; an empty kind means all.
func (q *Queue) State(ctx context.Context, kind string) (State, error) {
	return readState(ctx, q.db, kind)
}

type permanentError struct{ cause error }

func (e *permanentError) Error() string { return e.cause.Error() }
func (e *permanentError) Unwrap() error { return e.cause }

// Permanent marks an error that another try would only repeat. Permanent(nil) is nil.
func Permanent(err error) error {
	if err == nil {
		return nil
	}
	return &permanentError{err}
}

// IsPermanent tells whether another try would be in vain.
func IsPermanent(err error) bool {
	var p *permanentError
	return errors.As(err, &p)
}
