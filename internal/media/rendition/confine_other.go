//go:build !linux

package rendition

import (
	"os/exec"
	"time"
)

// This file replaces the functions of confine_linux.go and yield_linux.go on other systems. On Linux those functions limit a worker (a
// process that makes the renditions of one picture) and lower its priority.

// confine does nothing, because its limits exist only on Linux. On other systems a worker has only the limit of its running time
// (Config.Timeout) and Go's soft limit of memory (GOMEMLIMIT).
func confine(memory int64, cpu time.Duration, urgent bool) error { return nil }

// startIdle starts a program with normal priority. On Linux the program would run only on idle processors (SCHED_IDLE).
func startIdle(cmd *exec.Cmd) error { return cmd.Start() }

// machineMemory returns 0, which means unknown, because the memory is only read on Linux.
func machineMemory() int64 { return 0 }
