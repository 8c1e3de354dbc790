//go:build !linux

package blobtest

import "syscall"

func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
