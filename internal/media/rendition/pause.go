package rendition

import (
	"sync"
	"time"
)

// maxPause is how long a job may be paused for urgent jobs in total. The pauses count towards the job's Timeout.
const maxPause = time.Minute

// pauses stops the processes of other jobs while urgent jobs run. The zero value is ready to use.
type pauses struct {
	mu     sync.Mutex
	urgent int                    // number of running urgent jobs
	others map[*pausable]struct{} // other jobs, running or stopped
}

// pausable is a job that is paused while urgent jobs run: halt stops its processes, and resume continues them.
type pausable struct {
	halt, resume func()
	left         time.Duration // rest of maxPause
	since        time.Time     // when the job was stopped; zero while it runs
	timer        *time.Timer   // resumes the job after left
}

// begin must be called before an urgent job. It stops the other jobs.
func (p *pauses) begin() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.urgent++; p.urgent > 1 {
		return
	}
	for job := range p.others {
		p.stop(job)
	}
}

// end must be called after an urgent job. After the last urgent job it continues the other jobs.
func (p *pauses) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.urgent--; p.urgent > 0 {
		return
	}
	for job := range p.others {
		p.resume(job)
	}
}

// join adds a running job that is not urgent. leave must be called as soon as its processes have ended: their ids may be
// reused, and then a signal would reach other processes.
func (p *pauses) join(halt, resume func()) (leave func()) {
	job := &pausable{halt: halt, resume: resume, left: maxPause}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.others == nil {
		p.others = map[*pausable]struct{}{}
	}
	p.others[job] = struct{}{}
	if p.urgent > 0 {
		p.stop(job)
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

func (p *pauses) stop(job *pausable) {
	if job.left <= 0 {
		return
	}
	job.since = time.Now()
	job.halt()
	job.timer = time.AfterFunc(job.left, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		if _, there := p.others[job]; there {
			p.resume(job)
		}
	})
}

func (p *pauses) resume(job *pausable) {
	if job.since.IsZero() {
		return
	}
	job.timer.Stop()
	job.left -= time.Since(job.since)
	job.since = time.Time{}
	job.resume()
}
