//go:build !linux

package proctest

import "syscall"

// EndWithParent returns attributes without effect, because only Linux can end a program with its parent. On other systems the developer must
// end such programs by hand.
func EndWithParent(syscall.Signal) *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
