package rendition

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"

	"golang.org/x/sys/unix"
)

// This file lowers the priority of workers (processes that make the renditions of one picture) and of the programs that they start, so that
// the server's requests are handled first.

const (
	// workerNice is the nice value of a worker. A nice value is 0 by default and at most 19, which means the lowest priority. Workers
	// do not get the lowest priority, because they must end in time even on a busy machine.
	workerNice = 10
	// A worker with an urgent job has the nice value of the server plus urgentNiceIncrement, at most workerNice. On a processor that the
	// server keeps busy, the worker then gets a quarter of the time. With workerNice it would get a tenth.
	urgentNiceIncrement = 5
	// workerSlice is the scheduler's time slice of a worker in nanoseconds. Since Linux 6.12, threads with a shorter slice, such as
	// the server's, interrupt the worker.
	workerSlice = 20_000_000
	// Arguments of the system call ioprio_set, which sets the priority for the disk.
	ioprioGroup  = 2         // the priority applies to a process group
	ioprioLowest = 2<<13 | 7 // the class "best effort" (2) with its lowest level (7)
)

// lowerPriority gives this process (a worker) and each process that it starts a lower priority than the server's, for processors and disk.
// With an urgent job the process keeps the server's priority for the disk. The calls below have different scopes: setpriority sets the
// process group, sched_setattr one thread, and ioprio_set the process group.
func lowerPriority(urgent bool) error {
	nice := workerNice
	if urgent {
		current, err := unix.Getpriority(unix.PRIO_PROCESS, 0)
		if err != nil {
			return os.NewSyscallError("getpriority", err)
		}
		nice = min(20-current+urgentNiceIncrement, workerNice) // the system call returns 20 minus the nice value
	}
	// This call sets the nice value even without /proc. The loop below needs /proc.
	if err := os.NewSyscallError("setpriority", unix.Setpriority(unix.PRIO_PGRP, 0, nice)); err != nil {
		return err
	}
	// Each thread has its own scheduling attributes. A new thread inherits the attributes of the thread that starts it. Threads may
	// start while the list of threads is read, so the list is read again until it has no new threads.
	lowered := map[string]bool{}
	for foundNew := true; foundNew; {
		threads, err := filepath.Glob("/proc/self/task/*")
		if err != nil {
			return err
		}
		foundNew = false
		for _, path := range threads {
			if lowered[path] {
				continue
			}
			lowered[path], foundNew = true, true
			id, err := strconv.Atoi(filepath.Base(path))
			if err != nil {
				return fmt.Errorf("thread %q: %w", path, err)
			}
			attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: int32(nice), Runtime: workerSlice}
			if err := unix.SchedSetAttr(id, &attr, 0); isFatal(err) {
				return os.NewSyscallError("sched_setattr", err)
			}
		}
	}
	if urgent {
		return nil
	}
	if _, _, err := unix.Syscall(unix.SYS_IOPRIO_SET, ioprioGroup, 0, ioprioLowest); err != 0 && isFatal(err) {
		return os.NewSyscallError("ioprio_set", err)
	}
	return nil
}

// startIdle starts a program in the scheduling class SCHED_IDLE, so that it gets only processors that are idle. A thread that only
// has a low priority can delay other threads by milliseconds even while another processor is idle. A thread in SCHED_IDLE is
// preempted immediately.
func startIdle(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // never unlocked: the thread cannot leave this class, and ends with its goroutine
		if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Nice: workerNice}, 0); isFatal(err) {
			started <- os.NewSyscallError("sched_setattr", err)
			return
		}
		started <- cmd.Start()
	}()
	return <-started
}

// isFatal reports whether an error of a scheduling call must be returned. It is false for threads that have ended, and for systems
// that do not allow the call, such as containers.
func isFatal(err error) bool {
	return err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL)
}
