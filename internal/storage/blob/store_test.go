package blob_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"

	"atelie/internal/s3client"
	"atelie/internal/storage/blob"
	"atelie/internal/storage/blob/blobtest"
)

func TestMain(m *testing.M) { blobtest.Main(m) }

func openS3(t *testing.T, cfg s3client.Config) *blob.S3 {
	t.Helper()
	s, err := blob.NewS3(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// each runs a test on both stores. The function left returns the names of the files in the store.
func each(t *testing.T, fn func(t *testing.T, s blob.Store, left func() []string)) {
	t.Run("disk", func(t *testing.T) {
		d, root := open(t)
		fn(t, d, func() []string { return files(t, root) })
	})
	t.Run("s3", func(t *testing.T) {
		cfg := blobtest.Bucket(t)
		fn(t, openS3(t, cfg), func() []string { return files(t, blobtest.Folder(cfg.Bucket)) })
	})
}

// noise returns n bytes that are random but the same in each run.
func noise(n int) []byte {
	b := make([]byte, n)
	r := rand.NewChaCha8([32]byte{byte(n)})
	if _, err := r.Read(b); err != nil {
		panic(err)
	}
	return b
}

type check = func(io.ReadSeeker) error

// putChecked stages a body, and commits it if check accepts it or is nil.
func putChecked(ctx context.Context, s blob.Store, id string, body io.Reader, check check) (blob.Info, error) {
	staged, err := s.Stage(ctx, id, body)
	if err != nil {
		return blob.Info{}, err
	}
	return staged.Info, settle(ctx, staged, check)
}

// finish does the same as putChecked for an upload in pieces.
func finish(ctx context.Context, s blob.Store, id string, at blob.Partial, check check) error {
	staged, err := s.Finish(ctx, id, at)
	if err != nil {
		return err
	}
	return settle(ctx, staged, check)
}

func settle(ctx context.Context, staged *blob.Staged, check check) (err error) {
	defer func() { err = errors.Join(err, staged.Discard(context.WithoutCancel(ctx))) }()
	if check != nil {
		if err := check(staged); err != nil {
			return err
		}
	}
	return staged.Commit(ctx)
}

func sum(b []byte) string {
	s := sha256.Sum256(b)
	return hex.EncodeToString(s[:])
}

func readAll(t *testing.T, s blob.Store, id string) []byte {
	t.Helper()
	f, err := s.Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	content, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func TestStoresKeepBlobsOfAnySize(t *testing.T) {
	each(t, func(t *testing.T, s blob.Store, left func() []string) {
		for _, size := range []int{1, 100_000, 256 << 10, blob.PieceSize - 1, blob.PieceSize, blob.PieceSize + 1, 3*blob.PieceSize + 5} {
			content, id := noise(size), uuid.NewString()
			var checked string
			info, err := putChecked(t.Context(), s, id, iotest.HalfReader(bytes.NewReader(content)), func(f io.ReadSeeker) error {
				if _, err := f.Seek(int64(size/2), io.SeekStart); err != nil {
					return err
				}
				rest, err := io.ReadAll(f)
				checked = sum(rest)
				return err
			})
			if err != nil {
				t.Fatalf("%d bytes: %v", size, err)
			}
			if info.Size != int64(size) || info.SHA256 != sum(content) || checked != sum(content[size/2:]) {
				t.Errorf("%d bytes: got %+v", size, info)
			}
			if !bytes.Equal(readAll(t, s, id), content) {
				t.Errorf("%d bytes came back otherwise", size)
			}
			if err := errors.Join(s.Delete(t.Context(), id), s.Delete(t.Context(), id)); err != nil {
				t.Errorf("deleting twice: %v", err)
			}
			if _, err := s.Open(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("open after delete: %v", err)
			}
		}
		if left := left(); len(left) != 0 {
			t.Errorf("left %v", left)
		}
	})
}

func TestReadAfterSeek(t *testing.T) {
	each(t, func(t *testing.T, s blob.Store, _ func() []string) {
		content, id := noise(300_000), uuid.NewString()
		if _, err := blob.Put(t.Context(), s, id, bytes.NewReader(content)); err != nil {
			t.Fatal(err)
		}
		f, err := s.Open(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if err := iotest.TestReader(f, content); err != nil {
			t.Error(err)
		}
		if _, err := f.Seek(-1, io.SeekStart); err == nil {
			t.Error("a seek before the start passed")
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	})
}

func TestFailedPutLeavesNothingInAnyStore(t *testing.T) {
	boom := errors.New("boom")
	each(t, func(t *testing.T, s blob.Store, left func() []string) {
		for _, size := range []int{10, 2*blob.PieceSize + 10} {
			body := func() io.Reader { return bytes.NewReader(noise(size)) }
			cancelled, cancel := context.WithCancel(t.Context())
			for name, c := range map[string]struct {
				ctx   context.Context
				body  io.Reader
				check func(io.ReadSeeker) error
				want  error
			}{
				"body breaks":   {t.Context(), io.MultiReader(body(), iotest.ErrReader(boom)), nil, boom},
				"check refuses": {t.Context(), body(), func(io.ReadSeeker) error { return boom }, boom},
				"context over":  {cancelled, io.MultiReader(body(), readerFunc(func([]byte) (int, error) { cancel(); return 0, nil })), nil, context.Canceled},
			} {
				id := uuid.NewString()
				if _, err := putChecked(c.ctx, s, id, c.body, c.check); !errors.Is(err, c.want) {
					t.Errorf("%s: got %v", name, err)
				}
				if _, err := s.Open(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("%s: open: %v", name, err)
				}
			}
		}
		if left := left(); len(left) != 0 {
			t.Errorf("left %v", left)
		}
	})
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestStoresUseAnIDOnce(t *testing.T) {
	each(t, func(t *testing.T, s blob.Store, left func() []string) {
		for _, size := range []int{10, blob.PieceSize + 10} {
			first, id := noise(size), uuid.NewString()
			if _, err := blob.Put(t.Context(), s, id, bytes.NewReader(first)); err != nil {
				t.Fatal(err)
			}
			if _, err := blob.Put(t.Context(), s, id, bytes.NewReader(noise(size+1))); !errors.Is(err, fs.ErrExist) {
				t.Errorf("got %v", err)
			}
			if !bytes.Equal(readAll(t, s, id), first) {
				t.Error("the first blob was overwritten")
			}
		}
		if left := left(); len(left) != 2 {
			t.Errorf("left %v", left)
		}
	})
}

func TestBlobInPieces(t *testing.T) {
	each(t, func(t *testing.T, s blob.Store, left func() []string) {
		for _, sizes := range [][]int{{10}, {10, 20, 30}, {6 << 20, 6 << 20, 100}, {1 << 20, 4 << 20, 1, blob.PieceSize, 2 << 20, 2 << 20, 2 << 20, 7}} {
			var (
				id      = uuid.NewString()
				content []byte
				at      blob.Partial
			)
			for i, size := range sizes {
				data := noise(size)
				last := i == len(sizes)-1
				// A writer died: its state was not saved, so its bytes must not be visible.
				if _, err := s.Append(t.Context(), id, at, noise(size/2+1), false); err != nil {
					t.Fatal(err)
				}
				var err error
				if at, err = s.Append(t.Context(), id, at, data, last); err != nil {
					t.Fatal(err)
				}
				if content = append(content, data...); at.Size != int64(len(content)) {
					t.Fatalf("%d bytes are said to be stored, %d are", at.Size, len(content))
				}
			}
			if _, err := s.Open(t.Context(), id); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("seen before it was finished: %v", err)
			}
			for range 2 { // the second call changes nothing
				var seen []byte
				err := finish(t.Context(), s, id, at, func(f io.ReadSeeker) (err error) {
					seen, err = io.ReadAll(f)
					return err
				})
				if err != nil || !bytes.Equal(seen, content) {
					t.Fatalf("%v: check saw %d bytes, %v", sizes, len(seen), err)
				}
			}
			if !bytes.Equal(readAll(t, s, id), content) {
				t.Errorf("%v came back otherwise", sizes)
			}
			if err := s.Delete(t.Context(), id); err != nil {
				t.Error(err)
			}
		}
		if err := s.Sweep(t.Context(), time.Now().Add(time.Hour), func(string) bool { return false }); err != nil {
			t.Error(err)
		}
		if left := left(); len(left) != 0 {
			t.Errorf("left %v", left)
		}
	})
}

func TestPiecesAreDiscardedAndSwept(t *testing.T) {
	each(t, func(t *testing.T, s blob.Store, left func() []string) {
		ids := []string{uuid.NewString(), uuid.NewString(), uuid.NewString()}
		var at [3]blob.Partial
		for i, id := range ids {
			for _, size := range []int{6 << 20, 10} {
				var err error
				if at[i], err = s.Append(t.Context(), id, at[i], noise(size), false); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := s.Discard(t.Context(), ids[0], at[0]); err != nil {
			t.Error(err)
		}
		young := func(string) bool { return false }
		if err := s.Sweep(t.Context(), time.Now().Add(-time.Hour), young); err != nil {
			t.Error(err)
		}
		if err := s.Sweep(t.Context(), time.Now().Add(time.Hour), func(id string) bool { return id == ids[1] }); err != nil {
			t.Error(err)
		}
		for _, path := range left() {
			if !strings.Contains(path, ids[1]) && !strings.Contains(path, ".sgwtmp") {
				t.Errorf("left %s", path)
			}
		}
		next, err := s.Append(t.Context(), ids[1], at[1], noise(5), true)
		if err != nil {
			t.Fatal(err)
		}
		if err := finish(t.Context(), s, ids[1], next, nil); err != nil {
			t.Error(err)
		}
		if got := readAll(t, s, ids[1]); len(got) != 6<<20+15 {
			t.Errorf("%d bytes", len(got))
		}
		if left := left(); len(left) != 1 {
			t.Errorf("left %v", left)
		}
	})
}

func TestEmpty(t *testing.T) {
	each(t, func(t *testing.T, s blob.Store, _ func() []string) {
		is := func(want bool) {
			t.Helper()
			if empty, err := s.Empty(t.Context()); err != nil || empty != want {
				t.Errorf("empty: %v, %v", empty, err)
			}
		}
		is(true)
		id := uuid.NewString()
		if _, err := blob.Put(t.Context(), s, id, strings.NewReader("x")); err != nil {
			t.Fatal(err)
		}
		is(false)
		if err := s.Delete(t.Context(), id); err != nil {
			t.Fatal(err)
		}
		is(true) // the folders that it has created do not count
	})
}

func TestReadyNeedsTheMarker(t *testing.T) {
	each(t, func(t *testing.T, s blob.Store, _ func() []string) {
		marker := uuid.NewString()
		if err := s.Ready(t.Context(), marker); !errors.Is(err, blob.ErrNoMarker) {
			t.Errorf("without a marker: %v", err)
		}
		if err := s.Mark(t.Context(), marker); err != nil {
			t.Fatal(err)
		}
		if err := s.Ready(t.Context(), marker); err != nil {
			t.Errorf("with its marker: %v", err)
		}
		if err := s.Ready(t.Context(), uuid.NewString()); !errors.Is(err, blob.ErrOtherMarker) {
			t.Errorf("with another site's marker: %v", err)
		}
	})
}

func TestOpenDiskCreatesNoFolder(t *testing.T) {
	d, root := open(t)
	if _, err := blob.Put(t.Context(), d, uuid.NewString(), strings.NewReader("x")); err != nil {
		t.Fatal(err)
	}
	if _, err := blob.OpenDisk(root); err != nil {
		t.Error(err)
	}
	missing := filepath.Join(t.TempDir(), "missing")
	if _, err := blob.OpenDisk(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(missing); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the folder was made: %v", err)
	}
}
