//go:build !linux

package rendition

import (
	"os/exec"
	"time"
)

// confine does nothing: on this system only Config.Timeout and GOMEMLIMIT limit a job.
func confine(int64, time.Duration) error { return nil }

// startIdle starts a program with normal priority, because this system has no class for idle processors.
func startIdle(cmd *exec.Cmd) error { return cmd.Start() }
