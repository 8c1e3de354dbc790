//go:build unix

package rendition

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the process the head of a group, which dies as a whole when its context ends.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// endGroup ends what is left of a group whose head has ended. None left is the rule.
func endGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// endOwnGroup ends this process and what it started. It does not return.
func endOwnGroup() { _ = syscall.Kill(0, syscall.SIGKILL) }

func usageOf(p *os.ProcessState) usage {
	if p == nil {
		return usage{}
	}
	u := usage{cpu: p.UserTime() + p.SystemTime()}
	if r, ok := p.SysUsage().(*syscall.Rusage); ok {
		u.peak = int64(r.Maxrss) * maxrssUnit //nolint:unconvert // 32 bits on some
	}
	return u
}
