package backup_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelie/internal/backup"
)

// damage changes a byte of an object. Its size stays the same.
func damage(t *testing.T, destination backup.Destination, name string) {
	t.Helper()
	text := []byte(read(t, destination, name))
	text[len(text)/2] ^= 1
	if err := destination.Write(t.Context(), name, strings.NewReader(string(text))); err != nil {
		t.Fatal(err)
	}
}

// Proves H-copy-mends.
func TestDamagedObjectsOfTheSecondaryDestinationAreCopiedAgain(t *testing.T) {
	eachDestination(t, func(t *testing.T, cfg backup.DestinationConfig) {
		second := backup.OpenDestination(cfg)
		s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
		s.second = second
		s.start(t)
		file, lost := s.refer(t, "a picture", true), s.refer(t, "another one", true)
		s.waitBlobs(t)
		s.wait(t)
		// Every restore needs the snapshot. An LTX file of level 0 could be compacted and removed during the test on a slow machine.
		s.advance(3 * time.Minute)
		ltxFile := ""
		eventually(t, func() error {
			for _, name := range names(t, backup.OpenDestination(s.destination), "database/") {
				if strings.Contains(name, "/9/") {
					ltxFile = name
					return nil
				}
			}
			return errors.New("no snapshot yet")
		})
		first, err := s.testRestore(t)
		if err != nil || first.Copy.Repaired != 0 || first.Copy.Compared < 5 { // format, secret, two files, at least one LTX file
			t.Fatalf("got %+v, error %v", first, err)
		}
		want := map[string]string{}
		for _, name := range []string{backup.BlobName(file), ltxFile} {
			want[name] = read(t, second, name)
			damage(t, second, name)
		}
		gone := backup.BlobName(lost)
		want[gone] = read(t, second, gone)
		if err := second.Delete(t.Context(), gone); err != nil {
			t.Fatal(err)
		}
		again, err := s.testRestore(t)
		if err != nil {
			t.Fatal(err)
		}
		if again.Copy.Repaired != 2 { // without the deleted file, which is copied as a new one
			t.Errorf("got %+v", again.Copy)
		}
		for name, text := range want {
			if read(t, second, name) != text {
				t.Errorf("%s is still damaged", name)
			}
			if lines := strings.Count(s.log.String(), "name="+name+" "); lines != 1 && name != gone {
				t.Errorf("the log names %s %d times", name, lines)
			}
		}
		if status, err := s.service.Status(t.Context()); err != nil || status.BackupError != "" || status.RestoreTestError != "" {
			t.Errorf("%+v, %v", status, err)
		}
	})
}

// damagingDestination is a destination that damages the files that it stores.
type damagingDestination struct{ backup.Destination }

func (r damagingDestination) Write(ctx context.Context, name string, body io.ReadSeeker) error {
	if !strings.HasPrefix(name, "blobs/") {
		return r.Destination.Write(ctx, name, body)
	}
	text, err := io.ReadAll(body)
	if err != nil {
		return err
	}
	text[0] ^= 1
	return r.Destination.Write(ctx, name, strings.NewReader(string(text)))
}

// Proves H-copy-mends.
func TestASecondaryDestinationThatCannotBeRepairedIsReported(t *testing.T) {
	s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	s.second = damagingDestination{backup.OpenDestination(backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "second")})}
	s.start(t)
	file := s.refer(t, "a picture", true)
	s.waitBlobs(t)
	s.wait(t)
	for range 2 { // the same failure ends the second wait too
		if _, err := s.testRestore(t); err == nil || !strings.Contains(err.Error(), "still damaged after it was copied again: "+backup.BlobName(file)) {
			t.Errorf("got %v", err)
		}
	}
	status, err := s.service.Status(t.Context())
	if err != nil || !strings.Contains(status.BackupError, backup.BlobName(file)) || status.ErrorSince.IsZero() || status.RestoreTestError != "" || status.LastRestoreTest.IsZero() {
		t.Errorf("%+v, %v", status, err)
	}
}

// Proves H-copy-mends.
func TestADamagedSnapshotInTheSecondaryDestinationIsCopiedAgain(t *testing.T) {
	destination, second := backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}, backup.OpenDestination(backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "second")})
	d, _, _ := postgresSite(t, destination)
	service := backup.New(d, backup.Config{
		Destination: backup.OpenDestination(destination), Secondary: second, Retention: 72 * time.Hour, SiteID: siteID, Secrets: backup.Secrets{Current: strings.Repeat("s", 40)},
		OpenBlob: (&site{}).openBlob, DiskFull: func() bool { return false }, FreeSpace: func() int64 { return 1 << 40 }, ScratchDir: t.TempDir(), Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() { defer close(ended); service.Run(ctx) }()
	defer func() { cancel(); <-ended }()
	s := &site{service: service}
	eventually(t, func() error {
		status, err := service.Status(t.Context())
		if err == nil && status.LastBackup.IsZero() {
			err = errors.New("no snapshot yet")
		}
		return err
	})
	if _, err := s.testRestore(t); err != nil {
		t.Fatal(err)
	}
	newest := newestSnapshot(t, second)
	want := read(t, second, newest)
	damage(t, second, newest)
	// Nothing was written since the previous restore test, so this copy has the same restore point. The result must be that of the new copy.
	if p, err := s.testRestore(t); err != nil || p.Copy.Repaired != 1 || read(t, second, newest) != want {
		t.Errorf("%+v, %v", p.Copy, err)
	}
}

// newestSnapshot returns the name of the newest snapshot. Snapshots of the same second can have any order.
func newestSnapshot(t *testing.T, destination backup.Destination) string {
	t.Helper()
	var newest backup.Snapshot
	for _, name := range snapshots(t, destination) {
		var s backup.Snapshot
		if err := json.Unmarshal([]byte(read(t, destination, strings.TrimSuffix(name, ".db.zst")+".json")), &s); err != nil {
			t.Fatal(err)
		}
		if s.Time.After(newest.Time) {
			newest = s
		}
	}
	return newest.Name
}
