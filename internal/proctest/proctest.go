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

// builders contains a func() (string, error) for each program, by the program's name. The function builds the program at its first call,
// and returns the same result at all later calls.
var builders sync.Map

// Build builds a program that has a tool directive in tools/go.mod, and returns its path in Go's build cache. Later calls for the same name
// return the result of the first call, because Go takes a second of CPU time to examine the sources.
func Build(name string) (string, error) {
	once, _ := builders.LoadOrStore(name, sync.OnceValues(func() (string, error) { return build(name) }))
	return once.(func() (string, error))()
}

func build(name string) (string, error) {
	goMod, err := exec.Command("go", "env", "GOMOD").Output() // the path of the repository's go.mod
	if err != nil {
		return "", err
	}
	toolsMod := filepath.Join(filepath.Dir(strings.TrimSpace(string(goMod))), "tools", "go.mod")
	// With -n, Go builds the program and prints its path, but does not run it.
	out, err := exec.Command("go", "tool", "-modfile="+toolsMod, "-n", name).Output()
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
