package backup_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benbjohnson/litestream"
	"github.com/google/uuid"

	"atelie/internal/backup"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// site is a site with an SQLite database in a folder, for tests.
type site struct {
	file        string
	d           *db.DB
	destination backup.DestinationConfig
	service     *backup.Service
	end         func() // stops the backup
	closed      bool
	second      backup.Destination // nil for none
	log         logged

	mu      sync.Mutex
	offset  time.Duration // of the clock
	full    bool          // what Full returns
	blobs   map[string]string
	content backup.Secrets
}

const siteID = "11111111-2222-4333-8444-555555555555"

// logged collects the log.
type logged struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// newSite creates a site in dir. The method start runs its backup.
func newSite(t *testing.T, dir string, destination backup.DestinationConfig) *site {
	t.Helper()
	if _, err := os.Stat(filepath.Join(dir, "atelie.db")); errors.Is(err, fs.ErrNotExist) {
		dbtest.WriteSQLite(t, filepath.Join(dir, "atelie.db"))
	}
	s := &site{file: filepath.Join(dir, "atelie.db"), destination: destination, blobs: map[string]string{}, content: backup.Secrets{Current: strings.Repeat("s", 40)}}
	s.open(t)
	t.Cleanup(func() { s.stop(t) })
	return s
}

func (s *site) open(t *testing.T) {
	t.Helper()
	var err error
	if s.d, err = db.Open(t.Context(), "sqlite:"+s.file, db.NoHooks); err != nil {
		t.Fatal(err)
	}
	s.closed = false
}

func (s *site) now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return time.Now().Add(s.offset)
}

// advance advances the site's clock.
func (s *site) advance(by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offset += by
}

func (s *site) openBlob(_ context.Context, id string) (io.ReadSeekCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.blobs[id]
	if !ok {
		return nil, fs.ErrNotExist
	}
	return struct {
		io.ReadSeeker
		io.Closer
	}{strings.NewReader(text), io.NopCloser(nil)}, nil
}

// start runs the backup.
func (s *site) start(t *testing.T) {
	t.Helper()
	s.service = backup.New(s.d, backup.Config{
		Destination: backup.OpenDestination(s.destination), Retention: 720 * time.Hour, SiteID: siteID, Secrets: s.content, OpenBlob: s.openBlob,
		DiskFull:  func() bool { s.mu.Lock(); defer s.mu.Unlock(); return s.full },
		FreeSpace: func() int64 { return 1 << 40 },
		Secondary: s.second, Log: slog.New(slog.NewTextHandler(io.MultiWriter(t.Output(), &s.log), nil)),
		ScratchDir: filepath.Dir(s.file),
	}, s.now)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); s.service.Run(ctx) }()
	s.end = func() { cancel(); <-done }
}

// stop stops the site as a server does.
func (s *site) stop(t *testing.T) {
	t.Helper()
	if s.closed {
		return
	}
	s.closed = true
	if s.end != nil {
		s.end()
		s.end = nil
		s.service.CopyLastBlobs(t.Context())
	}
	if err := s.d.Close(); err != nil {
		t.Error(err)
	}
	if s.service != nil {
		if err := s.service.Close(); err != nil {
			t.Error(err)
		}
		s.service = nil
	}
}

func (s *site) write(t *testing.T, key string) {
	t.Helper()
	if err := db.Exec(t.Context(), s.d, "insert into rate_limits (name, subject, bucket_start, hits) values ($1, $1, 0, 1)", key); err != nil {
		t.Fatal(err)
	}
}

// wait waits until the destination has everything that was written before the call.
func (s *site) wait(t *testing.T) {
	t.Helper()
	called := s.now()
	eventually(t, func() error {
		status, err := s.service.Status(t.Context())
		if err == nil && !status.LastBackup.After(called) {
			err = fmt.Errorf("not after %s: %+v", called, status)
		}
		return err
	})
}

// eventually calls try until it succeeds, for at most a minute.
func eventually(t *testing.T, try func() error) {
	t.Helper()
	var err error
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		if err = try(); err == nil {
			return
		}
	}
	t.Fatal(err)
}

// restored restores the database from the destination and returns the keys in it.
func (s *site) restored(t *testing.T, at time.Time) string {
	t.Helper()
	keys, err := s.tryRestore(t, at)
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func (s *site) tryRestore(t *testing.T, at time.Time) (string, error) {
	t.Helper()
	client := backup.OpenDestination(s.destination).RangeClient()
	if err := client.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	opt := litestream.NewRestoreOptions()
	opt.OutputPath, opt.Timestamp, opt.IntegrityCheck = filepath.Join(t.TempDir(), "restored.db"), at, litestream.IntegrityCheckFull
	if err := litestream.NewReplicaWithClient(nil, client).Restore(t.Context(), opt); err != nil {
		return "", err
	}
	d, err := db.Open(t.Context(), "sqlite:"+opt.OutputPath, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	return keys(t, d), nil
}

func keys(t *testing.T, d *db.DB) string {
	t.Helper()
	list, err := db.Collect(t.Context(), d, db.ScanOne[string], "select name from rate_limits order by name")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(list, " ")
}

// Proves H-backup-commits.
func TestEachRestorePointCanBeRestored(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		s := newSite(t, t.TempDir(), destination)
		s.write(t, "a-before")
		s.start(t)
		s.wait(t)
		if got := s.restored(t, time.Time{}); got != "a-before" {
			t.Errorf("got %q", got)
		}
		s.write(t, "b")
		s.wait(t)
		at := time.Now()
		s.write(t, "c")
		s.wait(t)
		if got := s.restored(t, time.Time{}); got != "a-before b c" {
			t.Errorf("newest: %q", got)
		}
		if got := s.restored(t, at); got != "a-before b" {
			t.Errorf("earlier: %q", got)
		}
		s.write(t, "d")
		s.stop(t)
		if got := s.restored(t, time.Time{}); got != "a-before b c d" {
			t.Errorf("after the end: %q", got)
		}
		status, err := backup.ReadFormat(t.Context(), backup.OpenDestination(destination))
		if err != nil || status.Site != siteID || status.Engine != "sqlite" {
			t.Errorf("got %+v, %v", status, err)
		}
		if secrets, err := backup.ReadSecrets(t.Context(), backup.OpenDestination(destination), ""); err != nil || secrets != s.content {
			t.Errorf("got %+v, %v", secrets, err)
		}
	})
}

// Proves H-backup-start.
func TestTheNextStartContinuesTheReplica(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		s := newSite(t, t.TempDir(), destination)
		s.start(t)
		s.write(t, "a")
		s.wait(t)
		s.stop(t)
		s.open(t)
		s.write(t, "b")
		s.start(t)
		s.wait(t)
		if got := s.restored(t, time.Time{}); got != "a b" {
			t.Errorf("got %q", got)
		}
	})
}

// copyRunning copies a file, or a folder with its files, while a replica writes it. It skips temporary files that are renamed meanwhile:
// they are missing after a kill before their last write, too.
func copyRunning(t *testing.T, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(name string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name != from {
			return nil
		}
		if err != nil {
			return err
		}
		target := filepath.Join(to, strings.TrimPrefix(name, from))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		text, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) && name != from {
			return nil
		}
		return errors.Join(err, os.WriteFile(target, text, 0o600))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Proves H-backup-start.
func TestAfterAKillTheNextStartContinuesTheReplica(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		s := newSite(t, t.TempDir(), destination)
		s.start(t)
		s.write(t, "a")
		s.wait(t)
		s.write(t, "b")
		// A killed process leaves the files as they are, with a log that was not moved into the database.
		dir := t.TempDir()
		copyRunning(t, s.file+"-backup", filepath.Join(dir, "atelie.db-backup"))
		for _, name := range []string{"atelie.db", "atelie.db-wal"} {
			copyRunning(t, filepath.Join(filepath.Dir(s.file), name), filepath.Join(dir, name))
		}
		s.end()
		s.end, s.service = nil, nil // without the last upload
		next := newSite(t, dir, destination)
		next.write(t, "c")
		next.start(t)
		next.wait(t)
		if got := next.restored(t, time.Time{}); got != "a b c" {
			t.Errorf("got %q", got)
		}
		if status, err := next.service.Status(t.Context()); err != nil || status.BackupError != "" {
			t.Errorf("got %+v, %v", status, err)
		}
	})
}

// Proves H-backup-start.
func TestAnExchangedDatabaseIsBackedUpWithoutAnError(t *testing.T) {
	destination := backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}
	s := newSite(t, t.TempDir(), destination)
	s.write(t, "old")
	s.start(t)
	s.wait(t)
	at := time.Now()
	s.stop(t)
	other := newSite(t, t.TempDir(), destination)
	other.write(t, "new")
	other.stop(t)
	for _, name := range []string{s.file + "-wal", s.file + "-shm"} {
		if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	if err := os.Rename(other.file, s.file); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	s.start(t)
	s.write(t, "newer")
	s.wait(t)
	if got := s.restored(t, time.Time{}); got != "new newer" {
		t.Errorf("newest: %q", got)
	}
	if got := s.restored(t, at); got != "old" {
		t.Errorf("before the exchange: %q", got)
	}
	if status, err := s.service.Status(t.Context()); err != nil || status.BackupError != "" {
		t.Errorf("got %+v, %v", status, err)
	}
	// Another folder with an earlier state of the database, and without the local files of the backup.
	s.stop(t)
	if err := os.RemoveAll(s.file + "-backup"); err != nil {
		t.Fatal(err)
	}
	s.open(t)
	s.start(t)
	s.write(t, "newest")
	s.wait(t)
	if got := s.restored(t, time.Time{}); got != "new newer newest" {
		t.Errorf("without local files: %q", got)
	}
}

// Proves H-backup-outage.
func TestUnreachableDestinationDelaysNoWriteAndCatchesUp(t *testing.T) {
	parent := t.TempDir()
	destination := backup.DestinationConfig{Folder: filepath.Join(parent, "mount", "backups")}
	s := newSite(t, t.TempDir(), destination)
	mount := func(there bool) {
		t.Helper()
		from, to := filepath.Join(parent, "mount"), filepath.Join(parent, "elsewhere")
		if there {
			if err := errors.Join(os.Remove(from), os.Rename(to, from)); err != nil {
				t.Fatal(err)
			}
		} else if err := errors.Join(os.Rename(from, to), os.WriteFile(from, nil, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	s.start(t)
	s.write(t, "a")
	s.wait(t)
	mount(false)
	s.write(t, "b")
	var since time.Time
	eventually(t, func() error {
		status, err := s.service.Status(t.Context())
		if err == nil && (status.BackupError == "" || status.ErrorSince.IsZero()) {
			err = fmt.Errorf("no error: %+v", status)
		}
		since = status.ErrorSince
		return err
	})
	s.write(t, "c")
	s.stop(t) // restart during the outage
	s.open(t)
	s.start(t)
	s.write(t, "d")
	eventually(t, func() error {
		if status, err := s.service.Status(t.Context()); err != nil || !status.ErrorSince.Equal(since) {
			return fmt.Errorf("since %s: %+v, %w", since, status, err)
		}
		return nil
	})
	mount(true)
	s.wait(t)
	if got := s.restored(t, time.Time{}); got != "a b c d" {
		t.Errorf("got %q", got)
	}
	eventually(t, func() error {
		if status, err := s.service.Status(t.Context()); err != nil || status.BackupError != "" {
			return fmt.Errorf("%+v, %w", status, err)
		}
		return nil
	})
}

// Proves H-backup-full.
func TestFullDiskPausesTheBackup(t *testing.T) {
	s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	s.start(t)
	s.write(t, "a")
	s.wait(t)
	setFull := func(full bool) { s.mu.Lock(); s.full = full; s.mu.Unlock() }
	setFull(true)
	eventually(t, func() error {
		status, err := s.service.Status(t.Context())
		if err == nil && !strings.Contains(status.BackupError, "full") {
			err = fmt.Errorf("%+v", status)
		}
		return err
	})
	if _, err := os.Stat(s.file + "-backup"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the local files still use disk space: %v", err)
	}
	s.write(t, "b")
	setFull(false)
	s.wait(t)
	if got := s.restored(t, time.Time{}); got != "a b" {
		t.Errorf("got %q", got)
	}
}

func TestAnEmptiedDestinationIsFilledAgain(t *testing.T) {
	destination := backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}
	s := newSite(t, t.TempDir(), destination)
	s.start(t)
	s.write(t, "a")
	s.wait(t)
	// An upload can add a file meanwhile; the folder is then not empty.
	eventually(t, func() error { return os.RemoveAll(filepath.Join(destination.Folder, "database")) })
	s.stop(t)
	s.open(t)
	s.start(t)
	s.write(t, "b")
	s.wait(t)
	eventually(t, func() error { // a snapshot follows the first upload
		got, err := s.tryRestore(t, time.Time{})
		if err == nil && got != "a b" {
			err = fmt.Errorf("got %q", got)
		}
		return err
	})
}

func TestAScrubRemovesDeletedBytesWhileTheBackupRuns(t *testing.T) {
	s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	s.start(t)
	secret := "words-that-are-deleted-" + uuid.NewString()
	s.write(t, secret)
	s.wait(t)
	if err := db.Exec(t.Context(), s.d, "delete from rate_limits where name = $1", secret); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error { return s.d.Scrub(t.Context()) })
	for _, name := range []string{s.file, s.file + "-wal"} {
		if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte(secret)) {
			t.Errorf("%s still has them (%v)", filepath.Base(name), err)
		}
	}
	s.write(t, "after")
	s.wait(t)
	if got := s.restored(t, time.Time{}); got != "after" {
		t.Errorf("got %q", got)
	}
}

// Proves H-backup-site.
func TestADestinationOfAnotherSiteGetsNothing(t *testing.T) {
	destination := backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}
	if _, err := backup.Claim(t.Context(), backup.OpenDestination(destination), "another-site", "sqlite"); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, t.TempDir(), destination)
	s.start(t)
	eventually(t, func() error {
		status, err := s.service.Status(t.Context())
		if err == nil && (!strings.Contains(status.BackupError, "another-site") || !strings.Contains(status.BackupError, siteID)) {
			err = fmt.Errorf("%+v", status)
		}
		return err
	})
	if got := names(t, backup.OpenDestination(destination), ""); len(got) != 1 {
		t.Errorf("the destination has %q", got)
	}
}
