package backup_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/backup"
	"atelie/internal/db"
)

// refer adds a blob and the rows that refer to it, as an upload does, and returns its id. If record is false, the blob is not recorded for the
// backup.
func (s *site) refer(t *testing.T, text string, record bool) string {
	t.Helper()
	id := uuid.NewString()
	s.mu.Lock()
	s.blobs[id] = text
	s.mu.Unlock()
	err := s.d.WithTx(t.Context(), func(tx *db.Tx) error {
		err := db.Exec(t.Context(), tx, `insert into storage_buckets (id, name, public, created_at, updated_at) values ('b', 'b', true, $1, $1) on conflict (id) do nothing`, s.now())
		if err == nil {
			err = db.Exec(t.Context(), tx, `insert into storage_objects (id, bucket_id, name, blob_id, size, etag, mime_type, cache_control, created_at, updated_at)
				values ($1, 'b', $2, $1, $3, $5, 'text/plain', '', $4, $4)`, id, "name of "+id, len(text), s.now(), hexSum(text))
		}
		if err == nil && record {
			err = s.service.AddBlobs(t.Context(), tx, id)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func hexSum(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// drop deletes a blob and the rows that refer to it.
func (s *site) drop(t *testing.T, id string) {
	t.Helper()
	err := s.d.WithTx(t.Context(), func(tx *db.Tx) error {
		err := db.Exec(t.Context(), tx, "delete from storage_objects where blob_id = $1", id)
		if err == nil {
			err = s.service.RemoveBlob(t.Context(), tx, id)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	delete(s.blobs, id)
	s.mu.Unlock()
}

// waitBlobs waits until no blob waits for its copy.
func (s *site) waitBlobs(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		status, err := s.service.Status(t.Context())
		if err == nil && (status.WaitingFiles > 0 || status.BackupError != "") {
			err = fmt.Errorf("got %+v", status)
		}
		return err
	})
}

// Proves H-backup-files.
func TestEachBlobIsCopiedOnceAndStaysForTheRetention(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		s := newSite(t, t.TempDir(), destination)
		s.start(t)
		dest := backup.OpenDestination(destination)
		kept, removed := s.refer(t, "kept", true), s.refer(t, "removed", true)
		s.waitBlobs(t)
		for id, text := range map[string]string{kept: "kept", removed: "removed"} {
			if got := read(t, dest, backup.BlobName(id)); got != text {
				t.Errorf("got %q", got)
			}
		}
		s.drop(t, removed)
		s.restart(t, 719*time.Hour)
		if got := read(t, dest, backup.BlobName(removed)); got != "removed" {
			t.Errorf("within the retention: %q", got)
		}
		s.restart(t, 2*time.Hour)
		if _, err := dest.Open(t.Context(), backup.BlobName(removed)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after the retention: %v", err)
		}
		if got := read(t, dest, backup.BlobName(kept)); got != "kept" {
			t.Errorf("the other blob: %q", got)
		}
	})
}

// Proves H-backup-files.
func TestFilesOfTheLastWritesAreCopiedBeforeTheProgramEnds(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		s := newSite(t, t.TempDir(), destination)
		s.start(t)
		s.refer(t, "first", true)
		s.waitBlobs(t)
		s.end() // as jobs that finish after the backup's loops have ended
		s.end = func() {}
		last := s.refer(t, "last", true)
		s.stop(t)
		if got := read(t, backup.OpenDestination(destination), backup.BlobName(last)); got != "last" {
			t.Errorf("got %q", got)
		}
	})
}

// Proves H-backup-files.
func TestUnrecordedBlobsAreFoundAtTheStart(t *testing.T) {
	s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	id := s.refer(t, "before backups were on", false)
	s.start(t)
	destination := backup.OpenDestination(s.destination)
	eventually(t, func() error {
		r, err := destination.Open(t.Context(), backup.BlobName(id))
		if err == nil {
			err = r.Close()
		}
		return err
	})
	// A new destination has none of the blobs.
	s.waitBlobs(t)
	s.stop(t)
	s.destination = backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "another")}
	s.open(t)
	s.start(t)
	destination = backup.OpenDestination(s.destination)
	eventually(t, func() error {
		r, err := destination.Open(t.Context(), backup.BlobName(id))
		if err == nil {
			err = r.Close()
		}
		return err
	})
}

// restart stops the site and starts it after some time of its clock. It returns when the start has processed the blobs.
func (s *site) restart(t *testing.T, after time.Duration) {
	t.Helper()
	s.stop(t)
	s.advance(after)
	s.open(t)
	s.start(t)
	last := s.refer(t, "last", true) // copied after the work of the start
	s.waitBlobs(t)
	if read(t, backup.OpenDestination(s.destination), backup.BlobName(last)) != "last" {
		t.Error("a later blob is missing")
	}
}

// A site that was restored to an earlier state has no rows for later blobs. A site that had another destination for some time has no rows
// for the blobs that were removed before.
//
// Proves H-backup-strays.
func TestBlobWithoutARowIsRemovedAfterTheRetention(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		s := newSite(t, t.TempDir(), destination)
		s.start(t)
		dest := backup.OpenDestination(destination)
		kept, removed, stray := s.refer(t, "kept", true), s.refer(t, "removed", true), uuid.NewString()
		s.waitBlobs(t)
		s.drop(t, removed)
		foreign := []string{"blobs/readme.txt", "blobs/aa/bb/" + stray, "notes/" + stray}
		for _, name := range append(foreign, backup.BlobName(stray)) {
			if err := dest.Write(t.Context(), name, strings.NewReader("x")); err != nil {
				t.Fatal(err)
			}
		}
		s.destination = backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "another")}
		s.restart(t, time.Hour)
		s.destination = destination
		s.restart(t, time.Hour)
		s.restart(t, 719*time.Hour)
		for _, id := range []string{kept, removed, stray} {
			if len(read(t, dest, backup.BlobName(id))) == 0 {
				t.Errorf("%s is gone within the retention", id)
			}
		}
		s.restart(t, 2*time.Hour)
		for _, id := range []string{removed, stray} {
			if _, err := dest.Open(t.Context(), backup.BlobName(id)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s after the retention: %v", id, err)
			}
		}
		for _, name := range append(foreign, backup.BlobName(kept)) {
			read(t, dest, name)
		}
	})
}

// Proves H-backup-strays.
func TestStrayBlobThatIsNeededAgainIsCopiedAgain(t *testing.T) {
	s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	s.start(t)
	destination := backup.OpenDestination(s.destination)
	id := s.refer(t, "first", true)
	s.waitBlobs(t)
	if err := db.Exec(t.Context(), s.d, "delete from backup_blobs where blob_id = $1", id); err != nil {
		t.Fatal(err)
	}
	other := uuid.NewString()
	s.mu.Lock()
	s.blobs[other] = "other"
	s.mu.Unlock()
	if err := db.Exec(t.Context(), s.d, "update storage_objects set blob_id = $2 where blob_id = $1", id, other); err != nil {
		t.Fatal(err)
	}
	s.restart(t, 25*time.Hour)
	state, err := db.One[int64](t.Context(), s.d, "select count(*) from backup_blobs where blob_id = $1 and removed_at is not null and copied_at is null", id)
	if err != nil || state != 1 {
		t.Errorf("%d, %v", state, err)
	}
	if err := destination.Delete(t.Context(), backup.BlobName(id)); err != nil {
		t.Fatal(err)
	}
	if err := db.Exec(t.Context(), s.d, "update storage_objects set blob_id = $1 where id = $1", id); err != nil {
		t.Fatal(err)
	}
	s.restart(t, 25*time.Hour)
	if got := read(t, destination, backup.BlobName(id)); got != "first" {
		t.Errorf("got %q", got)
	}
}

// Proves H-backup-strays.
func TestPartsOfAnotherEngineAreRemovedAfterTheRetention(t *testing.T) {
	s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	destination := backup.OpenDestination(s.destination)
	for _, name := range []string{"snapshots/20260301T020000Z-aaaaaaaa.db.zst", "snapshots/20260301T020000Z-aaaaaaaa.json"} {
		if err := destination.Write(t.Context(), name, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
	}
	s.start(t)
	s.write(t, "a")
	s.wait(t)
	s.restart(t, 719*time.Hour)
	if got := names(t, destination, "snapshots/"); len(got) != 2 {
		t.Errorf("within the retention: %q", got)
	}
	s.restart(t, 25*time.Hour)
	if got := names(t, destination, "snapshots/"); len(got) != 0 {
		t.Errorf("after the retention: %q", got)
	}
	if got := s.restored(t, time.Time{}); got != "a" {
		t.Errorf("got %q", got)
	}
}

func TestLostBlobIsAnErrorAndOthersAreCopied(t *testing.T) {
	s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	lost := s.refer(t, "lost", false)
	s.mu.Lock()
	delete(s.blobs, lost)
	s.mu.Unlock()
	other := s.refer(t, "other", false)
	s.start(t)
	eventually(t, func() error {
		status, err := s.service.Status(t.Context())
		if err == nil && (status.WaitingFiles != 1 || status.BackupError != "a file is missing in the site's own file store: blob "+lost) {
			err = fmt.Errorf("%+v", status)
		}
		return err
	})
	if got := read(t, backup.OpenDestination(s.destination), backup.BlobName(other)); got != "other" {
		t.Errorf("got %q", got)
	}
	later := s.refer(t, "later", true)
	waiting := backup.Waiting{Ended: func() error { return nil }, Each: func(string) error { return nil }}
	if _, err := s.service.BringUpToDate(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	if got := read(t, backup.OpenDestination(s.destination), backup.BlobName(later)); got != "later" {
		t.Errorf("got %q", got)
	}
}
