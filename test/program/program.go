// Package program builds the released program for the tests that run it.
package program

import (
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Build builds the program into a folder and returns its path. It uses the flags of make, so that the build cache is shared.
func Build(folder string) (string, error) {
	root, err := exec.CommandContext(context.Background(), "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	binary := filepath.Join(folder, "atelie")
	build := exec.CommandContext(context.Background(), "scripts/build.sh", binary)
	build.Dir = strings.TrimSpace(string(root))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w: %s", err, out)
	}
	return binary, nil
}

// Value returns the value of a NAME=value line in the output of a command.
func Value(t testing.TB, printed, name string) string {
	t.Helper()
	for line := range strings.Lines(printed) {
		if value, ok := strings.CutPrefix(strings.TrimSpace(line), name+"="); ok {
			return value
		}
	}
	t.Fatalf("no %s in %q", name, printed)
	return ""
}

// FreePort returns a TCP port of this machine on which nothing listens.
func FreePort(t testing.TB) string {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
