//go:build !linux

package proctest

import "syscall"

// EndWithParent returns attributes without effect, because only Linux can end a program together with the one that started it. On other
// systems the developer must end a program by hand if its test was killed.
func EndWithParent(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
