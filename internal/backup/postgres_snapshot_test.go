package backup_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
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

	"github.com/klauspost/compress/zstd"

	"atelie/internal/backup"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// postgresSite returns a PostgreSQL database, a function that returns the backup service of another node on it, and a function that sets the
// clock of all nodes.
func postgresSite(t *testing.T, destination backup.DestinationConfig) (*db.DB, func() *backup.Service, func(time.Time)) {
	t.Helper()
	d := dbtest.Open(t, db.Postgres)
	var mu sync.Mutex
	at := time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)
	now := func() time.Time { mu.Lock(); defer mu.Unlock(); return at }
	node := func() *backup.Service {
		return backup.New(d, backup.Config{
			Destination: backup.OpenDestination(destination), Retention: 72 * time.Hour, SiteID: siteID, Secrets: backup.Secrets{Current: strings.Repeat("s", 40)},
			OpenBlob: (&site{}).openBlob, DiskFull: func() bool { return false }, ScratchDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}, now)
	}
	return d, node, func(to time.Time) { mu.Lock(); at = to; mu.Unlock() }
}

// snapshots returns the names of the snapshots, without their descriptions.
func snapshots(t *testing.T, destination backup.Destination) []string {
	t.Helper()
	return slices.DeleteFunc(names(t, destination, "snapshots/"), func(name string) bool { return strings.HasSuffix(name, ".json") })
}

// Proves H-backup-postgres.
func TestASnapshotOfPostgreSQLIsAnSQLiteDatabaseWithAllRows(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		d, node, _ := postgresSite(t, destination)
		if err := db.Exec(t.Context(), d, "insert into rate_limits (name, subject, bucket_start, hits) values ('a', 'b', 0, 1)"); err != nil {
			t.Fatal(err)
		}
		s, dest := node(), backup.OpenDestination(destination)
		if _, err := s.TakeSnapshot(t.Context()); err != nil {
			t.Fatal(err)
		}
		got := names(t, dest, "snapshots/")
		if len(got) != 2 || !strings.HasPrefix(got[0], "snapshots/20260301T020000Z-") || got[1] != strings.TrimSuffix(got[0], ".db.zst")+".json" {
			t.Fatalf("got %q", got)
		}
		var found backup.Snapshot
		if err := json.Unmarshal([]byte(read(t, dest, got[1])), &found); err != nil {
			t.Fatal(err)
		}
		stored := read(t, dest, found.Name)
		sum := sha256.Sum256([]byte(stored))
		if found.SHA256 != hex.EncodeToString(sum[:]) || found.Size != int64(len(stored)) || len(found.Tables) < 25 {
			t.Errorf("got %+v", found)
		}
		z, err := zstd.NewReader(strings.NewReader(stored))
		if err != nil {
			t.Fatal(err)
		}
		defer z.Close()
		file := filepath.Join(t.TempDir(), "restored.db")
		out, err := os.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := z.WriteTo(out); err != nil {
			t.Fatal(err)
		}
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		restored, err := db.Open(t.Context(), "sqlite:"+file, db.NoHooks)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = restored.Close() }()
		if got := keys(t, restored); got != "a" {
			t.Errorf("got %q", got)
		}
		status, err := s.Status(t.Context())
		if err != nil || !status.LastBackup.Equal(time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC)) || status.BackupError != "" {
			t.Errorf("got %+v, %v", status, err)
		}
	})
}

// meanwhileDestination calls fn once before it writes the first description of a snapshot.
type meanwhileDestination struct {
	backup.Destination
	once sync.Once
	fn   func()
}

func (d *meanwhileDestination) Write(ctx context.Context, name string, body io.ReadSeeker) error {
	if strings.HasPrefix(name, "snapshots/") {
		d.once.Do(d.fn)
	}
	return d.Destination.Write(ctx, name, body)
}

// The nightly snapshot and one of `atelie backup now` can be taken in the same second. Each has its own description, so both can be
// restored.
//
// Proves H-backup-postgres.
func TestSnapshotsOfTheSameSecondHaveDifferentNames(t *testing.T) {
	destination := backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}
	d, _, _ := postgresSite(t, destination)
	take := func(dest backup.Destination) {
		s := backup.New(d, backup.Config{
			Destination: dest, Retention: 72 * time.Hour, SiteID: siteID, Secrets: backup.Secrets{Current: strings.Repeat("s", 40)},
			OpenBlob: (&site{}).openBlob, DiskFull: func() bool { return false }, ScratchDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
		}, func() time.Time { return time.Date(2026, 3, 1, 2, 0, 0, 0, time.UTC) })
		if _, err := s.TakeSnapshot(t.Context()); err != nil {
			t.Error(err)
		}
	}
	first := &meanwhileDestination{Destination: backup.OpenDestination(destination), fn: func() {
		if err := db.Exec(t.Context(), d, "insert into rate_limits (name, subject, bucket_start, hits) values ('a', 'b', 0, 1)"); err != nil {
			t.Error(err)
		}
		take(backup.OpenDestination(destination))
	}}
	take(first)
	dest := backup.OpenDestination(destination)
	got := snapshots(t, dest)
	if len(got) != 2 {
		t.Errorf("got %q", got)
	}
	for _, name := range got {
		var found backup.Snapshot
		if err := json.Unmarshal([]byte(read(t, dest, strings.TrimSuffix(name, ".db.zst")+".json")), &found); err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256([]byte(read(t, dest, name))); found.Name != name || found.SHA256 != hex.EncodeToString(sum[:]) {
			t.Errorf("%s is described as %+v", name, found)
		}
	}
}

// Proves H-backup-postgres.
func TestOneNodeTakesASnapshotEachNightAndRemovesOldOnes(t *testing.T) {
	destination := backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}
	d, node, setTime := postgresSite(t, destination)
	dest := backup.OpenDestination(destination)
	for day := range 6 {
		setTime(time.Date(2026, 3, 2+day, 4, day, 0, 0, time.Local))
		ctx, cancel := context.WithCancel(t.Context())
		var nodes sync.WaitGroup
		for range 2 {
			s := node()
			nodes.Go(func() { s.Run(ctx) })
		}
		eventually(t, func() error {
			prefix := "snapshots/" + time.Date(2026, 3, 2+day, 4, day, 0, 0, time.Local).UTC().Format("20060102T150405Z")
			described := func(name string) bool { return strings.HasPrefix(name, prefix) && strings.HasSuffix(name, ".json") }
			if found := names(t, dest, "snapshots/"); !slices.ContainsFunc(found, described) {
				return fmt.Errorf("no snapshot %s in %q", prefix, found)
			}
			working, err := db.One[int64](t.Context(), d, "select count(*) from backup_status where kind = 'snapshot' and holder is not null")
			if err == nil && working > 0 { // the node that has taken the snapshot removes old ones
				err = errors.New("the node has not ended")
			}
			return err
		})
		cancel()
		nodes.Wait()
	}
	// The retention is three days. Its beginning needs the last snapshot before it.
	if got := snapshots(t, dest); len(got) != 4 && len(got) != 5 {
		t.Errorf("got %q", got)
	}
}
