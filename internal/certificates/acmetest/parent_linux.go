package acmetest

import "syscall"

// endWithParent ends the server when a test program is killed before it can stop it.
func endWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
