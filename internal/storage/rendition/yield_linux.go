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

const (
	// workerNice is low but not the lowest: where others are busy too a worker must still end within its time.
	workerNice = 10
	// workerSlice is how long, in nanoseconds, a worker keeps a processor among its like. Threads with a shorter slice, as
	// the site's are, get in at once and not after this one's (Linux 6.12; older ones pass it over).
	workerSlice = 20_000_000
	// Of ioprio_set(2): a whole group; best effort, its lowest level.
	ioprioGroup  = 2
	ioprioLowest = 2<<13 | 7
)

// yield makes this process and all that it will start give way to the site, at the processors and at the disk.
func yield() error {
	// Where /proc is missing the group's priority must do.
	if err := os.NewSyscallError("setpriority", unix.Setpriority(unix.PRIO_PGRP, 0, workerNice)); err != nil {
		return err
	}
	// Each thread has a priority of its own, and a new one takes that of the thread which starts it: a second look finds those
	// that were started by others while the first one went on, until a look finds none.
	lowered := map[string]bool{}
	for more := true; more; {
		threads, err := filepath.Glob("/proc/self/task/*")
		if err != nil {
			return err
		}
		more = false
		for _, path := range threads {
			if lowered[path] {
				continue
			}
			lowered[path], more = true, true
			id, err := strconv.Atoi(filepath.Base(path))
			if err != nil {
				return fmt.Errorf("thread %q: %w", path, err)
			}
			attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_BATCH, Nice: workerNice, Runtime: workerSlice}
			if err := unix.SchedSetAttr(id, &attr, 0); grave(err) {
				return os.NewSyscallError("sched_setattr", err)
			}
		}
	}
	if _, _, err := unix.Syscall(unix.SYS_IOPRIO_SET, ioprioGroup, 0, ioprioLowest); err != 0 && grave(err) {
		return os.NewSyscallError("ioprio_set", err)
	}
	return nil
}

// startIdle starts a program that gets a processor only when nobody else wants it. What waits for one on account of a
// priority may wait for milliseconds while another processor has nothing to do; the idle are pushed aside at once.
func startIdle(cmd *exec.Cmd) error {
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // for good: the thread cannot come back from this class, and ends with its goroutine
		if err := unix.SchedSetAttr(0, &unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_IDLE, Nice: workerNice}, 0); grave(err) {
			started <- os.NewSyscallError("sched_setattr", err)
			return
		}
		started <- cmd.Start()
	}()
	return <-started
}

// grave leaves out what is no reason not to work: a thread that has ended, a container that does not let its programs
// lower themselves.
func grave(err error) bool {
	return err != nil && !errors.Is(err, unix.ESRCH) && !errors.Is(err, unix.EPERM) && !errors.Is(err, unix.ENOSYS) && !errors.Is(err, unix.EINVAL)
}
