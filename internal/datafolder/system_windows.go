package datafolder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/windows"
)

// This file has the functions that depend on the operating system, for Windows. Those for Unix are in system_unix.go.

// hasPermissionBits is false because files have no permission bits on Windows. Inherited access control lists decide who may read a file.
const hasPermissionBits = false

// lockOffsetHigh is the high 32 bits of the offset of the byte that TryLock locks. The byte is far beyond the end of the file, because on
// Windows other processes cannot read a locked byte, and they must be able to read the content of the file.
const lockOffsetHigh = 1 << 30

// TryLock locks a file without waiting. It returns false if another process holds the lock. The kernel releases the lock when the file is
// closed, also after a crash.
func TryLock(f *os.File) (bool, error) {
	err := windows.LockFileEx(windows.Handle(f.Fd()), windows.LOCKFILE_EXCLUSIVE_LOCK|windows.LOCKFILE_FAIL_IMMEDIATELY, 0, /* reserved */
		1, 0 /* a length of 1 byte */, &windows.Overlapped{OffsetHigh: lockOffsetHigh})
	if errors.Is(err, windows.ERROR_LOCK_VIOLATION) {
		return false, nil
	}
	return err == nil, os.NewSyscallError("LockFileEx", err)
}

// processHasEnded always returns false. On Unix, lockUnlessHeld uses it to recognize a lock that a child process has inherited from a process
// that was killed. On Windows, child processes do not inherit locks.
func processHasEnded(int) bool { return false }

// openStartLock opens the file that LockStart locks. It is not the data folder itself, as on Unix, because Windows cannot lock a folder.
func openStartLock(dir string) (*os.File, error) {
	return os.OpenFile(filepath.Join(dir, "start.lock"), os.O_RDWR|os.O_CREATE, fileMode)
}

// SyncFolder writes a folder's entries to disk, so that new and renamed files are still there after a power failure.
func SyncFolder(dir string) error {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return err
	}
	// os.Open opens a folder only for reading, but FlushFileBuffers needs the right to write.
	handle, err := windows.CreateFile(name, windows.GENERIC_READ|windows.GENERIC_WRITE, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE,
		nil, windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0)
	if err != nil {
		return &fs.PathError{Op: "open", Path: dir, Err: err}
	}
	return errors.Join(os.NewSyscallError("FlushFileBuffers", windows.FlushFileBuffers(handle)), windows.CloseHandle(handle))
}

// diskSpace returns the free and the total space in bytes of the disk that holds the folder.
func diskSpace(dir string) (free, total int64, err error) {
	name, err := windows.UTF16PtrFromString(dir)
	if err != nil {
		return 0, 0, err
	}
	var available, size uint64
	err = windows.GetDiskFreeSpaceEx(name, &available, &size, nil)
	return int64(available), int64(size), os.NewSyscallError("GetDiskFreeSpaceEx", err)
}

// fileSystemID returns what identifies the file system of a file or folder: where its volume is mounted. Links are followed.
func fileSystemID(name string) (string, error) {
	resolved, err := filepath.EvalSymlinks(name)
	if err != nil {
		return "", err
	}
	path, err := windows.UTF16PtrFromString(resolved)
	if err != nil {
		return "", err
	}
	volume := make([]uint16, windows.MAX_LONG_PATH)
	err = windows.GetVolumePathName(path, &volume[0], uint32(len(volume)))
	return strings.ToLower(windows.UTF16ToString(volume)), os.NewSyscallError("GetVolumePathName", err)
}

// allocatedSize returns how many bytes a file occupies on the disk: its size, because on Windows the program creates no sparse files.
func allocatedSize(info fs.FileInfo) int64 { return info.Size() }

// isOwnedByUser returns true. It is never called, because hasPermissionBits is false.
func isOwnedByUser(fs.FileInfo) bool { return true }

// OpenShared opens a file that can be renamed and removed while it is open, which os.OpenFile does not allow on Windows. It
// ignores the mode: files inherit their access control list.
func OpenShared(name string, flag int, _ os.FileMode) (*os.File, error) {
	path, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return nil, err
	}
	access, create := uint32(windows.GENERIC_READ), uint32(windows.OPEN_EXISTING)
	if flag&os.O_RDWR != 0 {
		access |= windows.GENERIC_WRITE
	}
	switch {
	case flag&(os.O_CREATE|os.O_EXCL) == os.O_CREATE|os.O_EXCL:
		create = windows.CREATE_NEW
	case flag&os.O_CREATE != 0:
		create = windows.OPEN_ALWAYS
	}
	handle, err := windows.CreateFile(path, access, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil, create, windows.FILE_ATTRIBUTE_NORMAL, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: err}
	}
	return os.NewFile(uintptr(handle), name), nil
}
