//go:build !linux

package proctest

import "syscall"

// EndWithParent returns attributes without effect: only Linux can end a program with its parent. Elsewhere the developer must do it.
func EndWithParent(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
