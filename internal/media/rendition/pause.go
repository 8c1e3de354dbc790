package rendition

import (
	"sync"
	"time"
)

// This file pauses jobs that are not urgent while urgent jobs (Job.Urgent) run.

// maxPause is how long a job may be paused in total. The pauses count towards Config.Timeout.
const maxPause = time.Minute

// pauser suspends the processes of jobs that are not urgent while urgent jobs run. The zero value is ready to use.
type pauser struct {
	mu     sync.Mutex
	urgent int                    // number of running urgent jobs
	others map[*pausable]struct{} // the jobs that are not urgent, running or suspended
}

// pausable is a job that is not urgent. suspend stops its processes, and resume lets them continue.
type pausable struct {
	suspend, resume func()
	left            time.Duration // remaining time for pauses: maxPause minus the earlier pauses
	since           time.Time     // when the job was suspended; zero while it runs
	timer           *time.Timer   // resumes the job when left is over
}

// beginUrgent must be called before an urgent job. It suspends the jobs that are not urgent.
func (p *pauser) beginUrgent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.urgent++; p.urgent > 1 {
		return
	}
	for job := range p.others {
		p.suspend(job)
	}
}

// endUrgent must be called after an urgent job. If no other urgent job runs, it resumes the suspended jobs.
func (p *pauser) endUrgent() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.urgent--; p.urgent > 0 {
		return
	}
	for job := range p.others {
		p.resume(job)
	}
}

// add adds a running job that is not urgent. The caller must call leave as soon as the job's processes have ended. The system can reuse
// their process ids after that, and a later call of suspend or resume would then signal other processes.
func (p *pauser) add(suspend, resume func()) (leave func()) {
	job := &pausable{suspend: suspend, resume: resume, left: maxPause}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.others == nil {
		p.others = map[*pausable]struct{}{}
	}
	p.others[job] = struct{}{}
	if p.urgent > 0 {
		p.suspend(job)
	}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.others, job)
		if job.timer != nil {
			job.timer.Stop()
		}
	}
}

func (p *pauser) suspend(job *pausable) {
	if job.left <= 0 {
		return
	}
	job.since = time.Now()
	job.suspend()
	job.timer = time.AfterFunc(job.left, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, there := p.others[job]; there {
			p.resume(job)
		}
	})
}

func (p *pauser) resume(job *pausable) {
	if job.since.IsZero() {
		return
	}
	job.timer.Stop()
	job.left -= time.Since(job.since)
	job.since = time.Time{}
	job.resume()
}
