package backup_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atelie/internal/backup"
	"atelie/internal/db"
)

// restoredFiles is the file store of a restored site.
type restoredFiles struct{ texts map[string]string }

func (f restoredFiles) Put(_ context.Context, id string, body io.Reader) (int64, string, error) {
	text, err := io.ReadAll(body)
	f.texts[id] = string(text)
	return int64(len(text)), hexSum(string(text)), err
}

func (f restoredFiles) Delete(_ context.Context, id string) error { delete(f.texts, id); return nil }
func (restoredFiles) Sync() error                                 { return nil }
func (restoredFiles) Mark(context.Context, string) error          { return nil }

// restoreSite restores a whole site and returns its data folder.
func restoreSite(t *testing.T, destination backup.DestinationConfig, at time.Time, passphrase string) (dir string, done backup.Restored, err error) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "restored")
	r := backup.Restore{
		From: backup.OpenDestination(destination), At: at, Passphrase: passphrase, Dir: dir, Report: func(string) {},
		Fingerprint: func(secret string) string { return "of " + secret },
		OpenFiles:   func(string) (backup.FileStore, error) { return restoredFiles{map[string]string{}}, nil },
	}
	done, err = r.Run(t.Context())
	return dir, done, err
}

// keysIn opens the database of a data folder, and returns the result of keys for it.
func keysIn(t *testing.T, dir string) string {
	t.Helper()
	d, err := db.Open(t.Context(), "sqlite:"+filepath.Join(dir, "atelie.db"), db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	return keys(t, d)
}

// Proves H-restore-damage.
func TestADamagedSecretIsListedAndTheRestIsRestored(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		s := newSite(t, t.TempDir(), destination)
		s.write(t, "a")
		s.start(t)
		s.wait(t)
		s.stop(t)
		dest := backup.OpenDestination(destination)
		if _, done, err := restoreSite(t, destination, time.Time{}, ""); err != nil || len(done.Missing) > 0 {
			t.Fatalf("got %+v, error %v", done, err)
		}
		// One changed letter of the secret, so that it is still a valid secret.
		text := read(t, dest, "secret")
		if err := dest.Write(t.Context(), "secret", strings.NewReader(strings.Replace(text, "ssss", "srss", 1))); err != nil {
			t.Fatal(err)
		}
		dir, done, err := restoreSite(t, destination, time.Time{}, "")
		if err != nil || len(done.Missing) != 1 || !strings.HasPrefix(done.Missing[0], "secret is damaged: ") || !strings.Contains(done.Missing[0], "atelie secret reset") {
			t.Errorf("got %+v, error %v", done, err)
		}
		if got := keysIn(t, dir); got != "a" {
			t.Errorf("got %q", got)
		}
		if _, err := os.Stat(filepath.Join(dir, "jwt-secret")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a damaged secret is used: %v", err)
		}
		// Backups of earlier programs have no checksum.
		if err := dest.Write(t.Context(), "secret", strings.NewReader(`{"jwt_secret":"`+s.content.Current+`"}`)); err != nil {
			t.Fatal(err)
		}
		if got, err := backup.ReadSecrets(t.Context(), dest, ""); err != nil || got != s.content {
			t.Errorf("%+v, %v", got, err)
		}
		if err := backup.WriteSecrets(t.Context(), dest, s.content, "correct horse battery"); err != nil {
			t.Fatal(err)
		}
		damage(t, dest, "secret.age")
		if _, done, err := restoreSite(t, destination, time.Time{}, "correct horse battery"); err != nil || len(done.Missing) != 1 || !strings.HasPrefix(done.Missing[0], "secret.age is damaged: ") {
			t.Errorf("sealed: %+v, %v", done, err)
		}
	})
}

// Proves H-restore-damage.
func TestADamagedPartIsNamedAndAnEarlierRestorePointIsRestored(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		s := newSite(t, t.TempDir(), destination)
		s.start(t)
		s.write(t, "a")
		s.wait(t)
		at := time.Now()
		s.write(t, "b")
		s.wait(t)
		s.stop(t)
		dest := backup.OpenDestination(destination)
		newest := names(t, dest, "database/ltx/0/")
		ltxFile := newest[len(newest)-1]
		damage(t, dest, ltxFile)
		dir, _, err := restoreSite(t, destination, time.Time{}, "")
		var broken *backup.Damage
		if !errors.As(err, &broken) || broken.Name != ltxFile {
			t.Errorf("got %v, want %s", err, ltxFile)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the failed restore left its folder (%v)", err)
		}
		dir, done, err := restoreSite(t, destination, at, "")
		if err != nil || len(done.Missing) > 0 {
			t.Fatalf("an earlier restore point: %+v, %v", done, err)
		}
		if got := keysIn(t, dir); got != "a" {
			t.Errorf("got %q", got)
		}
	})
}

// Proves H-backup-secret.
func TestALostSecretIsStoredAgain(t *testing.T) {
	eachDestination(t, func(t *testing.T, destination backup.DestinationConfig) {
		s := newSite(t, t.TempDir(), destination)
		s.start(t)
		s.write(t, "a")
		s.wait(t)
		dest := backup.OpenDestination(destination)
		stored := read(t, dest, "secret")
		for what, c := range map[string]struct {
			spoil func() error
			text  string
		}{
			"missing": {func() error { return dest.Delete(t.Context(), "secret") }, "the secret was not in the backup"},
			"damaged": {func() error {
				return dest.Write(t.Context(), "secret", strings.NewReader(strings.Replace(stored, "ssss", "srss", 1)))
			}, "secret is damaged"},
			"another one": {func() error {
				return backup.WriteSecrets(t.Context(), dest, backup.Secrets{Current: strings.Repeat("x", 40)}, "")
			}, "the secret in the backup is not the one of the site"},
		} {
			if err := c.spoil(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.testRestore(t); err == nil || err.Error() != c.text {
				t.Errorf("%s: %v", what, err)
			}
			if got := read(t, dest, "secret"); got != stored {
				t.Errorf("%s: not stored again", what)
			}
			if _, err := s.testRestore(t); err != nil {
				t.Errorf("%s, the next restore test: %v", what, err)
			}
		}
		s.stop(t)
		if err := dest.Delete(t.Context(), "secret"); err != nil {
			t.Fatal(err)
		}
		s.open(t)
		s.start(t)
		s.write(t, "b")
		s.wait(t)
		if got := read(t, dest, "secret"); got != stored {
			t.Error("the next start does not store it")
		}
	})
}

// A node that does not know the newest secret yet must not replace it by its own.
//
// Proves H-backup-secret.
func TestAProofDoesNotReplaceANewerSecret(t *testing.T) {
	destination := backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "backups")}
	s := newSite(t, t.TempDir(), destination)
	s.start(t)
	s.write(t, "a")
	s.wait(t)
	newer := backup.Secrets{Current: strings.Repeat("n", 40), Previous: s.content.Current}
	dest := backup.OpenDestination(destination)
	if err := backup.WriteSecrets(t.Context(), dest, newer, ""); err != nil {
		t.Fatal(err)
	}
	if err := backup.RecordSuccess(t.Context(), s.d, backup.KindSecret, s.now(), `{"destination":"`+dest.Label()+`","sum":"of the newer one"}`); err != nil {
		t.Fatal(err)
	}
	if _, err := s.testRestore(t); err == nil || !strings.Contains(err.Error(), "not the one of the site") {
		t.Errorf("got %v", err)
	}
	if got, err := backup.ReadSecrets(t.Context(), dest, ""); err != nil || got != newer {
		t.Errorf("got %+v, %v", got, err)
	}
}
