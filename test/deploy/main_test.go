// Package deploy checks the examples in deploy/: it runs the programs that they configure, with the server behind them.
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

// built builds the server into folder and returns its path.
var built = sync.OnceValues(func() (string, error) { return program.Build(folder) })

var folder string

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

// run runs the tests, and removes everything that they made.
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

// replaced returns the text of an example with the first text of each pair replaced by the second. It fails the test if one is missing.
func replaced(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("the example does not contain %q", pairs[i])
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

// need returns the path of a program that make deps-test installs.
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

// lines collects the output of a program.
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

// process starts a program, which is stopped at the end of the test. Its output is shown if the test fails.
func process(t *testing.T, cmd *exec.Cmd) *lines {
	t.Helper()
	output := &lines{}
	if cmd.Stdout == nil {
		cmd.Stdout = output
	}
	cmd.Stderr = output
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
			t.Logf("output of %s:\n%s", cmd.Path, output)
		}
	})
	return output
}

// node is a running server.
type node struct {
	address string // host:port
	output  *lines
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

// listening waits for the log line with the listen address.
func listening(t *testing.T, output *lines) *node {
	t.Helper()
	n := &node{output: output}
	eventually(t, "the server listens", func() bool {
		for text := range strings.Lines(output.String()) {
			var line struct{ Msg, Address string }
			if json.Unmarshal([]byte(text), &line) == nil && line.Msg == "listening" {
				n.address = line.Address
			}
		}
		return n.address != ""
	})
	return n
}

// command runs a command of the program and returns its output.
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

// eventually waits for more than a minute, because a certificate that was not issued is requested again after a minute.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Minute); !done(); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("timed out waiting until %s", what)
		}
	}
}

// answers reports whether a URL responds with status 200.
func answers(client *http.Client, address string) bool {
	response, err := client.Get(address)
	if err != nil {
		return false
	}
	_, _ = io.Copy(io.Discard, response.Body)
	_ = response.Body.Close()
	return response.StatusCode == http.StatusOK
}
