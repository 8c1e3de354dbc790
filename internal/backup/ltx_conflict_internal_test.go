package backup

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"github.com/superfly/ltx"

	"atelie/internal/storage/blob/blobtest"
)

// lateProxy is an HTTP proxy before an S3 server. It can hold one upload back, also after the client has given up.
type lateProxy struct {
	to          *httputil.ReverseProxy
	noIf        int         // answers uploads with a condition with this status, as a server that does not support it
	refused     int         // number of these answers
	noPut       bool        // answers all uploads with 501
	conditional int         // number of uploads with a condition
	direct      Destination // the bucket without the proxy
	// ignoreRange answers requests for a range with the whole object.
	ignoreRange bool
	mu          sync.Mutex
	next        bool          // the next upload is held back
	held        chan struct{} // closed when an upload is held back
	release     chan struct{} // closed to pass it on
	stored      chan struct{} // closed when the server has answered it
	status      int           // of that answer
}

func (p *lateProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	refuse := p.noIf != 0 && r.Header.Get("If-None-Match") != ""
	if refuse {
		p.refused++
	}
	if r.Header.Get("If-None-Match") != "" {
		p.conditional++
	}
	noPut := p.noPut && r.Method == http.MethodPut
	// the last request of an upload: of a multipart upload, the POST that completes it
	hold := p.next && (r.Method == http.MethodPut && !r.URL.Query().Has("partNumber") || r.Method == http.MethodPost && r.URL.Query().Has("uploadId"))
	p.next = p.next && !hold
	p.mu.Unlock()
	if refuse {
		w.WriteHeader(p.noIf)
		_, _ = io.WriteString(w, "<Error><Code>NotImplemented</Code></Error>") // the client sees a failure of this as one of the upload
		return
	}
	if noPut {
		w.WriteHeader(http.StatusNotImplemented)
		return
	}
	if p.ignoreRange && r.Header.Get("Range") != "" { // a signed header, so it cannot be removed
		p.sendWhole(w, r)
		return
	}
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

// sendWhole answers a request for a range with the whole object.
func (p *lateProxy) sendWhole(w http.ResponseWriter, r *http.Request) {
	_, name, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	body, err := p.direct.Open(r.Context(), name)
	if err != nil {
		panic(err)
	}
	if _, err := io.Copy(w, body); err != nil {
		panic(err)
	}
	_ = body.Close()
}

// lateBucket returns a bucket behind a proxy.
func lateBucket(t *testing.T) (Destination, *lateProxy) {
	t.Helper()
	cfg := blobtest.Bucket(t)
	target, err := url.Parse(cfg.Endpoint)
	if err != nil {
		t.Fatal(err)
	}
	direct := cfg
	p := &lateProxy{
		direct: OpenDestination(DestinationConfig{Bucket: &direct}),
		to:     &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target); r.Out.Host = r.In.Host }}, // the host is signed
		held:   make(chan struct{}), release: make(chan struct{}), stored: make(chan struct{}),
	}
	server := httptest.NewServer(p)
	t.Cleanup(server.Close)
	cfg.Endpoint = server.URL
	return OpenDestination(DestinationConfig{Bucket: &cfg}), p
}

// interruptUpload writes a row, and cancels the upload of its LTX file while the proxy has it.
func (p *lateProxy) interruptUpload(t *testing.T, s *Service, r *replica) {
	t.Helper()
	insertRow(t, s, "was under way")
	p.interrupt(t, r)
}

// interrupt cancels the upload of the newest LTX file while the proxy has it.
func (p *lateProxy) interrupt(t *testing.T, r *replica) {
	t.Helper()
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

// lookBeforeUpload has litestream compare the newest LTX file of the destination now, and not at the upload of the newest local LTX file.
func lookBeforeUpload(t *testing.T, r *replica) {
	t.Helper()
	if _, err := r.lite.Replica.MaxLTXFileInfo(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	pos, err := r.lite.Pos()
	if err != nil {
		t.Fatal(err)
	}
	pos.TXID--
	r.lite.Replica.SetPos(pos)
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
// started again with a whole copy, in an LTX file of the same number.
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
			if !errors.Is(err, errLTXConflict) || !damaged(err) {
				t.Fatalf("got %v, want %v", err, errLTXConflict)
			}
			return forget(t, s, r) // as databaseLoop.finishUpload does
		},
		"during the upload of the newer part": func(t *testing.T, p *lateProxy, s *Service, r *replica) *replica {
			lookBeforeUpload(t, r)
			p.arrive(t, http.StatusOK)
			if err := r.lite.Replica.Sync(t.Context()); !errors.Is(err, errLTXConflict) || !damaged(err) {
				t.Fatalf("got %v, want %v", err, errLTXConflict)
			}
			return forget(t, s, r)
		},
		"before a restart": func(t *testing.T, p *lateProxy, s *Service, r *replica) *replica {
			p.arrive(t, http.StatusOK)
			r.abandon(t.Context())
			if _, err := s.openReplica(t.Context()); !errors.Is(err, errLTXConflict) {
				t.Fatalf("got %v, want %v", err, errLTXConflict)
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

// TestALateUploadIsNotTakenForTheProvenState begins a restore test while the destination has a late LTX file of the number that the restore
// test waits for.
func TestALateUploadIsNotTakenForTheProvenState(t *testing.T) {
	destination, p := lateBucket(t)
	s, r := openService(t, destination)
	insertRow(t, s, "before")
	syncReplica(t, r)
	p.interruptUpload(t, s, r)
	r = forget(t, s, r)
	p.arrive(t, http.StatusOK)
	go func() {
		(<-s.replicaCalls)(r) // checksumNewestState
		(<-s.replicaCalls)(r)
		err := r.upload(t.Context())
		if !errors.Is(err, errLTXConflict) {
			t.Errorf("got %v, want %v", err, errLTXConflict)
		}
		(<-s.replicaCalls)(&replica{}) // the next one
	}()
	if _, _, err := s.newestState(t.Context()); !errors.Is(err, errNotOpen) {
		t.Fatalf("got %v, want %v", err, errNotOpen)
	}
	r = forget(t, s, r) // as databaseLoop.finishUpload does
	syncReplica(t, r)
	go func() {
		(<-s.replicaCalls)(r)
		if err := r.upload(t.Context()); err != nil {
			t.Error(err)
		}
		(<-s.replicaCalls)(r)
	}()
	point, _, err := s.newestState(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := point.verify(t.Context(), func(int, int) {}); err != nil {
		t.Error(err)
	}
	if n := countRestored(t, destination); n != 2 {
		t.Errorf("%d rows, want 2", n)
	}
}

// TestAnUploadIsRepeated uploads an LTX file again that the bucket has already, as after a response that did not arrive.
func TestAnUploadIsRepeated(t *testing.T) {
	destination, p := lateBucket(t)
	s, r := openService(t, destination)
	insertRow(t, s, "before")
	syncReplica(t, r)
	pos := r.lite.Replica.Pos()
	p.interruptUpload(t, s, r)
	r.lite.Replica.SetPos(pos) // as if the LTX file was uploaded by a retry of the same request
	p.arrive(t, http.StatusOK)
	insertRow(t, s, "after it")
	syncReplica(t, r)
	if n := countRestored(t, destination); n != 3 {
		t.Errorf("%d rows, want 3", n)
	}
}

// TestABucketWithoutConditionsGetsTheBackup uses an S3 server that refuses uploads with If-None-Match: a small LTX file and one of several
// megabytes.
func TestABucketWithoutConditionsGetsTheBackup(t *testing.T) {
	destination, p := lateBucket(t)
	p.noIf = http.StatusNotImplemented
	s, r := openService(t, destination)
	var logged messages
	r.client.SetLogger(slog.New(&logged))
	for _, text := range []string{"small", "small again"} {
		insertRow(t, s, text)
		syncReplica(t, r)
		writeMegabytes(t, s, r, 3)
		syncReplica(t, r)
		insertMegabytes(t, s, 10) // a multipart upload
		syncReplica(t, r)
	}
	if n, want := countRestored(t, destination), 2*(1+13*125); n != want {
		t.Errorf("%d rows, want %d", n, want)
	}
	if p.refused != 2 {
		t.Errorf("%d uploads with the condition, want one with a single request and a multipart upload", p.refused)
	}
	if len(logged.list) != 1 {
		t.Errorf("%q, want one warning", logged.list)
	}
}

// TestAnOutageDoesNotTurnTheConditionOff has a proxy that answers all uploads with 501 for a while.
func TestAnOutageDoesNotTurnTheConditionOff(t *testing.T) {
	destination, p := lateBucket(t)
	s, r := openService(t, destination)
	syncReplica(t, r)
	insertRow(t, s, "during the outage")
	if err := r.lite.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.noPut = true
	if err := r.upload(t.Context()); err == nil {
		t.Fatal("the upload succeeded")
	}
	p.noPut = false
	before := p.conditional
	insertRow(t, s, "after it")
	syncReplica(t, r)
	if n := p.conditional - before; n != 2 {
		t.Errorf("%d uploads with the condition, want 2", n)
	}
}

// TestTwoProgramsInOneFolder lets two replicas write to one folder in turn: they overwrite no LTX file of each other.
func TestTwoProgramsInOneFolder(t *testing.T) {
	destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	first, r1 := openService(t, destination)
	insertRow(t, first, "before")
	syncReplica(t, r1)
	second, r2 := openService(t, destination)
	insertRow(t, second, "of the second")
	syncReplica(t, r2)
	insertRow(t, first, "of the first")
	if err := r1.lite.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r1.upload(t.Context()); !errors.Is(err, errLTXConflict) {
		t.Errorf("got %v, want %v", err, errLTXConflict)
	}
}

// TestASnapshotUploadsWhatWasReadMeanwhile reads the log while the upload before a snapshot hangs. The snapshot has that transaction, so its
// LTX file must be uploaded before.
func TestASnapshotUploadsWhatWasReadMeanwhile(t *testing.T) {
	destination := &hangingDestination{Destination: OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), hanging: make(chan int, 2)}
	s, r := openService(t, destination)
	insertRow(t, s, "before")
	if err := r.lite.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	comeBack := destination.goAway()
	ended := make(chan error, 1)
	go func() { ended <- r.takeSnapshot(t.Context()) }()
	<-destination.hanging
	insertRow(t, s, "meanwhile")
	if err := r.lite.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	comeBack()
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	pos, err := r.lite.Pos()
	if err != nil || r.snapshot != pos.TXID {
		t.Errorf("the snapshot has %s, want %s, %v", r.snapshot, pos.TXID, err)
	}
	list, err := r.client.LTXFilesBetween(t.Context(), 0, pos.TXID, 0)
	if err != nil || len(list) != 1 {
		t.Errorf("%d LTX files of the newest transaction, %v", len(list), err)
	}
}

// TestAnUploadWithoutTheConditionComparesFirst interrupts an upload to a server that does not support If-None-Match, and lets it arrive before
// the LTX file of the same number.
func TestAnUploadWithoutTheConditionComparesFirst(t *testing.T) {
	destination, p := lateBucket(t)
	p.noIf = http.StatusBadRequest
	s, r := openService(t, destination)
	insertRow(t, s, "before")
	syncReplica(t, r)
	p.interruptUpload(t, s, r)
	insertRow(t, s, strings.Repeat("has pages that no later write changes", 10_000))
	r = forget(t, s, r)
	lookBeforeUpload(t, r)
	p.arrive(t, http.StatusOK)
	if err := r.upload(t.Context()); !errors.Is(err, errLTXConflict) {
		t.Fatalf("got %v, want %v", err, errLTXConflict)
	}
	insertRow(t, s, "after it")
	r = forget(t, s, r)
	syncReplica(t, r)
	if n := countRestored(t, destination); n != 4 {
		t.Errorf("%d rows, want 4", n)
	}
}

// TestALateMultipartUploadReplacesNoNewerPart is TestALateUploadReplacesNoNewerPart for LTX files of several requests.
func TestALateMultipartUploadReplacesNoNewerPart(t *testing.T) {
	destination, p := lateBucket(t)
	s, r := openService(t, destination)
	insertRow(t, s, "before")
	syncReplica(t, r)
	insertMegabytes(t, s, 10)
	p.interrupt(t, r)
	insertMegabytes(t, s, 10)
	r = forget(t, s, r)
	syncReplica(t, r)
	p.arrive(t, http.StatusPreconditionFailed)
	insertRow(t, s, "after it")
	syncReplica(t, r)
	if n, want := countRestored(t, destination), 2+20*125; n != want {
		t.Errorf("%d rows, want %d", n, want)
	}
}

// TestServersWithoutRanges opens a replica again whose server ignores Range: the newest LTX file is compared all the same.
func TestServersWithoutRanges(t *testing.T) {
	destination, p := lateBucket(t)
	p.ignoreRange = true
	s, r := openService(t, destination)
	insertMegabytes(t, s, 1)
	syncReplica(t, r)
	insertRow(t, s, "small")
	syncReplica(t, r)
	r.abandon(t.Context())
	r = open(t, s)
	p.interruptUpload(t, s, r)
	r = forget(t, s, r)
	p.arrive(t, http.StatusOK)
	if err := r.upload(t.Context()); !errors.Is(err, errLTXConflict) {
		t.Errorf("got %v, want %v", err, errLTXConflict)
	}
}

// TestThePartsOfAnotherProgramAreFound continues a replica whose destination gets a newer LTX file from another program.
func TestThePartsOfAnotherProgramAreFound(t *testing.T) {
	destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	s, r := openService(t, destination)
	insertRow(t, s, "before")
	syncReplica(t, r)
	newest := r.lite.Replica.Pos().TXID
	local, err := os.Open(r.lite.LTXPath(0, newest, newest))
	if err != nil {
		t.Fatal(err)
	}
	_, err = r.client.WriteLTXFile(t.Context(), 0, newest+7, newest+7, local)
	if err := errors.Join(err, local.Close()); err != nil {
		t.Fatal(err)
	}
	r.lite.Replica.SetPos(ltx.Pos{}) // as after a failed upload
	insertRow(t, s, "after it")
	if err := r.lite.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := r.upload(t.Context()); !errors.Is(err, errLTXConflict) || !damaged(err) {
		t.Errorf("got %v, want %v", err, errLTXConflict)
	}
}

// TestRepeatedConflictsWaitLonger counts errLTXConflict: the waits grow, the third names the reason, and an hour without one begins again.
func TestRepeatedConflictsWaitLonger(t *testing.T) {
	var o ltxConflicts
	now := time.Date(2026, 11, 29, 3, 0, 0, 0, time.UTC)
	failed := fmt.Errorf("a server at 10.0.0.1: %w", errLTXConflict)
	for i, want := range []time.Duration{5 * time.Second, 10 * time.Second, 20 * time.Second, 40 * time.Second, 80 * time.Second, 160 * time.Second, 320 * time.Second, 10 * time.Minute, 10 * time.Minute} {
		pause, err := o.add(failed, now)
		if pause != want || !damaged(err) {
			t.Errorf("%d: %s %v, want %s", i, pause, err, want)
		}
		if shared := errors.Is(err, errSharedDestination); shared != (i >= 2) || strings.Contains(safeText(err), "10.0.0.1") {
			t.Errorf("%d: %q", i, safeText(err))
		}
		if pause, err := o.add(io.ErrUnexpectedEOF, now); pause != 0 || !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("another error: %s %v", pause, err)
		}
		now = now.Add(11 * time.Minute)
	}
	if pause, err := o.add(failed, now.Add(time.Hour)); pause != 5*time.Second || errors.Is(err, errSharedDestination) {
		t.Errorf("after an hour: %s %v", pause, err)
	}
}

// TestAFailedUploadKeepsLocalParts removes old local LTX files after an upload has failed: the destination may not have them.
func TestAFailedUploadKeepsLocalParts(t *testing.T) {
	s, r := openService(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}))
	for _, text := range []string{"one", "two", "three"} {
		insertRow(t, s, text)
		syncReplica(t, r)
	}
	if _, err := r.compactor.Compact(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	insertRow(t, s, "waits")
	if err := r.lite.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	list, err := listLTXFiles(r.lite.LTXLevelDir(0), 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	long := time.Now().Add(-2 * localRetention)
	for _, info := range list {
		if err := os.Chtimes(r.lite.LTXPath(0, info.MinTXID, info.MaxTXID), long, long); err != nil {
			t.Fatal(err)
		}
	}
	remaining := func() int {
		t.Helper()
		r.trimmedLocal = time.Time{}
		if err := r.trimLocal(); err != nil {
			t.Fatal(err)
		}
		list, err := listLTXFiles(r.lite.LTXLevelDir(0), 0, 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	uploaded := r.lite.Replica.Pos()
	r.lite.Replica.SetPos(ltx.Pos{})
	if n := remaining(); n != len(list) {
		t.Errorf("after a failed upload: %d LTX files, want all %d", n, len(list))
	}
	r.lite.Replica.SetPos(uploaded)
	if n := remaining(); n >= len(list) || n < 2 {
		t.Errorf("after an upload: %d of %d LTX files, want the newest uploaded one and the one that waits", n, len(list))
	}
}

// TestASnapshotHasOnlyUploadedTransactions takes a snapshot while an LTX file waits for its upload, and removes the local files then.
// Without the upload of the LTX file before the snapshot, a later LTX file would have the number of the snapshot's newest transaction.
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
		{400, "NotImplemented", true}, {400, "RequestTimeout", false}, {400, "ExpiredToken", false}, {400, "EntityTooSmall", false}, {400, "AnythingElse", false}, {412, "PreconditionFailed", false}, {403, "AccessDenied", false}, {503, "SlowDown", false},
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
