// Package blob keeps the bytes of files under ids. What a file is called, who may see it and what type it has stands
// in the database; here a name never becomes a path.
package blob

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"

	"github.com/google/uuid"
)

// Disk keeps blobs in a folder: ab/cd/<id> for an id that begins with abcd, tmp/ for what is still arriving, and staged/
// for what arrives in pieces.
type Disk struct {
	root   string
	shards sync.Map // folders whose names are known to be on disk
}

// Info describes a stored blob. SHA256 is in lower-case hexadecimal digits, Size in bytes.
type Info struct {
	Size   int64
	SHA256 string
}

const (
	temporary = "tmp"
	staged    = "staged"
)

// NewDisk opens the folder, makes it when it is missing, and removes what a killed process left half written.
// Several processes may use one folder: what another one is writing right now stays.
func NewDisk(root string) (*Disk, error) {
	d := &Disk{root: root}
	for _, folder := range []string{temporary, staged} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			return nil, fmt.Errorf("folder for files: %w", err)
		}
	}
	if err := d.sweepTemporary(); err != nil {
		return nil, fmt.Errorf("left-over temporary files: %w", err)
	}
	return d, nil
}

// OpenDisk opens a folder that NewDisk has made, and changes nothing in it.
func OpenDisk(root string) (*Disk, error) {
	d := &Disk{root: root}
	if err := d.Ready(context.Background()); err != nil {
		return nil, fmt.Errorf("folder for files: %w", err)
	}
	return d, nil
}

// Put is Store's. check sees the file before it takes its place.
func (d *Disk) Put(ctx context.Context, id string, body io.Reader, check func(f io.ReadSeeker) error) (info Info, err error) {
	target, err := d.path(id)
	if err != nil {
		return Info{}, err
	}
	f, err := d.createTemporary()
	if err != nil {
		return Info{}, fmt.Errorf("temporary file: %w", err)
	}
	at := f.Name()
	defer func() {
		failed := err != nil
		if e := f.Close(); e != nil && !failed {
			failed, err = true, e
		}
		if failed {
			if e := os.Remove(at); e != nil {
				err = errors.Join(err, e)
			}
		}
	}()

	hash := sha256.New()
	if info.Size, err = io.Copy(io.MultiWriter(f, hash), contextReader{ctx, body}); err != nil {
		return Info{}, err
	}
	info.SHA256 = hex.EncodeToString(hash.Sum(nil))
	if check != nil {
		if _, err = f.Seek(0, io.SeekStart); err != nil {
			return Info{}, err
		}
		if err = check(f); err != nil {
			return Info{}, err
		}
	}
	if err = f.Sync(); err != nil {
		return Info{}, err
	}
	moved, err := d.moveIn(at, target)
	if moved {
		at = target
	}
	if err != nil {
		return Info{}, err
	}
	return info, nil
}

// moveIn gives a complete file its place, and tells whether it is there; an error may come after that.
func (d *Disk) moveIn(from, target string) (moved bool, err error) {
	if err := d.makeShard(filepath.Dir(target)); err != nil {
		return false, err
	}
	if _, err := os.Lstat(target); !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("blob %s exists: %w", filepath.Base(target), errors.Join(err, fs.ErrExist))
	}
	if err := os.Rename(from, target); err != nil {
		return false, err
	}
	return true, syncFolder(filepath.Dir(target))
}

// Open is Store's. A blob that is deleted meanwhile can be read to its end.
func (d *Disk) Open(_ context.Context, id string) (io.ReadSeekCloser, error) {
	p, err := d.path(id)
	if err != nil {
		return nil, err
	}
	f, err := os.Open(p)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// Delete removes a blob. One that is not there counts as deleted.
func (d *Disk) Delete(_ context.Context, id string) error {
	p, err := d.path(id)
	if err != nil {
		return err
	}
	if err := os.Remove(p); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// Empty is Store's. Folders without files count as nothing.
func (d *Disk) Empty(ctx context.Context) (bool, error) {
	err := filepath.WalkDir(d.root, func(_ string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			err = fs.ErrExist
		}
		return errors.Join(err, ctx.Err())
	})
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	return err == nil, err
}

func (d *Disk) path(id string) (string, error) {
	if err := validID(id); err != nil {
		return "", err
	}
	return filepath.Join(d.root, id[:2], id[2:4], id), nil
}

// createTemporary makes a file that this process holds locked until it closes it. A sweeper may take the lock in the
// moment before us and remove the file; then another one is made.
func (d *Disk) createTemporary() (*os.File, error) {
	for {
		f, err := os.OpenFile(filepath.Join(d.root, temporary, uuid.NewString()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		locked, err := tryLock(f)
		if err != nil {
			return nil, errors.Join(err, f.Close(), os.Remove(f.Name()))
		}
		if locked {
			if _, err := os.Lstat(f.Name()); err == nil {
				return f, nil
			}
		}
		if err := f.Close(); err != nil {
			return nil, err
		}
	}
}

// sweepTemporary removes temporary files that no living process holds.
func (d *Disk) sweepTemporary() error {
	entries, err := os.ReadDir(filepath.Join(d.root, temporary))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := sweepFile(filepath.Join(d.root, temporary, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func sweepFile(name string) (err error) {
	f, err := os.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	locked, err := tryLock(f)
	if err != nil || !locked {
		return err
	}
	return os.Remove(name)
}

// makeShard makes the two folders of a blob and puts their names on disk too: once also when they exist already,
// because another upload may have made them a moment ago and not have got that far.
func (d *Disk) makeShard(dir string) error {
	if _, known := d.shards.Load(dir); known {
		return nil
	}
	for _, p := range []string{filepath.Dir(dir), dir} {
		if err := os.Mkdir(p, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := syncFolder(filepath.Dir(p)); err != nil {
			return err
		}
	}
	d.shards.Store(dir, nil)
	return nil
}

// syncFolder puts the names in a folder on disk, without which a renamed file may be gone after a power cut.
func syncFolder(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// tryLock takes a file's lock without waiting. The kernel gives it back when the process ends, however it ends.
func tryLock(f *os.File) (bool, error) {
	err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return false, nil
	}
	return err == nil, err
}

// contextReader ends a copy when the context is over.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
