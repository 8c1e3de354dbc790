//go:build !linux

package rendition

import (
	"os/exec"
	"time"
)

// confine does nothing, because the limits of confine_linux.go exist on Linux alone. Here only Config.Timeout and GOMEMLIMIT limit
// a job.
func confine(int64, time.Duration, bool) error { return nil }

// startIdle starts a program with normal priority, because SCHED_IDLE (yield_linux.go) exists on Linux alone.
func startIdle(cmd *exec.Cmd) error { return cmd.Start() }

// machineMemory returns 0, which means unknown. The memory is read on Linux only.
func machineMemory() int64 { return 0 }
