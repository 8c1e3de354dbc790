package datafolder

import (
	"errors"
	"os"
	"syscall"
)

// allocate makes the file f occupy size bytes of the disk. The program keeps such a file to free its space when the disk is full. On a file
// system that cannot reserve space, allocate fills the file with data instead.
func allocate(f *os.File, size int64) error {
	err := syscall.Fallocate(int(f.Fd()), 0, 0, size)
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return fill(f, size)
	}
	return err
}
