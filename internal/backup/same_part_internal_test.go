package backup

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"atelie/internal/storage/blob/blobtest"
)

// lateProxy is an HTTP proxy before an S3 server. It can hold one upload back, also after the client has given up.
type lateProxy struct {
	to      *httputil.ReverseProxy
	noIf    bool // answers uploads with a condition as a server that does not support it
	mu      sync.Mutex
	next    bool          // the next upload is held back
	held    chan struct{} // closed when an upload is held back
	release chan struct{} // closed to pass it on
	stored  chan struct{} // closed when the server has answered it
	status  int           // of that answer
}

func (p *lateProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if p.noIf && r.Header.Get("If-None-Match") != "" {
		http.Error(w, "<Error><Code>NotImplemented</Code></Error>", http.StatusNotImplemented)
		return
	}
	p.mu.Lock()
	hold := p.next && r.Method == http.MethodPut
	p.next = p.next && !hold
	p.mu.Unlock()
	if hold {
		defer close(p.stored)
		body, err := io.ReadAll(r.Body)
		if err != nil {
			panic(err)
		}
		r = r.Clone(context.WithoutCancel(r.Context()))
		r.Body = io.NopCloser(bytes.NewReader(body))
		close(p.held)
		<-p.release
		answer := httptest.NewRecorder() // the client has given up; with w, the request would be cancelled
		p.to.ServeHTTP(answer, r)
		p.status = answer.Code
		return
	}
	p.to.ServeHTTP(w, r)
}

// lateBucket returns a bucket behind a proxy.
func lateBucket(t *testing.T) (Destination, *lateProxy) {
	t.Helper()
	cfg := blobtest.Bucket(t)
	target, err := url.Parse(cfg.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	p := &lateProxy{
		to:   &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }}, // the host is signed
		held: make(chan struct{}), release: make(chan struct{}), stored: make(chan struct{}),
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	cfg.Endpoint = server.URL
	return OpenDestination(DestinationConfig{Bucket: &cfg}), p
}

// interruptUpload writes a row, and cancels the upload of its part while the proxy has it.
func (p *lateProxy) interruptUpload(t *testing.T, s *Service, r *replica) {
	t.Helper()
	insertRow(t, s, "was under way")
	if err := r.lite.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.mu.Lock()
	p.next = true
	p.mu.Unlock()
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-p.held; cancel() }()
	if err := r.lite.Replica.Sync(ctx); err == nil {
		t.Fatal("the upload was not interrupted")
	}
}

// arrive passes on the upload that was held back. The server's answer must be status.
func (p *lateProxy) arrive(t *testing.T, status int) {
	t.Helper()
	close(p.release)
	if <-p.stored; p.status != status {
		t.Errorf("the late upload got %d, want %d", p.status, status)
	}
}

// forget removes the local files, as after a full disk, and opens the replica again.
func forget(t *testing.T, s *Service, r *replica) *replica {
	t.Helper()
	r.abandon(t.Context())
	if err := s.removeLocalFiles(); err != nil {
		t.Fatal(err)
	}
	return open(t, s)
}

func open(t *testing.T, s *Service) *replica {
	t.Helper()
	r, err := s.openReplica(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.abandon(context.WithoutCancel(t.Context())) })
	return r
}

// Proves H-backup-outage.
//
// TestALateUploadReplacesNoNewerPart interrupts an upload that the bucket stores later, after the local files were removed and the backup has
// started again with a whole copy, in a part of the same number.
func TestALateUploadReplacesNoNewerPart(t *testing.T) {
	for name, late := range map[string]func(t *testing.T, p *lateProxy, s *Service, r *replica) *replica{
		"after the newer part": func(t *testing.T, p *lateProxy, _ *Service, r *replica) *replica {
			syncReplica(t, r)
			p.arrive(t, http.StatusPreconditionFailed)
			return r
		},
		"before the newer part": func(t *testing.T, p *lateProxy, s *Service, r *replica) *replica {
			p.arrive(t, http.StatusOK)
			err := r.lite.Replica.Sync(t.Context())
			if !errors.Is(err, errOtherPart) || !damaged(err) {
				t.Fatalf("got %v, want %v", err, errOtherPart)
			}
			return forget(t, s, r) // as databaseLoop.finishUpload does
		},
		"during the upload of the newer part": func(t *testing.T, p *lateProxy, s *Service, r *replica) *replica {
			if _, err := r.lite.Replica.MaxLTXFileInfo(t.Context(), 0); err != nil { // the last look before the upload
				t.Fatal(err)
			}
			pos, err := r.lite.Pos()
			if err != nil {
				t.Fatal(err)
			}
			pos.TXID--
			r.lite.Replica.SetPos(pos)
			p.arrive(t, http.StatusOK)
			if err := r.lite.Replica.Sync(t.Context()); !errors.Is(err, errOtherPart) || !damaged(err) {
				t.Fatalf("got %v, want %v", err, errOtherPart)
			}
			return forget(t, s, r)
		},
		"before a restart": func(t *testing.T, p *lateProxy, s *Service, r *replica) *replica {
			p.arrive(t, http.StatusOK)
			r.abandon(t.Context())
			if _, err := s.openReplica(t.Context()); !errors.Is(err, errOtherPart) {
				t.Fatalf("got %v, want %v", err, errOtherPart)
			}
			return open(t, s)
		},
	} {
		t.Run(name, func(t *testing.T) {
			destination, p := lateBucket(t)
			s, r := openService(t, destination)
			insertRow(t, s, "before")
			syncReplica(t, r)
			p.interruptUpload(t, s, r)
			insertRow(t, s, strings.Repeat("has pages that no later write changes", 10_000))
			r = late(t, p, s, forget(t, s, r))
			insertRow(t, s, "after it")
			syncReplica(t, r)
			if n := countRestored(t, destination); n != 4 {
				t.Errorf("%d rows, want 4", n)
			}
		})
	}
}

// TestAnUploadIsRepeated uploads a part again that the bucket has already, as after a response that did not arrive.
func TestAnUploadIsRepeated(t *testing.T) {
	destination, p := lateBucket(t)
	s, r := openService(t, destination)
	insertRow(t, s, "before")
	syncReplica(t, r)
	pos := r.lite.Replica.Pos()
	p.interruptUpload(t, s, r)
	r.lite.Replica.SetPos(pos) // as if the part was uploaded by a retry of the same request
	p.arrive(t, http.StatusOK)
	insertRow(t, s, "after it")
	syncReplica(t, r)
	if n := countRestored(t, destination); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
}

// TestABucketWithoutConditionsGetsTheBackup uses an S3 server that refuses uploads with If-None-Match: a small part and one of several
// megabytes.
func TestABucketWithoutConditionsGetsTheBackup(t *testing.T) {
	destination, p := lateBucket(t)
	p.noIf = true
	s, r := openService(t, destination)
	insertRow(t, s, "small")
	syncReplica(t, r)
	writeMegabytes(t, s, r, 3)
	syncReplica(t, r)
	if n := countRestored(t, destination); n != 1+3*125 {
		t.Errorf("%d rows, want %d", n, 1+3*125)
	}
}

// TestASnapshotHasOnlyUploadedTransactions takes a snapshot while a part waits for its upload, and removes the local files then. Without the
// upload of the part before the snapshot, a later part would have the number of the snapshot's newest transaction.
func TestASnapshotHasOnlyUploadedTransactions(t *testing.T) {
	destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	s, r := openService(t, destination)
	insertRow(t, s, "before")
	syncReplica(t, r)
	insertRow(t, s, "not uploaded")
	if err := errors.Join(r.lite.Sync(t.Context()), r.takeSnapshot(t.Context())); err != nil {
		t.Fatal(err)
	}
	insertRow(t, s, strings.Repeat("has pages of its own", 10_000))
	r = forget(t, s, r)
	syncReplica(t, r)
	insertRow(t, s, "after it")
	syncReplica(t, r)
	if n := countRestored(t, destination); n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
}

func TestErrorsOfServersWithoutIfNoneMatch(t *testing.T) {
	for _, c := range []struct {
		status int
		code   string
		want   bool
	}{
		{501, "NotImplemented", true}, {400, "InvalidArgument", true}, {400, "InvalidRequest", true},
		{400, "RequestTimeout", false}, {400, "ExpiredToken", false}, {412, "PreconditionFailed", false}, {403, "AccessDenied", false}, {503, "SlowDown", false},
	} {
		err := &smithyhttp.ResponseError{
			Response: &smithyhttp.Response{Response: &http.Response{StatusCode: c.status}}, Err: &smithy.GenericAPIError{Code: c.code},
		}
		if got := rejectsCondition(err); got != c.want {
			t.Errorf("%d %s: %v", c.status, c.code, got)
		}
	}
	if rejectsCondition(nil) || rejectsCondition(io.ErrUnexpectedEOF) {
		t.Error("an error without a status")
	}
}
