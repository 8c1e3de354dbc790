//go:build unix

package rendition

import (
	"os/exec"
	"syscall"
)

// This file controls the process groups of workers. A group is a worker and the programs that it started.

// leadNewGroup makes the command's process the leader of a new process group. If the command's context ends, the whole group is killed.
func leadNewGroup(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

// killGroup kills the remaining processes of a group whose leader has ended. Usually none remains.
func killGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }

// suspendGroup suspends the processes of a group; resumeGroup continues them. Both do nothing if the group has ended.
func suspendGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGSTOP) }

func resumeGroup(c *exec.Cmd) { _ = syscall.Kill(-c.Process.Pid, syscall.SIGCONT) }

// killOwnGroup kills this process and all others of its group: the programs that it started. It does not return.
func killOwnGroup() { _ = syscall.Kill(0, syscall.SIGKILL) }

// keepFilesPrivate makes new files of this process, and of programs that it starts, accessible to their user only.
func keepFilesPrivate() { syscall.Umask(0o077) }
