// Package proctest builds and ends programs that tests need, such as a certificate authority.
package proctest

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
)

// built contains, by the name of a program, a func() (string, error) that builds the program at its first call, and returns the same result
// at all later calls.
var built sync.Map

// Build builds a program of tools/go.mod with Go's build cache, and returns its path. Later calls for the same name return the result of the
// first call, because Go takes a second of CPU time to examine the sources.
func Build(name string) (string, error) {
	once, _ := built.LoadOrStore(name, sync.OnceValues(func() (string, error) { return build(name) }))
	return once.(func() (string, error))()
}

func build(name string) (string, error) {
	root, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	tools := filepath.Join(filepath.Dir(strings.TrimSpace(string(root))), "tools", "go.mod")
	out, err := exec.Command("go", "tool", "-modfile="+tools, "-n", name).Output() // -n prints the program's path instead of running it
	if failed, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", fmt.Errorf("build %s: %s", name, failed.Stderr)
	}
	return strings.TrimSpace(string(out)), err
}

// Kill ends a running program immediately.
func Kill(process *exec.Cmd) error {
	err := process.Process.Signal(syscall.SIGKILL)
	_ = process.Wait() // its error says that the process was killed
	return err
}
