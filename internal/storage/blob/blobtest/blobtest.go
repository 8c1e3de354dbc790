// Package blobtest gives tests buckets on a real S3 server: the program versitygw, which stores its objects in a temporary folder. All
// tests of a test program share one server.
package blobtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"atelie/internal/proctest"
	"atelie/internal/s3client"
)

// KeyID and Secret are the access key of every test server.
const (
	KeyID  = "test-key"
	Secret = "test-secret"
)

// Main runs a package's tests, then calls the functions in stop, stops the shared server and exits. A package that uses Bucket
// calls Main from its TestMain.
func Main(m *testing.M, stop ...func() error) {
	code := m.Run()
	for _, end := range append(stop, Stop) {
		if err := end(); err != nil {
			fmt.Fprintln(os.Stderr, "blobtest:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

// Server is an S3 server for tests. After Kill, Run starts the server again, on the same port and with the same objects.
type Server struct {
	Address string    // host:port
	dir     string    // folder with the objects of all buckets
	process *exec.Cmd // nil while the server does not run
}

// shared is the server on which Bucket makes its buckets. The first call of Bucket starts it.
var shared struct {
	sync.Mutex
	server  *Server
	err     error // why the server could not be started, or nil
	buckets int   // number of buckets that were made; the next bucket gets the next number in its name
}

// Bucket returns the settings of a new bucket on the shared server.
func Bucket(t testing.TB) s3client.Config {
	t.Helper()
	cfg, err := FreshBucket(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return cfg
}

// FreshBucket is Bucket without a testing.TB, for programs that are not Go tests. Such a program must call Stop before it ends.
func FreshBucket(ctx context.Context) (s3client.Config, error) {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil && shared.err == nil {
		shared.server, shared.err = Start(ctx)
	}
	if shared.err != nil {
		return s3client.Config{}, fmt.Errorf("S3 server for tests: %w", shared.err)
	}
	shared.buckets++
	return shared.server.Config("bucket-" + strconv.Itoa(shared.buckets)), nil
}

// Stop ends the shared server and removes its files.
func Stop() error {
	shared.Lock()
	defer shared.Unlock()
	if shared.server == nil {
		return nil
	}
	err := shared.server.Remove()
	shared.server = nil
	return err
}

// Config returns the settings of a bucket on this server. blob.NewS3 creates the bucket.
func (s *Server) Config(bucket string) s3client.Config {
	return s3client.Config{Endpoint: "http://" + s.Address, Region: "us-east-1", KeyID: KeyID, Secret: Secret, Bucket: bucket, PathStyle: true, Create: true}
}

// Folder returns the folder in which the server keeps a bucket's objects as files.
func (s *Server) Folder(bucket string) string { return filepath.Join(s.dir, "data", bucket) }

// Folder returns the folder in which the shared server keeps a bucket's objects as files.
func Folder(bucket string) string {
	shared.Lock()
	defer shared.Unlock()
	return shared.server.Folder(bucket)
}

// Start starts a server on a free port. A test that kills its server needs one of its own.
func Start(ctx context.Context) (*Server, error) {
	// The program is built before the port is chosen, because another program may take the port until it is used.
	if _, err := proctest.Build("versitygw"); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "atelie-s3")
	if err != nil {
		return nil, err
	}
	err = errors.Join(os.Mkdir(filepath.Join(dir, "data"), 0o700), os.Mkdir(filepath.Join(dir, "meta"), 0o700))
	if err != nil {
		return nil, err
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &Server{Address: listener.Addr().String(), dir: dir}
	if err := listener.Close(); err != nil {
		return nil, err
	}
	if err := s.Run(ctx); err != nil {
		return nil, errors.Join(err, s.Remove())
	}
	return s, nil
}

// Run starts the program and waits until it accepts connections.
func (s *Server) Run(ctx context.Context) error {
	program, err := proctest.Build("versitygw")
	if err != nil {
		return err
	}
	s.process = exec.CommandContext(context.WithoutCancel(ctx), program, "--port", s.Address, "--access", KeyID, "--secret", Secret, "--quiet",
		"posix", "--sidecar", filepath.Join(s.dir, "meta"), filepath.Join(s.dir, "data")) // not every file system has extended attributes
	var output bytes.Buffer
	s.process.Stdout, s.process.Stderr, s.process.Dir = &output, &output, s.dir
	s.process.SysProcAttr = proctest.EndWithParent(syscall.SIGKILL)
	if err := s.process.Start(); err != nil {
		return err
	}
	dialer := net.Dialer{Timeout: time.Second}
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		conn, err := dialer.DialContext(ctx, "tcp", s.Address)
		if err == nil {
			return conn.Close()
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("versitygw did not get ready: %w: %s", errors.Join(err, s.Kill()), output.String())
		}
	}
}

// Kill ends the program immediately and keeps its objects.
func (s *Server) Kill() error {
	if s.process == nil {
		return nil
	}
	err := proctest.Kill(s.process)
	s.process = nil
	return err
}

// Remove ends the program and removes its files.
func (s *Server) Remove() error { return errors.Join(s.Kill(), os.RemoveAll(s.dir)) }
