package datafolder

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// holdLock locks the lock file of a folder, and writes pid into it, as a process with this id would. Closing the returned file releases the
// lock.
func holdLock(t *testing.T, dir string, pid int) *os.File {
	t.Helper()
	f, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, fileMode)
	if err != nil {
		t.Fatal(err)
	}
	if locked, err := TryLock(f); err != nil || !locked {
		t.Fatal(locked, err)
	}
	if _, err := f.WriteString(strconv.Itoa(pid)); err != nil {
		t.Fatal(err)
	}
	return f
}

// opened returns how often this process has opened the file at path.
func opened(t *testing.T, path string) (n int) {
	t.Helper()
	links, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if to, err := os.Readlink("/proc/self/fd/" + l.Name()); err == nil && to == path { // the listing's own file is closed
			n++
		}
	}
	return n
}

func TestLockWaitsForTheLockOfAKilledProcess(t *testing.T) {
	dir := t.TempDir()
	ended := exec.Command("true") // its process id belongs to no running process
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	held := holdLock(t, dir, ended.Process.Pid)
	locked := make(chan error, 1)
	go func() {
		release, err := Lock(dir)
		if err == nil {
			err = release()
		}
		locked <- err
	}()
	// Lock has opened the file too, so it has begun to wait.
	for opened(t, held.Name()) < 2 && len(locked) == 0 {
		runtime.Gosched()
	}
	if err := held.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-locked; err != nil {
		t.Error(err)
	}
}

func TestLockOfARunningProcessIsRefused(t *testing.T) {
	dir := t.TempDir()
	held := holdLock(t, dir, os.Getpid())
	defer func() { _ = held.Close() }()
	_, err := Lock(dir)
	var inUse *InUseError
	if !errors.As(err, &inUse) || inUse.PID != os.Getpid() {
		t.Error(err)
	}
}
