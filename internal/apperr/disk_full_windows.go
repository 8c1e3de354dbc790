package apperr

import (
	"errors"

	"golang.org/x/sys/windows"
)

// IsDiskFull reports whether a write failed because the disk or the user's share of it is full.
func IsDiskFull(err error) bool {
	return errors.Is(err, windows.ERROR_DISK_FULL) || errors.Is(err, windows.ERROR_HANDLE_DISK_FULL) || errors.Is(err, windows.ERROR_DISK_QUOTA_EXCEEDED)
}
