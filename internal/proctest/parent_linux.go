package proctest

import "syscall"

// EndWithParent returns attributes for starting a program: the kernel sends the program this signal when the test program dies, for
// example because it was killed.
func EndWithParent(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}
