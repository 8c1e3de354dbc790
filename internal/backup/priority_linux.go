package backup

import (
	"os"
	"runtime"
	"sync"
	"syscall"
)

// This file runs the nightly trial restore of the backup at a low priority, so that it does not slow requests down.

// proofNice is the nice value of the thread that runs the trial restore. On a busy machine a thread with this value gets a tenth of the
// processor time of a request's thread.
const proofNice = 10

// lowPriority starts the thread of atLowPriority. It returns a channel for the functions that the thread is to call. The thread never
// ends, for two reasons: an unprivileged program cannot lower a nice value again, and processes that a thread has started with Pdeathsig
// are killed when the thread ends.
var lowPriority = sync.OnceValues(func() (chan<- func(), error) {
	calls, ready := make(chan func()), make(chan error)
	go func() {
		runtime.LockOSThread()
		thread := syscall.Gettid()
		inverse, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread) // the system call returns 20 less the nice value
		if err == nil {
			err = syscall.Setpriority(syscall.PRIO_PROCESS, thread, max(20-inverse, proofNice))
		}
		if ready <- os.NewSyscallError("setpriority", err); err != nil {
			runtime.UnlockOSThread()
			return
		}
		for call := range calls {
			call()
		}
	}()
	return calls, <-ready
})

// atLowPriority calls fn in a thread with the nice value proofNice. Other callers wait meanwhile.
func atLowPriority(fn func() error) error {
	calls, err := lowPriority()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	calls <- func() { done <- fn() }
	return <-done
}
