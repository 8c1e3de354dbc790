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

// testRestore requests a restore test and waits for the result.
func (s *site) testRestore(t *testing.T) (backup.RestoreTest, error) {
	t.Helper()
	waiting := backup.Waiting{Ended: func() error { return nil }, Each: func(string) error { return t.Context().Err() }}
	return s.service.RequestRestoreTest(t.Context(), waiting)
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
		testRestoreWithout(t, backup.DestinationConfig{Folder: filepath.Join(here, "backups")}, reach, parent)
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
		testRestoreWithout(t, backup.DestinationConfig{Bucket: &cfg}, reach, "S3")
	})
}

// testRestoreWithout requests restore tests while the destination is reachable, unreachable, and reachable again. While it is unreachable,
// the log must contain the text hidden, but the BackupError that the owner reads must not.
func testRestoreWithout(t *testing.T, destination backup.DestinationConfig, reach func(there bool) error, hidden string) {
	s := newSite(t, t.TempDir(), destination)
	s.start(t)
	s.write(t, "a")
	s.wait(t)
	first, err := s.testRestore(t)
	if err != nil || first.RestorePoint.IsZero() {
		t.Fatalf("got %+v, error %v", first, err)
	}
	if err := reach(false); err != nil {
		t.Fatal(err)
	}
	const text = "The restore test could not be done: the backup destination cannot be reached."
	for range 2 {
		if _, err := s.testRestore(t); err == nil || err.Error() != text {
			t.Errorf("away: %v", err)
		}
	}
	status, err := s.service.Status(t.Context())
	if err != nil || status.RestoreTestError != "" || status.RestoreTestIncomplete != text || status.RestoreTestIncompleteCode != "backup_place_unreachable" || !status.DestinationUnreachable || status.RestoreTestIncompleteSince.IsZero() {
		t.Errorf("%+v, %v", status, err)
	}
	if !status.TestedRestorePoint.Equal(first.RestorePoint) || !status.LastRestoreTest.Equal(first.Ended) {
		t.Errorf("the tested restore point was %s (%s), and is %s (%s)", first.RestorePoint, first.Ended, status.TestedRestorePoint, status.LastRestoreTest)
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
		again, err := s.testRestore(t)
		if err == nil && !again.RestorePoint.After(first.RestorePoint) {
			err = fmt.Errorf("%+v", again)
		}
		return err
	})
	if status, err := s.service.Status(t.Context()); err != nil || status.RestoreTestIncomplete != "" || status.DestinationUnreachable || status.RestoreTestError != "" {
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
	if _, err := s.testRestore(t); err == nil || err.Error() != "secret is damaged" {
		t.Errorf("damaged: %v", err)
	}
	if err := errors.Join(os.Rename(destination, destination+" away"), os.WriteFile(destination, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.testRestore(t); err == nil || !strings.Contains(err.Error(), "cannot be reached") {
		t.Errorf("away: %v", err)
	}
	if status, err := s.service.Status(t.Context()); err != nil || status.RestoreTestError != "secret is damaged" || !status.DestinationUnreachable || !status.LastRestoreTest.IsZero() {
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
	restoreTest, err := s.testRestore(t)
	if err != nil || restoreTest.Files != 0 || restoreTest.Waiting != 1 {
		t.Fatalf("%+v, %v", restoreTest, err)
	}
	if status, err := s.service.Status(t.Context()); err != nil || status.UntestedFiles != 1 || status.LastRestoreTest.IsZero() {
		t.Errorf("%+v, %v", status, err)
	}
	s.mu.Lock()
	s.blobs[id] = "first"
	s.mu.Unlock()
	waiting := backup.Waiting{Ended: func() error { return nil }, Each: func(string) error { return nil }}
	if _, err := s.service.BringUpToDate(t.Context(), waiting); err != nil {
		t.Fatal(err)
	}
	if restoreTest, err = s.testRestore(t); err != nil || restoreTest.Files != 1 || restoreTest.Waiting != 0 {
		t.Errorf("%+v, %v", restoreTest, err)
	}
}
