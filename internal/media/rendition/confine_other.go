//go:build !linux

package rendition

import (
	"os/exec"
	"time"
)

// confine does nothing, because its limits exist only on Linux. Here only Config.Timeout and GOMEMLIMIT limit a job.
func confine(int64, time.Duration, bool) error { return nil }

// startIdle starts a program with normal priority, because SCHED_IDLE, the scheduling class for idle processors, exists only on Linux.
func startIdle(cmd *exec.Cmd) error { return cmd.Start() }

// machineMemory returns 0 (unknown). The memory is read on Linux only.
func machineMemory() int64 { return 0 }
