//go:build !linux

package acmetest

import "syscall"

func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
