package backup

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/superfly/ltx"

	"atelie/internal/db"
)

// Proves H-backup-restarted-log.
//
// TestALogThatWasRestartedIsNotContinued ends the program, or closes the replica after an error, while a transaction is in no LTX file yet.
// Before or while the replica is opened again, a checkpoint moves the transaction into the database, and a write restarts the log. The
// end of the last LTX file is still in the log's file then, so litestream would continue after it without that transaction.
func TestALogThatWasRestartedIsNotContinued(t *testing.T) {
	for name, test := range map[string]struct {
		uploaded     bool // the last LTX file is in the destination too
		whileOpening bool // the log is restarted while the replica is opened, not before
	}{
		"before it is opened":                       {uploaded: true},
		"before it is opened, a part is only local": {},
		"while it is opened":                        {uploaded: true, whileOpening: true},
		"while it is opened, a part is only local":  {whileOpening: true},
	} {
		t.Run(name, func(t *testing.T) {
			destination := &calledDestination{Destination: OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})}
			s, r := openService(t, destination)
			writeMegabytes(t, s, r, 1) // too little for a checkpoint
			syncReplica(t, r)
			insertRow(t, s, "in the last part")
			if err := r.lite.Sync(t.Context()); err != nil {
				t.Fatal(err)
			}
			if test.uploaded {
				syncReplica(t, r)
			}
			insertRow(t, s, strings.Repeat("in no part", 10_000)) // has pages that no later write changes
			r.abandon(t.Context())
			checkpoint(t, s)
			restart := func() { insertRow(t, s, "in the restarted log") }
			if test.whileOpening {
				destination.listing = restart
				if _, err := s.openReplica(t.Context()); !errors.Is(err, errLogRestarted) {
					t.Fatalf("%v, want %v", err, errLogRestarted)
				}
			} else {
				restart()
			}
			r, err := s.openReplica(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { r.abandon(context.WithoutCancel(t.Context())) })
			insertRow(t, s, "in the continued log")
			syncReplica(t, r)
			if n := countRestored(t, destination); n != 125+4 {
				t.Errorf("%d rows, want %d", n, 125+4)
			}
		})
	}
}

// Proves H-backup-restarted-log.
//
// TestASnapshotOfARestartedLogIsNotStored runs a checkpoint of the whole log and a write that restarts the log while a snapshot reads pages
// from it. The snapshot would have pages of both logs.
func TestASnapshotOfARestartedLogIsNotStored(t *testing.T) {
	destination := &calledDestination{Destination: OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})}
	s, r := openService(t, destination)
	writeMegabytes(t, s, r, 1)
	syncReplica(t, r)
	r.abandon(t.Context())
	checkpoint(t, s)
	r, err := s.openReplica(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.abandon(context.WithoutCancel(t.Context())) })
	destination.snapshot = func() { insertRow(t, s, strings.Repeat("restarts the log", 10_000)) }
	if err := r.takeSnapshot(t.Context()); !errors.Is(err, errLogRestarted) {
		t.Errorf("%v, want %v", err, errLogRestarted)
	}
	list, err := r.client.LTXFilesBetween(t.Context(), litestream.SnapshotLevel, 0, 0)
	if err != nil || len(list) != 0 {
		t.Errorf("%d snapshots, %v", len(list), err)
	}
	destination.snapshot = func() {}
	syncReplica(t, r)
	if err := r.takeSnapshot(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := countRestored(t, destination); n != 125+1 {
		t.Errorf("%d rows, want %d", n, 125+1)
	}
}

// calledDestination calls functions of the test during litestream's requests.
type calledDestination struct {
	Destination
	listing  func() // called once, before a listing; nil for none
	snapshot func() // called after a snapshot's first bytes were read
}

func (d *calledDestination) RangeClient() RangeClient {
	return callingClient{d.Destination.RangeClient(), d}
}

type callingClient struct {
	RangeClient
	destination *calledDestination
}

func (c callingClient) LTXFiles(ctx context.Context, level int, seek ltx.TXID, useMetadata bool) (ltx.FileIterator, error) {
	if call := c.destination.listing; call != nil {
		c.destination.listing = nil
		call()
	}
	return c.RangeClient.LTXFiles(ctx, level, seek, useMetadata)
}

func (c callingClient) LTXFilesBetween(ctx context.Context, level int, first, end ltx.TXID) ([]*ltx.FileInfo, error) {
	if call := c.destination.listing; call != nil {
		c.destination.listing = nil
		call()
	}
	return c.RangeClient.LTXFilesBetween(ctx, level, first, end)
}

func (c callingClient) WriteLTXFile(ctx context.Context, level int, first, last ltx.TXID, body io.Reader) (*ltx.FileInfo, error) {
	if level == litestream.SnapshotLevel {
		var begin [1]byte
		if _, err := io.ReadFull(body, begin[:]); err != nil {
			return nil, err
		}
		c.destination.snapshot()
		body = io.MultiReader(bytes.NewReader(begin[:]), body)
	}
	return c.RangeClient.WriteLTXFile(ctx, level, first, last, body)
}

// syncReplica reads the log and uploads the new LTX files.
func syncReplica(t *testing.T, r *replica) {
	t.Helper()
	if err := errors.Join(r.lite.Sync(t.Context()), r.lite.Replica.Sync(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// countRestored restores the newest state and returns the number of its rows.
func countRestored(t *testing.T, destination Destination) int {
	t.Helper()
	found, err := findRestorePoint(t.Context(), destination, string(db.SQLite), time.Time{})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "restored.db")
	if err := found.restore(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	restored, err := openRestored(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	n, err := db.One[int](t.Context(), restored, "select count(*) from rate_limits")
	if err := errors.Join(err, restored.Close()); err != nil {
		t.Fatal(err)
	}
	return n
}

// checkpoint moves the whole log into the database. SQLite does the same after a write once the log has 1,000 pages.
func checkpoint(t *testing.T, s *Service) {
	t.Helper()
	conn, err := sql.Open("sqlite", "file:"+s.db.File())
	if err != nil {
		t.Fatal(err)
	}
	var busy, frames, moved int
	err = conn.QueryRowContext(t.Context(), "pragma wal_checkpoint(passive)").Scan(&busy, &frames, &moved)
	if err := errors.Join(err, conn.Close()); err != nil || busy != 0 || frames != moved {
		t.Fatalf("the checkpoint moved %d of %d pages, busy %d, %v", moved, frames, busy, err)
	}
}

func insertRow(t *testing.T, s *Service, name string) {
	t.Helper()
	if err := db.Exec(t.Context(), s.db, "insert into rate_limits (name, subject, bucket_start, hits) values ($1, '', 0, 1)", name); err != nil {
		t.Fatal(err)
	}
}
