package backup_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atelie/internal/backup"
	"atelie/internal/storage/blob/blobtest"
)

// prove requests a proof and waits for the result.
func (s *site) prove(t *testing.T) (backup.Proof, error) {
	t.Helper()
	waiting := backup.Waiting{Ended: func() error { return nil }, Each: func(string) error { return t.Context().Err() }}
	return s.service.RequestProof(t.Context(), waiting)
}

// Proves H-proof-away.
func TestUnreachableDestinationIsNotAFailedProof(t *testing.T) {
	t.Run("folder", func(t *testing.T) {
		t.Parallel() // most of it is waiting
		parent := t.TempDir()
		here, away := filepath.Join(parent, "mount"), filepath.Join(parent, "elsewhere")
		// reach(false) makes the destination unreachable: it moves the folder away and puts an empty file in its place. reach(true) undoes that.
		reach := func(there bool) error {
			if there {
				return errors.Join(os.Remove(here), os.Rename(away, here))
			}
			return errors.Join(os.Rename(here, away), os.WriteFile(here, nil, 0o600))
		}
		proveWithout(t, backup.DestinationConfig{Folder: filepath.Join(here, "backups")}, reach, parent)
	})
	t.Run("s3", func(t *testing.T) {
		t.Parallel()
		server, err := blobtest.Start(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := server.Remove(); err != nil {
				t.Error(err)
			}
		})
		cfg := server.Config("copies")
		reach := func(there bool) error {
			if there {
				return server.Run(t.Context())
			}
			return server.Kill()
		}
		proveWithout(t, backup.DestinationConfig{Bucket: &cfg}, reach, "S3")
	})
}

// proveWithout requests proofs while the destination is reachable, unreachable, and reachable again. While it is unreachable, the log must
// contain the text hidden, but the BackupError that the owner reads must not.
func proveWithout(t *testing.T, destination backup.DestinationConfig, reach func(there bool) error, hidden string) {
	s := newSite(t, t.TempDir(), destination)
	s.start(t)
	s.write(t, "a")
	s.wait(t)
	first, err := s.prove(t)
	if err != nil || first.RestorePoint.IsZero() {
		t.Fatalf("got %+v, error %v", first, err)
	}
	if err := reach(false); err != nil {
		t.Fatal(err)
	}
	const text = "The proof could not be done: the backup destination cannot be reached."
	for range 2 {
		if _, err := s.prove(t); err == nil || err.Error() != text {
			t.Errorf("away: %v", err)
		}
	}
	status, err := s.service.Status(t.Context())
	if err != nil || status.ProofError != "" || status.ProofIncomplete != text || status.ProofIncompleteCode != "backup_place_unreachable" || !status.DestinationUnreachable || status.ProofIncompleteSince.IsZero() {
		t.Errorf("%+v, %v", status, err)
	}
	if !status.ProvenRestorePoint.Equal(first.RestorePoint) || !status.LastProof.Equal(first.Ended) {
		t.Errorf("the proven restore point was %s (%s), and is %s (%s)", first.RestorePoint, first.Ended, status.ProvenRestorePoint, status.LastProof)
	}
	if strings.Contains(status.BackupError, hidden) {
		t.Errorf("the owner reads %q", status.BackupError)
	}
	if log := s.log.String(); strings.Count(log, "code=backup_place_unreachable") != 1 || !strings.Contains(log, hidden) {
		t.Errorf("the log does not contain the cause exactly once:\n%s", log)
	}
	if err := reach(true); err != nil {
		t.Fatal(err)
	}
	s.write(t, "b")
	eventually(t, func() error { // the upload waits before it tries again
		again, err := s.prove(t)
		if err == nil && !again.RestorePoint.After(first.RestorePoint) {
			err = fmt.Errorf("%+v", again)
		}
		return err
	})
	if status, err := s.service.Status(t.Context()); err != nil || status.ProofIncomplete != "" || status.DestinationUnreachable || status.ProofError != "" {
		t.Errorf("back: %+v, %v", status, err)
	}
}

// Proves H-proof-away.
func TestAnUnreachableDestinationHidesNoDamage(t *testing.T) {
	destination := filepath.Join(t.TempDir(), "backups")
	s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: destination})
	s.start(t)
	s.write(t, "a")
	s.wait(t)
	if err := os.WriteFile(filepath.Join(destination, "secret"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := s.prove(t); err == nil || err.Error() != "secret is damaged" {
		t.Errorf("damaged: %v", err)
	}
	if err := errors.Join(os.Rename(destination, destination+" away"), os.WriteFile(destination, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.prove(t); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("away: %v", err)
	}
	if status, err := s.service.Status(t.Context()); err != nil || status.ProofError != "secret is damaged" || !status.DestinationUnreachable || !status.LastProof.IsZero() {
		t.Errorf("%+v, %v", status, err)
	}
}

// Proves H-proof-files.
func TestProofListsFilesThatItCouldNotCompare(t *testing.T) {
	destination := filepath.Join(t.TempDir(), "backups")
	s := newSite(t, t.TempDir(), backup.DestinationConfig{Folder: destination})
	id := s.refer(t, "first", false)
	s.mu.Lock()
	delete(s.blobs, id) // so that its copy waits
	s.mu.Unlock()
	s.start(t)
	s.wait(t)
	proof, err := s.prove(t)
	if err != nil || proof.Files != 0 || proof.Waiting != 1 {
		t.Fatalf("%+v, %v", proof, err)
	}
	if status, err := s.service.Status(t.Context()); err != nil || status.UnprovenFiles != 1 || status.LastProof.IsZero() {
		t.Errorf("%+v, %v", status, err)
	}
	s.mu.Lock()
	s.blobs[id] = "first"
	s.mu.Unlock()
	waiting := backup.Waiting{Ended: func() error { return nil }, Each: func(string) error { return nil }}
	if _, err := s.service.BringUpToDate(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	if proof, err = s.prove(t); err != nil || proof.Files != 1 || proof.Waiting != 0 {
		t.Errorf("%+v, %v", proof, err)
	}
}
