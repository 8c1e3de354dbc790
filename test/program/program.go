// Package program builds the released program for the tests that run it.
package program

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
)

// Build builds the program into a folder and returns its path. It uses the flags of make, so that the build cache is shared.
// If TEST_PROGRAMS names a folder, Build returns the program in it, which scripts/test.mjs has built for all tests.
func Build(folder string) (string, error) {
	if programs := os.Getenv("TEST_PROGRAMS"); programs != "" {
		return filepath.Join(programs, "atelie"), nil
	}
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

// FreePort chooses a port from this range. It is below the range from which Linux assigns ports to programs that ask for any port, so no
// other program gets a chosen port before the test's program listens on it.
const firstPort, lastPort = 20_000, 32_000

// chosen has the ports that FreePort has returned in this process.
var chosen sync.Map

// FreePort returns a TCP port of this machine on which nothing listens, and which it has not returned before.
func FreePort(t testing.TB) string {
	t.Helper()
	for {
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort))
		if _, again := chosen.LoadOrStore(port, true); again {
			continue
		}
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:"+port)
		if errors.Is(err, syscall.EADDRINUSE) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		_ = l.Close() // nothing is connected
		return port
	}
}
