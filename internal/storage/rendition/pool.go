package rendition

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// pool lets jobs run while both a worker and the memory that they will need are free. Who came first goes first, so
// that a large picture is not overtaken for ever by small ones.
type pool struct {
	budget  int64
	workers *semaphore.Weighted
	memory  *semaphore.Weighted
}

// defaultBudget is how many bytes all jobs together may be expected to take: half of the machine, at most 1.5 GB.
func defaultBudget() int64 {
	const most = 1536 << 20
	if half := machineMemory() / 2; half > 0 {
		return min(most, half)
	}
	return most
}

// defaultWorkers is how many jobs run at a time, and how many processors one of them uses: a job alone leaves the site
// half of the machine, and all of them give way to it by their priority.
func defaultWorkers() int { return max(1, runtime.NumCPU()/2) }

func newPool(workers int, budget int64) *pool {
	return &pool{budget: budget, workers: semaphore.NewWeighted(int64(workers)), memory: semaphore.NewWeighted(budget)}
}

// enter waits until a job of that many bytes may run. release must be called once. Errors are errTooCostly for a job
// that could never run, and the context's own.
func (p *pool) enter(ctx context.Context, bytes int64) (release func(), err error) {
	if bytes > p.budget {
		return nil, errTooCostly(bytes, p.budget)
	}
	if err := p.workers.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := p.memory.Acquire(ctx, bytes); err != nil {
		p.workers.Release(1)
		return nil, err
	}
	return func() {
		p.memory.Release(bytes)
		p.workers.Release(1)
	}, nil
}
