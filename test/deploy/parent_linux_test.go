package deploy

import "syscall"

// endWithParent ends a program when the tests are killed before they can stop it.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
