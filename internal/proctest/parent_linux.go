package proctest

import "syscall"

// EndWithParent returns attributes with which a test starts a program. When the test program dies, for example because it was killed, the
// kernel sends the signal to the started program.
func EndWithParent(signal syscall.Signal) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: signal}
}
