package datafolder

import (
	"errors"
	"os"
	"syscall"
)

// allocate reserves disk space for a file of size bytes: the reserve (space.go). On a file system that cannot reserve space, it fills the
// file with data instead.
func allocate(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return fill(f, size)
	}
	return err
}
