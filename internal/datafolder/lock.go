package datafolder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"atelie/internal/apperr"
	"atelie/internal/interval"
)

// This file locks the data folder, so that two processes do not use it at the same time.

// InUseError is the error of Lock if another process has locked the data folder.
type InUseError struct {
	Folder string // absolute path
	PID    int    // id of the other process; 0 if unknown
}

func (e *InUseError) Error() string {
	holder := "another program"
	if e.PID > 0 {
		holder = "the process " + strconv.Itoa(e.PID)
	}
	return fmt.Sprintf("the data folder %s is in use: %s is serving or copying it; stop it first, or set another --data-dir for this program", e.Folder, holder)
}

// Lock locks the data folder for this process: the server, or a command that must not run while a server uses the folder. Only one process
// at a time can have the lock. The kernel releases the lock when the process ends, also after a crash. If another process has the lock, the
// error is an *InUseError.
func Lock(dir string) (release func() error, err error) {
	path, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(path, lockFile), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		return nil, fmt.Errorf("lock the data folder: %w", err)
	}
	locked, holderPID, err := lockUnlessHeld(f)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock the data folder: %w", err), f.Close())
	}
	if !locked {
		return nil, errors.Join(&InUseError{Folder: path, PID: holderPID}, f.Close())
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil && !apperr.IsDiskFull(err) { // on a full disk the server still starts; only its process id is missing
		return nil, errors.Join(fmt.Errorf("lock the data folder: %w", err), f.Close())
	}
	return f.Close, nil // the file is not deleted, because another process may have opened it already, to lock it
}

const (
	lockRetryInterval = 20 * time.Millisecond // pause between two attempts to lock
	inheritedTimeout  = 5 * time.Second       // how long lockUnlessHeld waits for a lock whose holder was killed
)

// lockUnlessHeld locks the file, unless a running process has the lock. In that case holderPID is the id of that process, or 0 if unknown. If
// the holder was killed while it started another program, its child process has inherited the lock and has it until the child executes that
// program. lockUnlessHeld waits for that.
func lockUnlessHeld(f *os.File) (locked bool, holderPID int, err error) {
	for deadline := time.Now().Add(inheritedTimeout); ; time.Sleep(lockRetryInterval) {
		if locked, err = TryLock(f); locked || err != nil {
			return locked, 0, err
		}
		// An error is ignored. If the id is unknown, lockUnlessHeld does not wait, and the InUseError does not name the process.
		text, _ := io.ReadAll(io.NewSectionReader(f, 0, 20))
		holderPID, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		if holderPID <= 0 || !processHasEnded(holderPID) || time.Now().After(deadline) {
			return false, holderPID, nil
		}
	}
}

// LockStart acquires a second lock of the data folder, which a program holds only while it starts. It waits until no other program has that
// lock. If ctx ends first, the error is ctx.Err().
func LockStart(ctx context.Context, dir string) (release func() error, err error) {
	f, err := openStartLock(dir)
	if err != nil {
		return nil, fmt.Errorf("data-dir: %w", err)
	}
	for {
		locked, err := TryLock(f)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("lock the data folder: %w", err), f.Close())
		}
		if locked {
			return f.Close, nil
		}
		if interval.Sleep(ctx, lockRetryInterval) != nil {
			return nil, errors.Join(ctx.Err(), f.Close())
		}
	}
}
