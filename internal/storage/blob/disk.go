// Package blob stores blobs. A blob is the bytes of one file, stored under an id. The blobs are in a folder (type Disk) or in an S3 bucket
// (type S3). The names, types and permissions of the files are in the database; this package does not know them.
package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/google/uuid"

	"atelie/internal/datafolder"
	"atelie/internal/gomaxprocs"
)

// Disk stores blobs in a folder: the blob with the id abcd… is the file ab/cd/abcd…. While a blob is being received, its bytes are in
// tmp/, or in staged/ if the blob arrives in pieces.
type Disk struct {
	root   string
	shards sync.Map // keys: paths of the folders ab/cd that exist and that this process has synced to disk

	delaySync bool     // Commit does not sync the folders of blobs; set by DelaySync
	unsynced  sync.Map // keys: paths of the folders that SyncFolders has to sync

	checkSpace func() error // returns an error if the disk is too full for uploads; see NewDisk
}

// Info describes a stored blob.
type Info struct {
	Size   int64  // in bytes
	SHA256 string // in lower-case hexadecimal digits
}

// Names of the folders for blobs that are not committed (moved to their final paths) yet.
const (
	temporaryFolder = "tmp"    // blobs that arrive in one stream
	piecesFolder    = "staged" // blobs that arrive in pieces; in an S3 bucket, a prefix of names
)

// NewDisk opens the folder, and creates it if it is missing. It removes the temporary files of killed processes. The temporary files of
// running processes stay, because several processes may use one folder.
//
// checkSpace makes uploads leave some space on the disk, so that people can still sign in and delete files. It is called before a blob is
// stored and before each read of the blob's body. An error of checkSpace ends the upload.
func NewDisk(root string, checkSpace func() error) (*Disk, error) {
	d := &Disk{root: root, checkSpace: checkSpace}
	for _, folder := range []string{temporaryFolder, piecesFolder} {
		if err := os.MkdirAll(filepath.Join(root, folder), 0o700); err != nil {
			return nil, fmt.Errorf("folder for files: %w", err)
		}
	}
	if err := d.sweepTemporary(); err != nil {
		return nil, fmt.Errorf("left-over temporary files: %w", err)
	}
	return d, nil
}

// OpenDisk opens a folder that NewDisk has created. It changes nothing in the folder.
func OpenDisk(root string) (*Disk, error) {
	d := &Disk{root: root, checkSpace: Unbounded}
	if err := d.checkFolder(); err != nil {
		return nil, fmt.Errorf("folder for files: %w", err)
	}
	return d, nil
}

// Unbounded is a checkSpace that never fails: blobs can fill the disk.
func Unbounded() error { return nil }

// Stage implements Store. It writes the blob to a temporary file.
func (d *Disk) Stage(ctx context.Context, id string, body io.Reader) (*Staged, error) {
	finalPath, err := d.path(id)
	if err != nil {
		return nil, err
	}
	if err := d.checkSpace(); err != nil {
		return nil, err
	}
	f, err := d.createTemporary()
	if err != nil {
		return nil, fmt.Errorf("temporary file: %w", err)
	}
	currentPath := f.Name() // finalPath after the commit
	s := &Staged{ReadSeeker: f}
	s.commit = func(context.Context) error {
		defer gomaxprocs.Raise()()
		if err := f.Sync(); err != nil {
			return err
		}
		moved, err := d.moveIn(currentPath, finalPath)
		if moved {
			currentPath = finalPath
		}
		if err != nil {
			return err
		}
		return f.Close()
	}
	s.discard = func(context.Context) error {
		_ = f.Close() // fails if commit has closed f
		return os.Remove(currentPath)
	}
	source := newBodyReader(ctx, body, d.checkSpace)
	_, err = io.Copy(f, source)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(err, s.Discard(ctx))
	}
	s.Info = source.info()
	return s, nil
}

// moveIn renames a complete file to its final path. moved reports whether the file was renamed; it can be true even with an error.
func (d *Disk) moveIn(from, finalPath string) (moved bool, err error) {
	if err := d.makeShard(filepath.Dir(finalPath)); err != nil {
		return false, err
	}
	if _, err := os.Lstat(finalPath); !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("blob %s exists: %w", filepath.Base(finalPath), errors.Join(err, fs.ErrExist))
	}
	if err := os.Rename(from, finalPath); err != nil {
		return false, err
	}
	return true, d.syncFolder(filepath.Dir(finalPath))
}

// DelaySync makes Commit leave the folders of blobs unsynced until SyncFolders is called: a power cut before that can remove blobs. It is
// for a restore, which stores thousands of blobs and says only at its end that it is complete.
func (d *Disk) DelaySync() { d.delaySync = true }

// SyncFolders syncs each folder that Commit has left unsynced, once.
func (d *Disk) SyncFolders() (err error) {
	d.unsynced.Range(func(dir, _ any) bool {
		if err = syncFolder(dir.(string)); err == nil {
			d.unsynced.Delete(dir)
		}
		return err == nil
	})
	return err
}

// syncFolder is datafolder.SyncFolder; a test counts the calls.
var syncFolder = datafolder.SyncFolder

func (d *Disk) syncFolder(dir string) error {
	if d.delaySync {
		d.unsynced.Store(dir, nil)
		return nil
	}
	return syncFolder(dir)
}

// Open implements Store. An open blob can be read to its end even if it is deleted.
func (d *Disk) Open(_ context.Context, id string) (io.ReadSeekCloser, error) {
	p, err := d.path(id)
	if err != nil {
		return nil, err
	}
	f, err := datafolder.OpenShared(p, os.O_RDONLY, 0)
	if err != nil {
		return nil, err // not f: a nil *os.File in an interface is not nil
	}
	return f, nil
}

// Delete implements Store.
func (d *Disk) Delete(_ context.Context, id string) error {
	p, err := d.path(id)
	if err != nil {
		return err
	}
	return datafolder.RemoveFile(p)
}

// Empty implements Store. Folders without files do not count.
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

// createTemporary creates a temporary file and locks it until it is closed: by the lock, sweepTemporary of other processes
// recognizes that the file is in use. If a sweep removes the file before it is locked, createTemporary creates another one.
func (d *Disk) createTemporary() (*os.File, error) {
	for {
		f, err := datafolder.OpenShared(filepath.Join(d.root, temporaryFolder, uuid.NewString()), os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return nil, err
		}
		locked, err := datafolder.TryLock(f)
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

// sweepTemporary removes the temporary files that no running process has locked.
func (d *Disk) sweepTemporary() error {
	entries, err := os.ReadDir(filepath.Join(d.root, temporaryFolder))
	if err != nil {
		return err
	}
	for _, e := range entries {
		if err := sweepFile(filepath.Join(d.root, temporaryFolder, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func sweepFile(name string) (err error) {
	f, err := datafolder.OpenShared(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	locked, err := datafolder.TryLock(f)
	if err != nil || !locked {
		return err
	}
	return os.Remove(name)
}

// makeShard creates the two folders of a blob and syncs their entries to disk. For folders that exist it syncs once too:
// another upload may have created them a moment ago and not synced them yet.
func (d *Disk) makeShard(dir string) error {
	if _, known := d.shards.Load(dir); known {
		return nil
	}
	for _, p := range []string{filepath.Dir(dir), dir} {
		if err := os.Mkdir(p, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
			return err
		}
		if err := d.syncFolder(filepath.Dir(p)); err != nil {
			return err
		}
	}
	d.shards.Store(dir, nil)
	return nil
}
