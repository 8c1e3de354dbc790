package backup_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/backup"
	"atelie/internal/db"
)

// refer makes rows that refer to a new blob, as an upload does, and returns its id. record is false for a program that does not
// tell the backup.
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

// drop deletes what refers to a blob, and the blob.
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
			err = fmt.Errorf("%+v", status)
		}
		return err
	})
}

// Proves H-backup-files.
func TestEachBlobIsCopiedOnceAndStaysForTheRetention(t *testing.T) {
	eachPlace(t, func(t *testing.T, place backup.PlaceConfig) {
		s := newSite(t, t.TempDir(), place)
		s.start(t)
		p := backup.OpenPlace(place)
		kept, removed := s.refer(t, "kept", true), s.refer(t, "removed", true)
		s.waitBlobs(t)
		for id, text := range map[string]string{kept: "kept", removed: "removed"} {
			if got := read(t, p, backup.BlobName(id)); got != text {
				t.Errorf("got %q", got)
			}
		}
		s.drop(t, removed)
		restart := func(after time.Duration) {
			t.Helper()
			s.stop(t)
			s.mu.Lock()
			s.offset += after
			s.mu.Unlock()
			s.open(t)
			s.start(t)
			last := s.refer(t, "last", true) // copied after what the start does first
			s.waitBlobs(t)
			if read(t, p, backup.BlobName(last)) != "last" {
				t.Error("a later blob is missing")
			}
		}
		restart(719 * time.Hour)
		if got := read(t, p, backup.BlobName(removed)); got != "removed" {
			t.Errorf("within the retention: %q", got)
		}
		restart(2 * time.Hour)
		if _, err := p.Open(t.Context(), backup.BlobName(removed)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after the retention: %v", err)
		}
		if got := read(t, p, backup.BlobName(kept)); got != "kept" {
			t.Errorf("the other one: %q", got)
		}
	})
}

// Proves H-backup-files.
func TestBlobsThatTheBackupWasNotToldAreFoundAtTheStart(t *testing.T) {
	s := newSite(t, t.TempDir(), backup.PlaceConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	id := s.refer(t, "before backups were on", false)
	s.start(t)
	p := backup.OpenPlace(s.place)
	eventually(t, func() error {
		r, err := p.Open(t.Context(), backup.BlobName(id))
		if err == nil {
			err = r.Close()
		}
		return err
	})
	// Another place has none of the blobs.
	s.waitBlobs(t)
	s.stop(t)
	s.place = backup.PlaceConfig{Folder: filepath.Join(t.TempDir(), "another")}
	s.open(t)
	s.start(t)
	p = backup.OpenPlace(s.place)
	eventually(t, func() error {
		r, err := p.Open(t.Context(), backup.BlobName(id))
		if err == nil {
			err = r.Close()
		}
		return err
	})
}

func TestABlobThatTheSiteHasLostIsAnErrorAndTheOthersAreCopied(t *testing.T) {
	s := newSite(t, t.TempDir(), backup.PlaceConfig{Folder: filepath.Join(t.TempDir(), "backups")})
	lost := s.refer(t, "lost", false)
	s.mu.Lock()
	delete(s.blobs, lost)
	s.mu.Unlock()
	other := s.refer(t, "other", false)
	s.start(t)
	eventually(t, func() error {
		status, err := s.service.Status(t.Context())
		if err == nil && (status.WaitingFiles != 1 || status.BackupError != "a file is missing in the site's own place for files: blob "+lost) {
			err = fmt.Errorf("%+v", status)
		}
		return err
	})
	if got := read(t, backup.OpenPlace(s.place), backup.BlobName(other)); got != "other" {
		t.Errorf("got %q", got)
	}
	later := s.refer(t, "later", true)
	waiting := backup.Waiting{Ended: func() error { return nil }, Each: func(string) error { return nil }}
	if _, err := s.service.BringUpToDate(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	if got := read(t, backup.OpenPlace(s.place), backup.BlobName(later)); got != "later" {
		t.Errorf("got %q", got)
	}
}
