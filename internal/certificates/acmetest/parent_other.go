//go:build !linux

package acmetest

import "syscall"

// endWithParent does nothing: other systems cannot end a process with its parent.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
