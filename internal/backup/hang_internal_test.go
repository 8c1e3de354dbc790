package backup

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// hangingDestination is a destination whose uploads of LTX files hang while it is unreachable.
type hangingDestination struct {
	Destination
	mu      sync.Mutex
	back    chan struct{} // closed when the destination is reachable again; nil while it is reachable
	hanging chan int      // the level of each upload that hangs
}

func (d *hangingDestination) RangeClient() RangeClient {
	return hangingClient{d.Destination.RangeClient(), d}
}

// goAway makes uploads hang until the returned function is called.
func (d *hangingDestination) goAway() (comeBack func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	reachable := make(chan struct{})
	d.back = reachable
	return func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.back = nil
		close(reachable)
	}
}

type hangingClient struct {
	RangeClient
	destination *hangingDestination
}

func (c hangingClient) WriteLTXFile(ctx context.Context, level int, first, last ltx.TXID, body io.Reader) (*ltx.FileInfo, error) {
	c.destination.mu.Lock()
	back := c.destination.back
	c.destination.mu.Unlock()
	if back != nil {
		c.destination.hanging <- level
		select {
		case <-back:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
	return c.RangeClient.WriteLTXFile(ctx, level, first, last, body)
}

// openService opens a new database and its replica in the destination, without the loops of Run.
func openService(t *testing.T, destination Destination) (*Service, *replica) {
	t.Helper()
	d := dbtest.Open(t, db.SQLite)
	s := New(d, Config{Destination: destination, Retention: testRetention, SiteID: "site", Secrets: Secrets{Current: strings.Repeat("s", 40)}, Log: slog.New(slog.DiscardHandler)}, time.Now)
	r, err := s.openReplica(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.abandon(context.WithoutCancel(t.Context())) })
	return s, r
}

// insertMegabytes writes about n MB in one transaction.
func insertMegabytes(t *testing.T, s *Service, n int) {
	t.Helper()
	if err := db.Exec(t.Context(), s.db, fmt.Sprintf(`insert into rate_limits (name, subject, bucket_start, hits)
		with recursive numbers (n) as (select 1 union all select n + 1 from numbers where n < %d) select hex(randomblob(16)), hex(randomblob(4000)), 0, 1 from numbers`, n*125)); err != nil {
		t.Fatal(err)
	}
}

// writeMegabytes writes about n MB in transactions of 1 MB, and reads the log after each. A checkpoint is due after 1,000 pages of 4 kB.
func writeMegabytes(t *testing.T, s *Service, r *replica, n int) {
	t.Helper()
	for range n {
		insertMegabytes(t, s, 1)
		if err := r.lite.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves H-backup-outage.
//
// TestHangingUploadsBlockNoWrites makes the upload of an LTX file, a compaction and a snapshot hang, each during writes. Meanwhile writes
// and the reading of the log must continue, checkpoints too unless a snapshot is being read, and a scrub must return. When the destination
// is reachable again, it gets everything. The test needs no time limits: whatever waited for the destination would wait for ever.
func TestHangingUploadsBlockNoWrites(t *testing.T) {
	destination := &hangingDestination{Destination: OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), hanging: make(chan int, 2)}
	s, r := openService(t, destination)
	writeMegabytes(t, s, r, 1)
	syncReplica(t, r)
	comeBack := destination.goAway()
	ended := make(chan error, 2)
	begin := func(level int, upload func() error) {
		t.Helper()
		go func() { ended <- upload() }()
		if hangs := <-destination.hanging; hangs != level {
			t.Fatalf("an upload of level %d hangs, want %d", hangs, level)
		}
	}
	writeMegabytes(t, s, r, 1)
	begin(0, func() error { return r.lite.Replica.Sync(t.Context()) })
	writeMegabytes(t, s, r, 1)
	begin(1, func() error { _, err := r.compactor.Compact(t.Context(), 1); return err })
	writeMegabytes(t, s, r, 20)
	if log, err := os.Stat(r.lite.WALPath()); err != nil || log.Size() > 12<<20 {
		t.Errorf("the write-ahead log has %d bytes, %v: there was no checkpoint", log.Size(), err)
	}
	comeBack()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	syncReplica(t, r)
	comeBack = destination.goAway()
	begin(litestream.SnapshotLevel, func() error { return r.takeSnapshot(t.Context()) })
	writeMegabytes(t, s, r, 10)
	if err := s.db.Scrub(t.Context()); err == nil || !strings.Contains(err.Error(), "cannot be emptied yet") {
		t.Errorf("a scrub beside a snapshot: %v", err)
	}
	writeMegabytes(t, s, r, 1)
	comeBack()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	writeMegabytes(t, s, r, 1)
	syncReplica(t, r)
	if n := countRestored(t, destination); n != 35*125 {
		t.Errorf("%d rows, want %d", n, 35*125)
	}
}

// TestAHangingSnapshotEndsWithTheReplica stops the replica while a snapshot hangs and a later upload has ended.
func TestAHangingSnapshotEndsWithTheReplica(t *testing.T) {
	destination := &hangingDestination{Destination: OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}), hanging: make(chan int, 1)}
	s, r := openService(t, destination)
	writeMegabytes(t, s, r, 1)
	syncReplica(t, r)
	destination.goAway()
	r.snapshotAt = time.Time{}
	l := &databaseLoop{s: s, r: r}
	l.open, l.close = context.WithCancel(t.Context())
	l.startUpload(s.now()) // has nothing to upload, and begins the snapshot
	if level := <-destination.hanging; level != litestream.SnapshotLevel {
		t.Fatalf("an upload of level %d hangs", level)
	}
	for range 2 {
		if err := <-l.uploaded; err != nil {
			t.Fatal(err)
		}
		l.startUpload(s.now())
	}
	l.stop(t.Context(), errDiskFull, false)
	if l.r != nil || !s.hasFailed(KindDatabase) {
		t.Error("the replica was not stopped")
	}
}

// messages records the logged messages.
type messages struct {
	mu   sync.Mutex
	list []string
}

func (*messages) Enabled(context.Context, slog.Level) bool { return true }
func (m *messages) WithAttrs([]slog.Attr) slog.Handler     { return m }
func (m *messages) WithGroup(string) slog.Handler          { return m }
func (m *messages) Handle(_ context.Context, r slog.Record) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.list = append(m.list, r.Message)
	return nil
}

// TestAProofTriesNoCheckpointWhileWritesWait keeps a reader open, so that the log stays long and a checkpoint is due at each reading of
// the log. A checkpoint would wait in vain for the lock that checksumNewestState holds.
func TestAProofTriesNoCheckpointWhileWritesWait(t *testing.T) {
	s, r := openService(t, OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}))
	err := s.db.Snapshot(t.Context(), func(q db.Querier) error {
		if _, err := countWaiting(t.Context(), q); err != nil { // the snapshot begins with its first read
			return err
		}
		writeMegabytes(t, s, r, 6)
		var logged messages
		r.lite.SetLogger(slog.New(&logged))
		go func() { (<-s.replicaCalls)(r) }()
		from, txid, sums, err := s.checksumNewestState(t.Context())
		if err != nil || from != r || txid == 0 || len(sums) == 0 {
			t.Errorf("transaction %s, %d tables, %v", txid, len(sums), err)
		}
		const skipped = "passive checkpoint skipped"
		if slices.Contains(logged.list, skipped) {
			t.Errorf("a checkpoint waited for the lock: %q", logged.list)
		}
		// The next reading runs a checkpoint, because the lock is free.
		logged.list = nil
		if err := r.lite.Sync(t.Context()); err != nil || slices.Contains(logged.list, skipped) || !slices.Contains(logged.list, "checkpoint") {
			t.Errorf("%q, %v", logged.list, err)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
