package proctest

import "syscall"

// EndWithParent makes the kernel end a program with this signal when the test program dies, for example because it was killed.
func EndWithParent(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}
