//go:build unix

package datafolder

import (
	"errors"
	"io/fs"
	"os"
	"strconv"
	"syscall"
)

// This file has the functions that depend on the operating system, for Unix. Those for Windows are in system_windows.go.

// hasPermissionBits is true if permission bits decide who may read a file.
const hasPermissionBits = true

// TryLock locks a file or folder without waiting. It returns false if another process holds the lock. The kernel releases the lock when
// the file is closed, also after a crash.
func TryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// processHasEnded reports whether no process has this id. Signal 0 sends nothing and only checks that the process exists.
func processHasEnded(pid int) bool { return errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// openStartLock opens the file that LockStart locks while a server starts. On Unix this is the data folder itself.
func openStartLock(dir string) (*os.File, error) { return os.Open(dir) }

// SyncFolder writes a folder's entries to disk, so that new and renamed files are still there after a power failure.
func SyncFolder(dir string) error {
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// diskSpace returns the free and the total space in bytes of the disk that holds the folder.
func diskSpace(dir string) (free, total int64, err error) {
	var stat syscall.Statfs_t
	if err := syscall.Statfs(dir, &stat); err != nil {
		return 0, 0, os.NewSyscallError("statfs", err)
	}
	return int64(stat.Bavail) * int64(stat.Bsize), int64(stat.Blocks) * int64(stat.Bsize), nil //nolint:unconvert // on other systems the fields have other types
}

// fileSystemID returns an identifier of the file system of a file or folder. It follows symbolic links.
func fileSystemID(name string) (string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return "", err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return "", errors.ErrUnsupported
	}
	return strconv.FormatUint(uint64(stat.Dev), 10), nil //nolint:unconvert // on other systems the fields have other types
}

// allocatedSize returns how many bytes a file occupies on the disk.
func allocatedSize(info fs.FileInfo) int64 {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0
	}
	return stat.Blocks * 512 // the unit of Blocks on all systems, not the block size of the file system
}

// isOwnedByUser reports whether a file belongs to the user that runs the program.
func isOwnedByUser(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return !ok || int(stat.Uid) == os.Geteuid()
}

// OpenShared opens a file that can be renamed and removed while it is open.
func OpenShared(name string, flag int, mode os.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, mode)
}
