package dbtest

import "syscall"

// endWithParent ends the server when a test program is killed and Main never gets to stop it.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
