//go:build unix

package rendition

import (
	"os"
	"os/exec"
	"syscall"
)

// leadNewGroup makes the command's process the leader of a new process group, to which the programs that it starts belong too.
// When the command's context ends, the whole group is killed.
func leadNewGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// killGroup kills the remaining processes of a group whose leader has ended. Usually there are none.
func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// stopGroup stops the processes of a group; resumeGroup continues them. Both do nothing if the group has ended.
func stopGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGSTOP) }

func resumeGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGCONT) }

// killOwnGroup kills this process and all others of its group: the programs that it started. It does not return.
func killOwnGroup() { _ = syscall.Kill(0, syscall.SIGKILL) }

// keepFilesPrivate makes new files of this process and of programs that it starts readable only for their user.
func keepFilesPrivate() { syscall.Umask(0o077) }

func readUsage(p *os.ProcessState) usage {
	if p == nil {
		return usage{}
	}
	u := usage{cpu: p.UserTime() + p.SystemTime()}
	if r, ok := p.SysUsage().(*syscall.Rusage); ok {
		u.peak = int64(r.Maxrss) * maxrssUnit //nolint:unconvert // 32 bits on some
	}
	return u
}
