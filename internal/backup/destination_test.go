package backup_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/backup"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/blob/blobtest"
)

func TestMain(m *testing.M) { blobtest.Main(m, dbtest.Stop) }

// eachDestination runs fn with a new folder and a new bucket.
func eachDestination(t *testing.T, fn func(t *testing.T, cfg backup.DestinationConfig)) {
	t.Run("folder", func(t *testing.T) {
		fn(t, backup.DestinationConfig{Folder: filepath.Join(t.TempDir(), "deep", "backups")})
	})
	t.Run("s3", func(t *testing.T) {
		bucket := blobtest.Bucket(t)
		bucket.Create, bucket.Prefix = true, "of/this site/"
		fn(t, backup.DestinationConfig{Bucket: &bucket})
	})
}

// read returns the content of an object.
func read(t *testing.T, destination backup.Destination, name string) string {
	t.Helper()
	r, err := destination.Open(t.Context(), name)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// names returns the sorted names of the objects with a prefix.
func names(t *testing.T, destination backup.Destination, prefix string) []string {
	t.Helper()
	var found []string
	if err := destination.List(t.Context(), prefix, func(o backup.Object) error { found = append(found, o.Name); return nil }); err != nil {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

func TestADestinationStoresReplacesListsAndDeletes(t *testing.T) {
	eachDestination(t, func(t *testing.T, cfg backup.DestinationConfig) {
		dest, ctx := backup.OpenDestination(cfg), t.Context()
		if _, err := dest.Open(ctx, "format.json"); err == nil {
			t.Error("an empty destination has an object")
		}
		large := strings.Repeat("0123456789abcdef", 1<<20) + "end" // more than one part of an upload to S3
		for name, text := range map[string]string{"a/b/one": "1", "a/two": "2", "three": large} {
			if err := dest.Write(ctx, name, strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
		}
		if err := dest.Write(ctx, "a/two", strings.NewReader("second")); err != nil {
			t.Fatal(err)
		}
		if got := read(t, dest, "a/two"); got != "second" {
			t.Errorf("got %q", got)
		}
		if read(t, dest, "three") != large {
			t.Error("a large object is not what was written")
		}
		if got := names(t, dest, ""); !slices.Equal(got, []string{"a/b/one", "a/two", "three"}) {
			t.Errorf("all: %q", got)
		}
		if got := names(t, dest, "a/b/"); !slices.Equal(got, []string{"a/b/one"}) {
			t.Errorf("within a folder: %q", got)
		}
		if got := names(t, dest, "none/"); len(got) != 0 {
			t.Errorf("within a missing folder: %q", got)
		}
		for range 2 {
			if err := dest.Delete(ctx, "a/two"); err != nil {
				t.Error(err)
			}
		}
		if _, err := dest.Open(ctx, "a/two"); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("after the deletion: %v", err)
		}
	})
}

func TestInterruptedWriteKeepsThePreviousObject(t *testing.T) {
	eachDestination(t, func(t *testing.T, cfg backup.DestinationConfig) {
		destination := backup.OpenDestination(cfg)
		if err := destination.Write(t.Context(), "x", strings.NewReader("old")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := destination.Write(ctx, "x", bytes.NewReader(make([]byte, 20<<20))); err == nil {
			t.Error("no error")
		}
		if got := read(t, destination, "x"); got != "old" || len(names(t, destination, "")) != 1 {
			t.Errorf("got %q, names %q", got, names(t, destination, ""))
		}
	})
}

func TestAFolderLinksFilesOfItsDiskAndIsPrivate(t *testing.T) {
	root := filepath.Join(t.TempDir(), "backups")
	destination := backup.OpenDestination(backup.DestinationConfig{Folder: root})
	source := filepath.Join(filepath.Dir(root), "blob")
	if err := os.WriteFile(source, []byte("bytes"), 0o600); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(source)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	for range 2 { // copied twice, as after a crash before the copy was recorded
		if err := destination.Add(t.Context(), "blobs/x", f); err != nil {
			t.Fatal(err)
		}
	}
	copied, err := os.Stat(filepath.Join(root, "blobs", "x"))
	if err != nil {
		t.Fatal(err)
	}
	original, err := os.Stat(source)
	if err != nil || !os.SameFile(copied, original) {
		t.Errorf("not a hard link (%v)", err)
	}
	err = filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		info, statErr := e.Info()
		if info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %s", path, info.Mode())
		}
		if strings.HasPrefix(path, filepath.Join(root, "tmp")+string(filepath.Separator)) {
			t.Errorf("left over: %s", path)
		}
		return errors.Join(err, statErr)
	})
	if err != nil {
		t.Error(err)
	}
	left := filepath.Join(root, "tmp", "left by a killed process")
	if err := errors.Join(os.WriteFile(left, nil, 0o600), destination.Sweep(time.Now().Add(-time.Hour))); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); err != nil {
		t.Errorf("a new temporary file: %v", err)
	}
	if err := destination.Sweep(time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an old temporary file: %v", err)
	}
	for _, name := range []string{"../x", "/x", "a/../../x"} {
		if err := destination.Write(t.Context(), name, strings.NewReader("x")); err == nil {
			t.Errorf("%q was written", name)
		}
	}
}

func TestADestinationOfAnotherSiteIsRefusedByName(t *testing.T) {
	eachDestination(t, func(t *testing.T, cfg backup.DestinationConfig) {
		destination, ctx := backup.OpenDestination(cfg), t.Context()
		for i := range 2 {
			if before, err := backup.Claim(ctx, destination, "site-one", "sqlite"); err != nil || (before == backup.Format{}) != (i == 0) {
				t.Fatal(before, err)
			}
		}
		_, err := backup.Claim(ctx, destination, "site-two", "sqlite")
		if !errors.Is(err, backup.ErrOtherSite) || !strings.Contains(err.Error(), "site-one") || !strings.Contains(err.Error(), "site-two") {
			t.Errorf("got %v", err)
		}
		if f, err := backup.ReadFormat(ctx, destination); err != nil || f != (backup.Format{Format: 1, Site: "site-one", Engine: "sqlite"}) {
			t.Errorf("got %+v, %v", f, err)
		}
		if err := destination.Write(ctx, "format.json", strings.NewReader(`{"format":2,"site":"site-one"}`)); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Claim(ctx, destination, "site-one", "sqlite"); err == nil || !strings.Contains(err.Error(), "newer program") {
			t.Errorf("a newer format: %v", err)
		}
	})
}

// Proves H-backup-secret.
func TestTheSecretIsSealedByThePassphraseAndOnlyByIt(t *testing.T) {
	eachDestination(t, func(t *testing.T, cfg backup.DestinationConfig) {
		dest, ctx := backup.OpenDestination(cfg), t.Context()
		if _, err := backup.ReadSecrets(ctx, dest, ""); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("a destination without a secret: %v", err)
		}
		secrets := backup.Secrets{Current: strings.Repeat("s", 40), Previous: strings.Repeat("p", 40)}
		if err := backup.WriteSecrets(ctx, dest, secrets, ""); err != nil {
			t.Fatal(err)
		}
		if got, err := backup.ReadSecrets(ctx, dest, ""); err != nil || got != secrets {
			t.Errorf("got %+v, %v", got, err)
		}
		if err := backup.WriteSecrets(ctx, dest, secrets, "correct horse battery"); err != nil {
			t.Fatal(err)
		}
		if got := names(t, dest, ""); !slices.Equal(got, []string{"secret.age"}) {
			t.Errorf("beside the sealed secret: %q", got)
		}
		if strings.Contains(read(t, dest, "secret.age"), secrets.Current) {
			t.Error("the sealed secret can be read")
		}
		if got, err := backup.ReadSecrets(ctx, dest, "correct horse battery"); err != nil || got != secrets {
			t.Errorf("got %+v, %v", got, err)
		}
		if _, err := backup.ReadSecrets(ctx, dest, ""); !errors.Is(err, backup.ErrNeedsPassphrase) {
			t.Errorf("without the passphrase: %v", err)
		}
		if _, err := backup.ReadSecrets(ctx, dest, "wrong horse battery"); !errors.Is(err, backup.ErrWrongPassphrase) {
			t.Errorf("with another one: %v", err)
		}
		damaged := []byte(read(t, dest, "secret.age"))
		damaged[len(damaged)-3] ^= 1
		if err := dest.Write(ctx, "secret.age", bytes.NewReader(damaged)); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.ReadSecrets(ctx, dest, "correct horse battery"); err == nil || !strings.Contains(err.Error(), "secret.age is damaged") {
			t.Errorf("damaged: %v", err)
		}
	})
}
