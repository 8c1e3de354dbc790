package backup

import (
	"os"
	"runtime"
	"sync"
	"syscall"
)

// This file runs the restore test of the backup (a nightly trial restore) at a low priority, so that it does not slow requests down.

// restoreTestNice is the nice value of the thread that runs the restore test. A higher value means a lower priority. On a busy machine a
// thread with this value gets a tenth of the processor time of a request's thread.
const restoreTestNice = 10

// lowPriority starts the thread of atLowPriority, once. It returns a channel for the functions that the thread is to call. The thread never
// ends, for two reasons:
//   - An unprivileged program cannot lower a nice value again, so the thread cannot be used for anything else.
//   - When a thread ends, Linux kills the processes that the thread has started with Pdeathsig (a signal at the end of their parent).
var lowPriority = sync.OnceValues(func() (chan<- func(), error) {
	calls, ready := make(chan func()), make(chan error)
	go func() {
		runtime.LockOSThread()
		thread := syscall.Gettid()
		inverse, err := syscall.Getpriority(syscall.PRIO_PROCESS, thread) // the system call returns 20 minus the nice value
		err = os.NewSyscallError("getpriority", err)                      // nil if err is nil
		if err == nil {
			// A nice value that is higher already is kept.
			err = os.NewSyscallError("setpriority", syscall.Setpriority(syscall.PRIO_PROCESS, thread, max(20-inverse, restoreTestNice)))
		}
		ready <- err
		if err != nil {
			runtime.UnlockOSThread()
			return
		}
		for call := range calls {
			call()
		}
	}()
	return calls, <-ready
})

// atLowPriority calls fn in a thread with the nice value restoreTestNice. Other callers wait meanwhile.
func atLowPriority(fn func() error) error {
	calls, err := lowPriority()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	calls <- func() { done <- fn() }
	return <-done
}
