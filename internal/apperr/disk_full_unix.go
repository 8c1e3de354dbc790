//go:build unix

package apperr

import (
	"errors"
	"syscall"
)

// IsDiskFull reports whether err is the error of a write that failed because the disk is full or the user's quota is used up.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
