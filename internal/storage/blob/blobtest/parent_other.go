//go:build !linux

package blobtest

import "syscall"

// endWithParent returns attributes of a process without effect: only Linux can end a process with its parent.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
