package rendition

import (
	"context"
	"runtime"

	"golang.org/x/sync/semaphore"
)

// pool limits how many jobs run at a time, and their estimated memory together. A job (Job) makes the renditions of one picture file. Jobs
// that wait for memory get it in the order in which they began to wait, so that small pictures cannot delay a large one for ever. Urgent
// jobs (somebody waits for the result) are counted separately. Twice as many urgent jobs may run, because other jobs are paused meanwhile.
type pool struct {
	budget     int64               // limit of the estimated memory of all jobs together, in bytes
	otherJobs  *semaphore.Weighted // its size is the number of jobs that are not urgent and may run at a time; each takes 1
	urgentJobs *semaphore.Weighted // its size is the number of urgent jobs that may run at a time; each takes 1
	memory     *semaphore.Weighted // its size is budget; each job takes its estimated memory in bytes
	pauser     pauser              // suspends the jobs that are not urgent while urgent ones run
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

// halfProcessors returns half the number of the machine's processors, at least 1. Two settings have this value: the default of
// Config.Workers (how many jobs that are not urgent run at a time), and GOMAXPROCS of each worker process (how many processors it uses).
func halfProcessors() int { return max(1, runtime.NumCPU()/2) }

// newPool returns a pool for the settings Config.Workers and Config.Memory.
func newPool(workers int, budget int64) *pool {
	return &pool{budget: budget, memory: semaphore.NewWeighted(budget),
		otherJobs: semaphore.NewWeighted(int64(workers)), urgentJobs: semaphore.NewWeighted(int64(2 * workers))}
}

// enter waits until a job with this estimated memory in bytes can run. The caller calls release once, at the end of the job. The error
// is an ErrTooCostly for a job that needs more than the budget, or the error of ctx.
func (p *pool) enter(ctx context.Context, bytes int64, urgent bool) (release func(), err error) {
	if bytes > p.budget {
		return nil, newTooCostlyError(bytes, p.budget)
	}
	jobs := p.otherJobs
	if urgent {
		jobs = p.urgentJobs
	}
	if err := jobs.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	if err := p.memory.Acquire(ctx, bytes); err != nil {
		jobs.Release(1)
		return nil, err
	}
	// The other jobs are paused only now that this job has its memory. A paused job keeps its memory, so this job could otherwise wait
	// for memory of the jobs that it has paused.
	if urgent {
		p.pauser.beginUrgent()
	}
	return func() {
		if urgent {
			p.pauser.endUrgent()
		}
		p.memory.Release(bytes)
		jobs.Release(1)
	}, nil
}
