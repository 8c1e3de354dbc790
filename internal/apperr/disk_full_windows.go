package apperr

import (
	"errors"

	"golang.org/x/sys/windows"
)

// IsDiskFull reports whether err is the error of a write that failed because the disk is full or the user's quota is used up.
func IsDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
