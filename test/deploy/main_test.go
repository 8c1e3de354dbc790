// Package deploy keeps the examples in deploy/ true: it starts what they describe, with the real programs, in front of
// real nodes.
package deploy

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"atelie/internal/db/dbtest"
	"atelie/test/program"
)

const root = "../.."

// built is the server's path; folder is where tests keep it.
var built = sync.OnceValues(func() (string, error) { return program.Build(folder) })

var folder string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) (code int) {
	var err error
	if folder, err = os.MkdirTemp("", "atelie-deploy"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	code = m.Run()
	for _, err := range []error{dbtest.Stop(), os.RemoveAll(folder)} {
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = max(code, 1)
		}
	}
	return code
}

// example reads a file of deploy/.
func example(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// replaced changes an example for the test, and fails when it no longer holds what is to be changed.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the example no longer holds %q", pairs[i])
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}

func write(t *testing.T, file, text string) string {
	t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return file
}

// need finds a program that make deps-test installs.
func need(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	for _, other := range []string{"/usr/sbin/" + name, "/usr/bin/" + name} {
		if err == nil {
			break
		}
		path, err = exec.LookPath(other)
	}
	if err != nil {
		t.Fatalf("%s is missing; make deps-test installs it", name)
	}
	return path
}

// lines collects what a program says.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// process starts a program that ends with the test, and shows what it said when the test failed.
func process(t *testing.T, cmd *exec.Cmd) *lines {
	t.Helper()
	said := &lines{}
	if cmd.Stdout == nil {
		cmd.Stdout = said
	}
	cmd.Stderr = said
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	endWithParent(cmd.SysProcAttr)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Errorf("%s: %v", cmd.Path, err)
		}
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s ended with %v", cmd.Path, err)
		}
		if t.Failed() {
			t.Logf("%s said:\n%s", cmd.Path, said)
		}
	})
	return said
}

// node is a running server.
type node struct {
	address string // host:port
	said    *lines
}

// start starts the server and waits until it listens.
func start(t *testing.T, env ...string) *node {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "serve")
	cmd.Env = append(os.Environ(), env...)
	return listening(t, process(t, cmd))
}

// listening waits for the line of the log that names the address.
func listening(t *testing.T, said *lines) *node {
	t.Helper()
	n := &node{said: said}
	eventually(t, "the server listens", func() bool {
		for text := range strings.Lines(said.String()) {
			var line struct{ Msg, Address string }
			if json.Unmarshal([]byte(text), &line) == nil && line.Msg == "listening" {
				n.address = line.Address
			}
		}
		return n.address != ""
	})
	return n
}

// command runs a command of the server on the same settings.
func command(t *testing.T, env []string, args ...string) string {
	t.Helper()
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, args...)
	cmd.Env = append(os.Environ(), env...)
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("atelie %v: %v: %s", args, err, errOut.String())
	}
	return string(out)
}

func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !done(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("waited in vain: %s", what)
		}
	}
}

// answers tells whether an address is served.
func answers(client *http.Client, address string) bool {
	answer, err := client.Get(address)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, answer.Body)
	_ = answer.Body.Close()
	return answer.StatusCode == http.StatusOK
}
