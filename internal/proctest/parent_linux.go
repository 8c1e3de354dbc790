package proctest

import "syscall"

// EndWithParent returns attributes for starting a program. With them, the kernel sends the signal to the program when the test program dies,
// for example because it was killed.
func EndWithParent(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}
