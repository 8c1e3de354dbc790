package backup

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"atelie/internal/db"
)

// Proves H-backup-commits.
//
// TestAScrubThatFailsLosesNoTransaction commits a transaction and takes the lock of writers just after litestream has read the log for the
// scrub's checkpoint. A checkpoint without the lock would move the transaction into the database although it is in no LTX file, and the next
// write would restart the log.
func TestAScrubThatFailsLosesNoTransaction(t *testing.T) {
	destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	s, r := openService(t, destination)
	writeMegabytes(t, s, r, 1)
	syncReplica(t, r)
	other, err := sql.Open("sqlite", "file:"+s.db.File()+"?_txlock=immediate&_pragma=wal_autocheckpoint(0)")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close() })
	var lock *sql.Tx
	var once sync.Once
	r.lite.SetLogger(slog.New(&calledAfterReading{func() {
		once.Do(func() {
			_, err := other.ExecContext(t.Context(), "insert into rate_limits (name, subject, bucket_start, hits) values ($1, '', 0, 1)", strings.Repeat("in no part", 10_000))
			var lockErr error
			lock, lockErr = other.BeginTx(t.Context(), nil)
			if err := errors.Join(err, lockErr); err != nil {
				t.Error(err)
			}
		})
	}}))
	if err := s.db.Scrub(t.Context()); err == nil || lock == nil {
		t.Fatalf("the scrub met no lock: %v", err)
	}
	if err := lock.Rollback(); err != nil {
		t.Fatal(err)
	}
	insertRow(t, s, "after it")
	syncReplica(t, r)
	if n := countRestored(t, destination); n != 125+2 {
		t.Errorf("%d rows, want %d", n, 125+2)
	}
}

// calledAfterReading is a log handler that calls fn when litestream has read the log.
type calledAfterReading struct{ fn func() }

func (*calledAfterReading) Enabled(context.Context, slog.Level) bool { return true }
func (c *calledAfterReading) WithAttrs([]slog.Attr) slog.Handler     { return c }
func (c *calledAfterReading) WithGroup(string) slog.Handler          { return c }
func (c *calledAfterReading) Handle(_ context.Context, r slog.Record) error {
	if r.Message == "sync: skip" || r.Message == "db sync" {
		c.fn()
	}
	return nil
}

// TestAScrubCopiesNoWholeDatabase scrubs a database without remains of deleted rows: the LTX files of that time have a few pages.
func TestAScrubCopiesNoWholeDatabase(t *testing.T) {
	destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	s, r := openService(t, destination)
	writeMegabytes(t, s, r, 3)
	if err := s.db.Scrub(t.Context()); err != nil {
		t.Fatal(err)
	}
	before, err := r.lite.Pos()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // litestream copies the whole database after a log of a single page
		insertRow(t, s, t.Name())
		if err := db.Exec(t.Context(), s.db, "delete from rate_limits where name = $1", t.Name()); err != nil {
			t.Fatal(err)
		}
		if err := s.db.Scrub(t.Context()); err != nil {
			t.Fatal(err)
		}
		syncReplica(t, r)
	}
	ltxFiles, err := listLTXFiles(r.lite.LTXLevelDir(0), 0, before.TXID+1, 0)
	if err != nil || len(ltxFiles) == 0 {
		t.Fatalf("%d LTX files, %v", len(ltxFiles), err)
	}
	for _, ltxFile := range ltxFiles {
		if info, err := os.Stat(r.lite.LTXPath(0, ltxFile.MinTXID, ltxFile.MaxTXID)); err != nil || info.Size() > 200_000 {
			t.Errorf("LTX file %s has %d bytes, %v", ltxFile.MinTXID, info.Size(), err)
		}
	}
	if n := countRestored(t, destination); n != 3*125 {
		t.Errorf("%d rows, want %d", n, 3*125)
	}
}

// Proves AM-delete-gone.
//
// TestAScrubBesideAReaderIsNotDone scrubs while a reader needs the write-ahead log: its job must run again later.
func TestAScrubBesideAReaderIsNotDone(t *testing.T) {
	destination := OpenDestination(DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	s, r := openService(t, destination)
	writeMegabytes(t, s, r, 1)
	syncReplica(t, r)
	errDone := errors.New("the snapshot has ended")
	err := s.db.Snapshot(t.Context(), func(q db.Querier) error {
		if _, err := db.One[int](t.Context(), q, "select count(*) from rate_limits"); err != nil {
			return err
		}
		insertRow(t, s, "a frame that the reader does not see")
		if err := s.db.Scrub(t.Context()); !errors.Is(err, db.ErrLogInUse) {
			t.Errorf("beside a reader: %v, want ErrLogInUse", err)
		}
		return errDone
	})
	if !errors.Is(err, errDone) {
		t.Fatal(err)
	}
	if err := s.db.Scrub(t.Context()); err != nil {
		t.Errorf("afterwards: %v", err)
	}
}
