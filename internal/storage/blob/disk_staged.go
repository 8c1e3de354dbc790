package blob

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

func (d *Disk) stagedPath(id string) (string, error) {
	if err := validID(id); err != nil {
		return "", err
	}
	return filepath.Join(d.root, staged, id), nil
}

// Append is Store's: the piece is on disk when it returns nil.
func (d *Disk) Append(ctx context.Context, id string, at Staged, data []byte, _ bool) (Staged, error) {
	name, err := d.stagedPath(id)
	if err != nil {
		return at, err
	}
	if len(data) > PieceSize {
		return at, errTooMuch
	}
	if err := ctx.Err(); err != nil {
		return at, err
	}
	flags := os.O_RDWR
	if at.Size == 0 {
		flags |= os.O_CREATE
	}
	f, err := os.OpenFile(name, flags, 0o600)
	if err != nil {
		return at, err
	}
	if err := errors.Join(appendAt(f, at.Size, data), f.Close()); err != nil {
		return at, err
	}
	if at.Size == 0 {
		if err := syncFolder(filepath.Dir(name)); err != nil {
			return at, err
		}
	}
	at.Size += int64(len(data))
	return at, nil
}

// appendAt cuts off what an earlier writer left beyond the known end, and adds data there.
func appendAt(f *os.File, end int64, data []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < end {
		return fmt.Errorf("%s has %d bytes, %d were stored", filepath.Base(f.Name()), info.Size(), end)
	}
	if err := f.Truncate(end); err != nil {
		return err
	}
	if _, err := f.WriteAt(data, end); err != nil {
		return err
	}
	return f.Sync()
}

// Finish is Store's. check sees the file before it takes its place.
func (d *Disk) Finish(_ context.Context, id string, at Staged, check func(f io.ReadSeeker) error) error {
	name, err := d.stagedPath(id)
	if err != nil {
		return err
	}
	target, err := d.path(id)
	if err != nil {
		return err
	}
	from := name
	if _, err := os.Lstat(target); err == nil { // moved by an earlier call
		from = target
	}
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	if err := errors.Join(checkWhole(f, at.Size, check), f.Close()); err != nil {
		return err
	}
	if from == target {
		return syncFolder(filepath.Dir(target))
	}
	_, err = d.moveIn(name, target)
	return err
}

// checkWhole checks a file of a known size.
func checkWhole(f io.ReadSeeker, size int64, check func(f io.ReadSeeker) error) error {
	end, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return err
	}
	if end != size {
		return fmt.Errorf("%d bytes are stored, %d were appended", end, size)
	}
	if check == nil {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	return check(f)
}

// Discard is Store's.
func (d *Disk) Discard(ctx context.Context, id string, _ Staged) error {
	name, err := d.stagedPath(id)
	if err != nil {
		return err
	}
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return d.Delete(ctx, id)
}

// Sweep is Store's.
func (d *Disk) Sweep(_ context.Context, before time.Time, keep func(id string) bool) error {
	if err := d.sweepTemporary(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(d.root, staged))
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if keep(e.Name()) || !info.ModTime().Before(before) {
			continue
		}
		if err := os.Remove(filepath.Join(d.root, staged, e.Name())); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// Ready is Store's: the folder is there.
func (d *Disk) Ready(context.Context) error {
	_, err := os.Stat(filepath.Join(d.root, temporary))
	return err
}
