// Package program builds the server as it is built for people, for the tests that run it.
package program

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Build makes the program in a folder and gives its path.
func Build(folder string) (string, error) {
	binary := filepath.Join(folder, "atelie")
	build := exec.CommandContext(context.Background(), "go", "build", "-tags", "nodynamic", "-o", binary, "atelie/cmd/atelie")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program: %w: %s", err, out)
	}
	return binary, nil
}

// Value reads NAME=value from what a command has printed.
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

// FreePort is a port of this machine that nobody listens on.
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
