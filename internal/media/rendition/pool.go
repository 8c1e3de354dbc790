package rendition

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// pool limits the jobs that run at a time, by their number and by their memory. Jobs start in the order of arrival, so that small
// pictures cannot delay a large one for ever. Urgent jobs have their own limit. It is twice as high, because other jobs are paused while
// urgent ones run.
type pool struct {
	budget  int64               // limit of the estimated memory of all jobs together, in bytes
	workers *semaphore.Weighted // number of jobs that are not urgent
	urgent  *semaphore.Weighted // number of urgent jobs
	memory  *semaphore.Weighted // estimated memory of all jobs in bytes, up to budget
	pauser  pauser
}

// defaultBudget returns the default limit for the estimated memory of all jobs together, in bytes: half of the machine's
// memory, at most 1.5 GB.
func defaultBudget() int64 {
	const maxBudget = 1536 << 20
	if half := machineMemory() / 2; half > 0 {
		return min(maxBudget, half)
	}
	return maxBudget
}

// defaultWorkers returns half the number of processors. It is the default of Config.Workers, and the number of processors that
// each worker process uses.
func defaultWorkers() int { return max(1, runtime.NumCPU()/2) }

func newPool(workers int, budget int64) *pool {
	return &pool{
		budget: budget, workers: semaphore.NewWeighted(int64(workers)), urgent: semaphore.NewWeighted(int64(2 * workers)), memory: semaphore.NewWeighted(budget),
	}
}

// enter waits until a job that needs so many bytes of memory can run. The caller calls release once, at the end of the job. The error
// is an ErrTooCostly for a job that needs more than the budget, or the error of ctx.
func (p *pool) enter(ctx context.Context, bytes int64, urgent bool) (release func(), err error) {
	if bytes > p.budget {
		return nil, errTooCostly(bytes, p.budget)
	}
	workers := p.workers
	if urgent {
		workers = p.urgent
	}
	if err := workers.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := p.memory.Acquire(ctx, bytes); err != nil {
		workers.Release(1)
		return nil, err
	}
	if urgent { // pause jobs only when this job has its memory, because a paused job releases none
		p.pauser.beginUrgent()
	}
	return func() {
		if urgent {
			p.pauser.endUrgent()
		}
		p.memory.Release(bytes)
		workers.Release(1)
	}, nil
}
