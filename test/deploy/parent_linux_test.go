package deploy

import "syscall"

// endWithParent kills a program if the test process dies without stopping it.
func endWithParent(attr *syscall.SysProcAttr) { attr.Pdeathsig = syscall.SIGKILL }
