//go:build !linux

package dbtest

import "syscall"

// endWithParent does nothing: only Linux can stop the server together with a test program that is killed. Elsewhere the
// developer must stop it.
func endWithParent(*syscall.SysProcAttr) {}
