package blobtest

import "syscall"

// endWithParent makes the kernel kill the server when the test program dies before Main could stop it.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
