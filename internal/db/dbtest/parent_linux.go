package dbtest

import "syscall"

// endWithParent makes the kernel stop the server when the test program dies, for example because it was killed before Main
// could call Stop.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGQUIT }
