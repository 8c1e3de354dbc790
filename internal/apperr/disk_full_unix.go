//go:build unix

package apperr

import (
	"errors"
	"syscall"
)

// IsDiskFull reports whether a write failed because the disk or the user's share of it is full.
func IsDiskFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
