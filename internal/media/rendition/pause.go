package rendition

import (
	"sync"
	"time"
)

// This file pauses jobs that are not urgent while urgent jobs run. A job is urgent (Job.Urgent) if somebody waits for its result.

// maxPause is how long a job may be paused in total. Pauses count as running time, which Config.Timeout limits.
const maxPause = time.Minute

// pauser suspends the processes of jobs that are not urgent while urgent jobs run. The zero value is ready to use.
type pauser struct {
	mu          sync.Mutex
	urgentCount int                       // number of running urgent jobs
	pausable    map[*pausableJob]struct{} // the jobs that are not urgent, running or suspended
}

// pausableJob is a job that is not urgent. suspend stops its processes, and resume lets them continue.
type pausableJob struct {
	suspend, resume func()
	pauseBudget     time.Duration // remaining time for pauses: maxPause minus the earlier pauses
	suspendedAt     time.Time     // when the job was suspended; zero while the job runs
	timer           *time.Timer   // resumes the job when pauseBudget is used up
}

// beginUrgent must be called before an urgent job. It suspends the jobs that are not urgent.
func (p *pauser) beginUrgent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.urgentCount++; p.urgentCount == 1 {
		for job := range p.pausable {
			p.suspend(job)
		}
	}
}

// endUrgent must be called after an urgent job. If no other urgent job runs, it resumes the suspended jobs.
func (p *pauser) endUrgent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.urgentCount--; p.urgentCount == 0 {
		for job := range p.pausable {
			p.resume(job)
		}
	}
}

// add adds a running job that is not urgent. The caller must call leave as soon as the job's processes have ended. Otherwise suspend and
// resume would signal other processes once the system reuses the process ids.
func (p *pauser) add(suspend, resume func()) (leave func()) {
	job := &pausableJob{suspend: suspend, resume: resume, pauseBudget: maxPause}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.pausable == nil {
		p.pausable = map[*pausableJob]struct{}{}
	}
	p.pausable[job] = struct{}{}
	if p.urgentCount > 0 {
		p.suspend(job)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pausable, job)
		if job.timer != nil {
			job.timer.Stop()
		}
	}
}

func (p *pauser) suspend(job *pausableJob) {
	if job.pauseBudget <= 0 {
		return
	}
	job.suspendedAt = time.Now()
	job.suspend()
	job.timer = time.AfterFunc(job.pauseBudget, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, there := p.pausable[job]; there {
			p.resume(job)
		}
	})
}

func (p *pauser) resume(job *pausableJob) {
	if job.suspendedAt.IsZero() {
		return
	}
	job.timer.Stop()
	job.pauseBudget -= time.Since(job.suspendedAt)
	job.suspendedAt = time.Time{}
	job.resume()
}
