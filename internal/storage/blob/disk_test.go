package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/google/uuid"

	"atelie/internal/storage/blob"
)

func open(t *testing.T) (*blob.Disk, string) {
	t.Helper()
	root := filepath.Join(t.TempDir(), "deep", "files")
	d, err := blob.NewDisk(root, blob.Unbounded)
	if err != nil {
		t.Fatal(err)
	}
	return d, root
}

// files lists the files in the folder by path.
func files(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(p string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			rel, relErr := filepath.Rel(root, p)
			found = append(found, rel)
			return relErr
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestPutOpenDelete(t *testing.T) {
	d, root := open(t)
	content := bytes.Repeat([]byte("paint"), 100_000)
	id := uuid.NewString()
	var checked []byte
	info, err := putChecked(t.Context(), d, id, bytes.NewReader(content), func(f io.ReadSeeker) (err error) {
		checked, err = io.ReadAll(f)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(content)
	if info.Size != int64(len(content)) || info.SHA256 != hex.EncodeToString(sum[:]) || !bytes.Equal(checked, content) {
		t.Errorf("got %+v, check saw %d bytes", info, len(checked))
	}
	if got, want := files(t, root), []string{filepath.Join(id[:2], id[2:4], id)}; len(got) != 1 || got[0] != want[0] {
		t.Errorf("files %v, want %v", got, want)
	}
	f, err := d.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Seek(5, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if err := d.Delete(t.Context(), id); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(f); err != nil || !bytes.Equal(rest, content[5:]) {
		t.Errorf("an open blob must stay readable after its deletion: %d bytes, %v", len(rest), err)
	}
	if err := d.Delete(t.Context(), id); err != nil {
		t.Errorf("deleting twice: %v", err)
	}
	if _, err := d.Open(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("open after delete: %v", err)
	}
}

func TestFailedPutLeavesNothing(t *testing.T) {
	boom := errors.New("boom")
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name  string
		ctx   context.Context
		body  io.Reader
		check func(io.ReadSeeker) error
		want  error
	}{
		{"body breaks", t.Context(), io.MultiReader(strings.NewReader("half"), iotest.ErrReader(boom)), nil, boom},
		{"check refuses", t.Context(), strings.NewReader("whole"), func(io.ReadSeeker) error { return boom }, boom},
		{"context over", cancelled, strings.NewReader("whole"), nil, context.Canceled},
	} {
		t.Run(c.name, func(t *testing.T) {
			d, root := open(t)
			id := uuid.NewString()
			if _, err := putChecked(c.ctx, d, id, c.body, c.check); !errors.Is(err, c.want) {
				t.Errorf("got %v", err)
			}
			if left := files(t, root); len(left) != 0 {
				t.Errorf("left %v", left)
			}
			if _, err := d.Open(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("open: %v", err)
			}
		})
	}
}

func TestAnIDIsUsedOnce(t *testing.T) {
	d, root := open(t)
	id := uuid.NewString()
	if _, err := blob.Put(t.Context(), d, id, strings.NewReader("first")); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.Put(t.Context(), d, id, strings.NewReader("second")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("got %v", err)
	}
	content, err := os.ReadFile(filepath.Join(root, id[:2], id[2:4], id))
	if err != nil || string(content) != "first" || len(files(t, root)) != 1 {
		t.Errorf("got %q, %v, files %v", content, err, files(t, root))
	}
}

func TestOnlyUUIDsAreIDs(t *testing.T) {
	d, root := open(t)
	outside := filepath.Join(filepath.Dir(root), "secret")
	if err := os.WriteFile(outside, []byte("secret"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"", "../secret", "../../secret", "tmp", "/etc/passwd", strings.ToUpper(uuid.NewString()), "urn:uuid:" + uuid.NewString(),
		"{" + uuid.NewString() + "}", strings.ReplaceAll(uuid.NewString(), "-", ""), uuid.NewString()[:35] + "/"} {
		if _, err := d.Open(t.Context(), id); err == nil || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("open %q: %v", id, err)
		}
		if err := d.Delete(t.Context(), id); err == nil {
			t.Errorf("delete %q passed", id)
		}
		if _, err := blob.Put(t.Context(), d, id, strings.NewReader("x")); err == nil {
			t.Errorf("put %q passed", id)
		}
	}
	if _, err := os.Stat(outside); err != nil {
		t.Error(err)
	}
}

func TestStartSweepsOnlyFilesOfDeadProcesses(t *testing.T) {
	d, root := open(t)
	dead := filepath.Join(root, "tmp", uuid.NewString())
	if err := os.WriteFile(dead, []byte("half a pict"), 0o600); err != nil {
		t.Fatal(err)
	}
	id := uuid.NewString()
	content := strings.Repeat("x", 100_000)
	body, feed := io.Pipe()
	done := make(chan error, 1)
	go func() {
		_, err := blob.Put(t.Context(), d, id, body)
		done <- err
	}()
	if _, err := feed.Write([]byte(content[:50_000])); err != nil {
		t.Fatal(err)
	}
	second, err := blob.NewDisk(root, blob.Unbounded) // as in another process
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(dead); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("left-over: %v", err)
	}
	if _, err := feed.Write([]byte(content[50_000:])); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(feed.Close(), <-done); err != nil {
		t.Fatal(err)
	}
	f, err := second.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if got, err := io.ReadAll(f); err != nil || string(got) != content {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

func TestConcurrentPutsAndSweeps(t *testing.T) {
	d, root := open(t)
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 10 {
				if _, err := blob.Put(t.Context(), d, uuid.NewString(), strings.NewReader("x")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Go(func() {
		for range 50 {
			if _, err := blob.NewDisk(root, blob.Unbounded); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	if n := len(files(t, root)); n != 80 {
		t.Errorf("%d files", n)
	}
}

func TestAFolderThatCannotBeUsedIsAnError(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.NewDisk(file, blob.Unbounded); err == nil {
		t.Error("a file was taken for a folder")
	}
}
