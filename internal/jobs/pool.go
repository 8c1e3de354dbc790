package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"atelie/internal/interval"
)

// This file runs jobs: each pool of workers claims (reserves) due jobs of its kinds and calls their handlers.

// pool is a group of workers for certain kinds of jobs. Slow or frequent jobs have their own pools, so that mails for sign-ins do not
// wait for them.
type pool struct {
	handlers   map[string]Handler // the handler of each kind of job
	priorities [][]string         // groups of kinds, the highest priority first; nil until run sets one group with all kinds
	workers    int                // maximum number of jobs that run concurrently
	runTime    time.Duration      // time limit of each run
	wakeup     chan struct{}      // receives a value when the pool must read the queue immediately
}

func newPool(workers int, runTime time.Duration) *pool {
	return &pool{handlers: map[string]Handler{}, workers: workers, runTime: runTime, wakeup: make(chan struct{}, 1)}
}

// wake makes this node's pool for a kind of jobs read the queue immediately. It does not wake the other pools, because each wake-up costs a
// search of the queue. wake never blocks.
func (q *Queue) wake(kind string) {
	for _, p := range q.pools {
		if p.handlers[kind] == nil {
			continue
		}
		select {
		case p.wakeup <- struct{}{}:
		default: // a wake-up is pending already
		}
	}
}

// Run runs jobs until ctx ends. Then it waits for running jobs whose time limit is at most DefaultRunTime, and cancels jobs with a longer
// limit, because the server must stop soon. A cancelled job is due again immediately, on another node or after the next start.
func (q *Queue) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, p := range q.pools {
		all.Go(func() { q.run(ctx, p) })
	}
	all.Wait()
}

// run is Run for one pool. It starts a due job for each free worker. When no more jobs are due, it waits for a wake-up or until
// pollInterval has passed.
func (q *Queue) run(ctx context.Context, p *pool) {
	if p.priorities == nil && len(p.handlers) > 0 {
		p.priorities = [][]string{slices.Collect(maps.Keys(p.handlers))}
	}
	var (
		slots   = make(chan struct{}, p.workers) // has a value for each worker that runs a job or is about to claim one
		running sync.WaitGroup
	)
	defer running.Wait()
	tick := time.NewTicker(q.poll)
	defer tick.Stop()
	for len(p.priorities) > 0 {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		free := 1
		for ; len(slots) < p.workers; free++ {
			slots <- struct{}{} // never blocks: only this goroutine fills slots
		}
		var claimed []job
		for _, kinds := range p.priorities {
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
				q.runJob(ctx, p, j)
			})
		}
		if len(claimed) == free {
			continue // every slot got a job, so more jobs may be due
		}
		select {
		case <-p.wakeup:
		case <-tick.C:
		case <-ctx.Done():
			return
		}
	}
}

// runJob runs one claimed job and records the result. When the context stop ends, a job of a pool with a longer time limit than
// DefaultRunTime is cancelled and released: any node can claim it again. Other jobs finish.
func (q *Queue) runJob(stop context.Context, p *pool, j job) {
	log := q.log.With("job", j.id, "kind", j.kind, "try", j.tries)
	ctx := context.WithoutCancel(stop)
	runCtx := ctx
	if p.runTime > DefaultRunTime {
		runCtx = stop
	}
	renewing, stopRenewing := context.WithCancel(ctx)
	var renewal sync.WaitGroup
	renewal.Go(func() { q.keepLease(renewing, log, j) })
	err := q.runHandler(runCtx, p, j)
	stopRenewing()
	renewal.Wait()
	var recordErr error
	switch {
	case err != nil && runCtx.Err() != nil:
		log.Info("job stopped because the server stops; it runs again after the next start")
		recordErr = releaseJob(ctx, q.db, j)
	case err == nil:
		recordErr = deleteJob(ctx, q.db, j)
	default:
		recordErr = q.recordFailure(ctx, log, j, err)
	}
	if recordErr != nil {
		log.Error("the result of a job could not be recorded; the job runs again when its lease has expired", "cause", recordErr.Error())
	}
}

// keepLease renews a running job's lease until ctx ends.
func (q *Queue) keepLease(ctx context.Context, log *slog.Logger, j job) {
	interval.After(ctx, q.renew, func() bool {
		if err := renewJob(context.WithoutCancel(ctx), q.db, j, q.now().Add(lease)); err != nil {
			log.Warn("the lease of a running job could not be renewed", "cause", err.Error())
		}
		return true
	})
}

// runHandler decrypts the payload and calls the handler. It returns a panic of the handler as an error.
func (q *Queue) runHandler(ctx context.Context, p *pool, j job) (err error) {
	if j.tries > maxTries {
		return Permanent(errors.New("no try of the job ended: each time the program stopped or lost the database"))
	}
	plain, err := q.sealer.Open(j.payload, additionalData(j.id, j.kind))
	if err != nil {
		return Permanent(fmt.Errorf("the payload cannot be opened: %w", err))
	}
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	info := Info{ID: j.id, Created: j.createdAt, LastTry: j.tries >= maxTries}
	ctx, cancel := context.WithTimeout(context.WithValue(ctx, infoKey{}, info), p.runTime)
	defer cancel()
	return p.handlers[j.kind](ctx, plain)
}

// Info describes the running job.
type Info struct {
	ID      string // the same at every attempt, so that receivers can ignore duplicates
	Created time.Time
	LastTry bool // no other attempt follows when this one fails
}

type infoKey struct{}

// InfoOf returns the job that a handler's context belongs to, or the zero Info for any other context.
func InfoOf(ctx context.Context) Info {
	info, _ := ctx.Value(infoKey{}).(Info)
	return info
}
