package acmetest

import "syscall"

// endWithParent makes the kernel kill the server when the test program dies without having stopped it.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
