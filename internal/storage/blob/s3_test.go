package blob_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/s3client"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/blob/blobtest"
)

// proxy is a TCP proxy to the S3 server that can break connections. up and down are the bytes that all connections together may still send in
// each direction. The connection that exceeds the number breaks. A negative number means no limit.
type proxy struct {
	address  string
	up, down atomic.Int64
	accepted atomic.Int64
}

func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	w := &proxy{address: l.Addr().String()}
	w.up.Store(-1)
	w.down.Store(-1)
	go func() {
		for {
			a, err := l.Accept()
			if err != nil {
				return
			}
			w.accepted.Add(1)
			b, err := net.Dial("tcp", to)
			if err != nil {
				_ = a.Close()
				continue
			}
			end := func() { _, _ = a.Close(), b.Close() }
			go func() { defer end(); forward(b, a, &w.up) }()
			go func() { defer end(); forward(a, b, &w.down) }()
		}
	}()
	return w
}

// forward copies bytes until one side closes the connection or the budget is used up.
func forward(to io.Writer, from io.Reader, budget *atomic.Int64) {
	buffer := make([]byte, 16<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		if left := budget.Load(); left >= 0 && budget.Add(int64(-n)) < 0 {
			budget.Store(-1) // the connection breaks only once
			return
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func throughProxy(t *testing.T) (*blob.S3, *proxy) {
	t.Helper()
	cfg := blobtest.Bucket(t)
	w := newProxy(t, strings.TrimPrefix(cfg.Endpoint, "http://"))
	cfg.Endpoint = "http://" + w.address
	return openS3(t, cfg), w
}

func TestUploadIsRetriedAfterABrokenConnection(t *testing.T) {
	s, w := throughProxy(t)
	for _, size := range []int{1 << 20, 2*blob.PieceSize + 100} {
		content, id := noise(size), uuid.NewString()
		w.up.Store(int64(size / 2))
		info, err := blob.Put(t.Context(), s, id, bytes.NewReader(content))
		if err != nil || info.SHA256 != sum(content) {
			t.Fatalf("%d bytes: %+v, %v", size, info, err)
		}
		if !bytes.Equal(readAll(t, s, id), content) {
			t.Errorf("%d bytes came back otherwise", size)
		}
	}
}

// The server has stored the blob when the connection breaks, so it refuses the repeated request.
func TestUploadWhoseResponseIsLostIsStored(t *testing.T) {
	s, w := throughProxy(t)
	content, id := noise(1<<20), uuid.NewString()
	w.down.Store(0)
	if _, err := blob.Put(t.Context(), s, id, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	if w.down.Load() >= 0 {
		t.Error("nothing was cut; the test shows nothing")
	}
	if !bytes.Equal(readAll(t, s, id), content) {
		t.Error("the blob came back otherwise")
	}
}

func TestDownloadContinuesAfterABrokenConnection(t *testing.T) {
	s, w := throughProxy(t)
	content, id := noise(6<<20), uuid.NewString()
	if _, err := blob.Put(t.Context(), s, id, bytes.NewReader(content)); err != nil {
		t.Fatal(err)
	}
	before := w.accepted.Load()
	w.down.Store(3 << 20)
	f, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	got, err := io.ReadAll(f)
	if err != nil || !bytes.Equal(got, content) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if w.accepted.Load() == before {
		t.Error("nothing was cut; the test shows nothing")
	}
}

func TestServerOutageEnds(t *testing.T) {
	server, err := blobtest.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Remove(); err != nil {
			t.Error(err)
		}
	})
	s := openS3(t, server.Config("files"))
	id, marker := uuid.NewString(), uuid.NewString()
	if _, err := blob.Put(t.Context(), s, id, strings.NewReader("before")); err != nil {
		t.Fatal(err)
	}
	if err := s.Mark(t.Context(), marker); err != nil {
		t.Fatal(err)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for name, call := range map[string]func() error{
		"put": func() error { _, err := blob.Put(t.Context(), s, uuid.NewString(), strings.NewReader("x")); return err },
		"large put": func() error {
			_, err := blob.Put(t.Context(), s, uuid.NewString(), bytes.NewReader(noise(blob.PieceSize+1)))
			return err
		},
		"open":   func() error { _, err := s.Open(t.Context(), id); return err },
		"delete": func() error { return s.Delete(t.Context(), id) },
		"empty":  func() error { _, err := s.Empty(t.Context()); return err },
		"append": func() error {
			_, err := s.Append(t.Context(), uuid.NewString(), blob.Partial{}, []byte("x"), true)
			return err
		},
		"ready": func() error { return s.Ready(t.Context(), marker) },
	} {
		if err := call(); !errors.Is(err, blob.ErrUnavailable) || apperr.From(err).Status != 503 {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := blob.NewS3(t.Context(), server.Config("files")); err == nil || strings.Contains(err.Error(), "\n") || !strings.Contains(err.Error(), "refused") {
		t.Errorf("start: %v", err)
	}
	if err := server.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, s, id); string(got) != "before" {
		t.Errorf("after its return: %q", got)
	}
	if err := s.Ready(t.Context(), marker); err != nil {
		t.Error(err)
	}
}

func TestRequestToASilentServerEndsWithItsContext(t *testing.T) {
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0") // accepts connections and sends nothing
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	cfg := s3client.Config{Endpoint: "http://" + l.Addr().String(), Region: "us-east-1", KeyID: "k", Secret: "s", Bucket: "files", PathStyle: true}
	if _, err := blob.NewS3(ctx, cfg); err == nil || strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v", err)
	}
}

func TestNewS3ExplainsErrors(t *testing.T) {
	good := blobtest.Bucket(t)
	for name, c := range map[string]struct {
		change func(*s3client.Config)
		want   string
	}{
		"secret":    {func(c *s3client.Config) { c.Secret = "wrong" }, "refuses the key"},
		"key":       {func(c *s3client.Config) { c.KeyID = "nobody" }, "does not know the key"},
		"no bucket": {func(c *s3client.Config) { c.Bucket, c.Create = "missing", false }, "no bucket missing"},
	} {
		cfg := good
		c.change(&cfg)
		_, err := blob.NewS3(t.Context(), cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") || strings.Contains(err.Error(), good.Secret) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for range 2 { // the second node finds the bucket that the first one has created
		openS3(t, good)
	}
}

func TestPrefixesSeparateSites(t *testing.T) {
	cfg := blobtest.Bucket(t)
	one, other := cfg, cfg
	one.Prefix, other.Prefix = "one/", "other/"
	a, b := openS3(t, one), openS3(t, other)
	id := uuid.NewString()
	if _, err := blob.Put(t.Context(), a, id, iotest.OneByteReader(strings.NewReader("a"))); err != nil {
		t.Fatal(err)
	}
	if err := b.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, a, id); string(got) != "a" {
		t.Errorf("got %q", got)
	}
}
