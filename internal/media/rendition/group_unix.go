//go:build unix

package rendition

import (
	"os"
	"os/exec"
	"syscall"
)

// ownGroup makes the process the leader of a new process group. When the command's context ends, the whole group is killed.
func ownGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// endGroup kills the remaining processes of a group whose leader has ended. Usually there are none.
func endGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// haltGroup stops the processes of a group; resumeGroup continues them. Both do nothing if the group has ended.
func haltGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGSTOP) }

func resumeGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGCONT) }

// endOwnGroup kills this process and the processes that it started. It does not return.
func endOwnGroup() { _ = syscall.Kill(0, syscall.SIGKILL) }

// keepFilesPrivate makes new files of this process and of programs that it starts readable only for their user.
func keepFilesPrivate() { syscall.Umask(0o077) }

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
