package blobtest

import "syscall"

// endWithParent returns attributes of a process with which the kernel kills it when its parent, the test program, dies.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
