//go:build !linux

package acmetest

import "syscall"

// endWithParent returns attributes of a process without effect: only Linux can end a process with its parent.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
