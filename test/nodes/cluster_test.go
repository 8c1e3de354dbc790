//go:build !race

package nodes

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/mail/mailtest"
	"atelie/internal/storage/blob/blobtest"
	"atelie/test/program"
)

func TestMain(m *testing.M) { blobtest.Main(m, dbtest.Stop) }

// cluster is a number of nodes on one database and one bucket, behind a balancer.
type cluster struct {
	t          *testing.T
	binary     string
	nodes      []*node
	balancer   *balancer
	mailServer *mailtest.Server
	url        string // of the balancer
	anon       string
	service    string
}

// node is one program, with its own data folder. Its address stays the same after a restart.
type node struct {
	address string
	env     []string
	binary  string

	mu      sync.Mutex
	process *exec.Cmd
	logs    bytes.Buffer // of the current process
	setup   chan string  // tokens of the setup links that it printed
}

func (n *node) url() string { return "http://" + n.address }

// startCluster builds the program and starts all nodes at the same time, on a database that is not migrated yet.
func startCluster(t *testing.T, count int, env ...string) *cluster {
	t.Helper()
	binary, err := program.Build(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{t: t, binary: binary}
	bucket := blobtest.Bucket(t)
	c.mailServer, err = mailtest.Start(mailtest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.mailServer.Close() }) // connections of killed nodes may be left
	shared := append([]string{
		"ATELIE_SMTP_URL=smtp://" + c.mailServer.Address() + "?tls=none", "ATELIE_MAIL_FROM=Alvor <ola@alvor.example>",
		"ATELIE_DATABASE_URL=" + emptyDatabase(t),
		fmt.Sprintf("ATELIE_STORAGE_URL=s3://%s:%s@%s/%s?tls=off&create=on", bucket.KeyID, bucket.Secret, strings.TrimPrefix(bucket.Endpoint, "http://"), bucket.Bucket),
		"ATELIE_JWT_SECRET=" + strings.Repeat("nodes-share-this", 3), "ATELIE_TRUSTED_PROXIES=127.0.0.1",
		"ATELIE_MESSAGES_PER_HOUR=0", // no limit: the load would exceed it
	}, env...)
	c.balancer = startBalancer(t)
	c.url = c.balancer.url
	for range count {
		n := &node{address: "127.0.0.1:" + program.FreePort(t), binary: c.binary, setup: make(chan string, 1)}
		n.env = append([]string{"ATELIE_DATA_DIR=" + t.TempDir(), "ATELIE_LISTEN=" + n.address, "ATELIE_SITE_URL=" + c.url}, shared...)
		c.nodes = append(c.nodes, n)
	}
	keys := c.run("keys")
	c.anon, c.service = program.Value(t, keys, "ANON_KEY"), program.Value(t, keys, "SERVICE_ROLE_KEY")
	var starting sync.WaitGroup
	failed := make([]error, count)
	for i, n := range c.nodes {
		t.Cleanup(func() { n.end(t) })
		starting.Go(func() { failed[i] = n.start(t.Context()) })
	}
	starting.Wait()
	for _, err := range failed {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.balancer.serve(c.nodes)
	return c
}

// emptyDatabase returns the address of a database without tables.
func emptyDatabase(t *testing.T) string {
	t.Helper()
	address := dbtest.URL(t, db.Postgres)
	d, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	for _, statement := range []string{"drop schema public cascade", "create schema public"} {
		if _, err := d.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
	return address
}

// run runs a command of the program with the settings of the first node.
func (c *cluster) run(args ...string) string {
	c.t.Helper()
	command := exec.Command(c.binary, args...)
	command.Env = append(os.Environ(), c.nodes[0].env...)
	out, err := command.Output()
	if err != nil {
		c.t.Fatalf("%s: %v", args, err)
	}
	return string(out)
}

// start starts the program and waits until /health/ready responds with 200.
func (n *node) start(ctx context.Context) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.process = exec.Command(n.binary, "serve")
	n.process.Env = append(os.Environ(), n.env...)
	out, err := n.process.StdoutPipe()
	if err != nil {
		return err
	}
	n.logs.Reset()
	n.process.Stderr = &n.logs
	if err := n.process.Start(); err != nil {
		return err
	}
	go func() {
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			if _, token, ok := strings.Cut(lines.Text(), "?setup="); ok {
				n.setup <- token
			}
		}
		_, _ = io.Copy(io.Discard, out)
	}()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		r, err := http.NewRequestWithContext(ctx, http.MethodGet, n.url()+"/health/ready", nil)
		if err != nil {
			return err
		}
		if response, err := client.Do(r); err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return nil
			}
		}
	}
	return fmt.Errorf("%s did not get ready", n.address)
}

// kill sends SIGKILL.
func (n *node) kill() error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil {
		return nil
	}
	err := n.process.Process.Signal(syscall.SIGKILL)
	_ = n.process.Wait() // it always reports the kill
	n.process = nil
	return err
}

// end sends SIGTERM, and shows logged errors if the test has failed.
func (n *node) end(t *testing.T) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.process == nil {
		return
	}
	if err := n.process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := n.process.Wait(); err != nil {
		t.Errorf("%s: %v", n.address, err)
	}
	if t.Failed() {
		for line := range strings.Lines(n.logs.String()) {
			if strings.Contains(line, "level=ERROR") || strings.Contains(line, `"ERROR"`) {
				t.Logf("%s: %s", n.address, line)
			}
		}
	}
}
