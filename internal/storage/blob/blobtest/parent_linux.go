package blobtest

import "syscall"

// endWithParent ends the server when a test program is killed and Main never gets to stop it.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
