package blob

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"atelie/internal/datafolder"
)

// This file implements the methods of Disk for blobs that arrive in pieces: Append, Finish, Discard and Sweep. Such a blob is a file in
// piecesFolder until it is committed (moved to its final path).

// Append implements Store. It appends data, the next piece, to the blob's file. state.Size is the total size of the earlier pieces. When
// Append returns a nil error, the piece is on the disk. isLast is not needed: a Disk stores the last piece like any other.
func (d *Disk) Append(ctx context.Context, id string, state Partial, data []byte, _ /* isLast */ bool) (Partial, error) {
	if err := validID(id); err != nil {
		return state, err
	}
	piecesPath := filepath.Join(d.root, piecesFolder, id)
	if len(data) > PieceSize {
		return state, errPieceTooLarge
	}
	if err := errors.Join(ctx.Err(), d.checkSpace()); err != nil {
		return state, err
	}
	flags := os.O_RDWR
	if state.Size == 0 { // the first piece
		flags |= os.O_CREATE
	}
	// OpenShared lets other requests rename or remove the file while it is open, also on Windows.
	f, err := datafolder.OpenShared(piecesPath, flags, 0o600)
	if err != nil {
		return state, err
	}
	if err := errors.Join(appendAt(f, state.Size, data), f.Close()); err != nil {
		return state, err
	}
	if state.Size == 0 {
		if err := datafolder.SyncFolder(filepath.Dir(piecesPath)); err != nil {
			return state, err
		}
	}
	state.Size += int64(len(data))
	return state, nil
}

// appendAt writes data at offset, the size that the caller has saved. If an earlier call wrote bytes and the caller did not save the new
// size, the file is longer than offset. appendAt first removes the bytes beyond offset.
func appendAt(f *os.File, offset int64, data []byte) error {
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if info.Size() < offset {
		return fmt.Errorf("%s has %d bytes, %d were stored", filepath.Base(f.Name()), info.Size(), offset)
	}
	if err := f.Truncate(offset); err != nil {
		return err
	}
	if _, err := f.WriteAt(data, offset); err != nil {
		return err
	}
	return f.Sync()
}

// Finish implements Store.
func (d *Disk) Finish(_ context.Context, id string, state Partial) (*Staged, error) {
	finalPath, err := d.path(id)
	if err != nil {
		return nil, err
	}
	piecesPath := filepath.Join(d.root, piecesFolder, id)
	from := piecesPath
	if _, err := os.Lstat(finalPath); err == nil { // an earlier Finish was committed
		from = finalPath
	}
	f, err := datafolder.OpenShared(from, os.O_RDONLY, 0)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil {
		err = checkSize(info.Size(), state)
	}
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	commit := func(context.Context) error {
		if err := f.Close(); err != nil {
			return err
		}
		if from == finalPath {
			return datafolder.SyncFolder(filepath.Dir(finalPath))
		}
		_, err := d.moveIn(piecesPath, finalPath)
		return err
	}
	return &Staged{Info: Info{Size: state.Size}, ReadSeeker: f, commit: commit, discard: func(context.Context) error {
		_ = f.Close() // f was only read
		return nil
	}}, nil
}

// checkSize returns an error unless the number of stored bytes is that of the state.
func checkSize(stored int64, state Partial) error {
	if stored != state.Size {
		return fmt.Errorf("%d bytes are stored, %d were appended", stored, state.Size)
	}
	return nil
}

// Discard implements Store.
func (d *Disk) Discard(ctx context.Context, id string, _ Partial) error {
	if err := validID(id); err != nil {
		return err
	}
	if err := datafolder.RemoveFile(filepath.Join(d.root, piecesFolder, id)); err != nil {
		return err
	}
	return d.Delete(ctx, id)
}

// Sweep implements Store.
func (d *Disk) Sweep(_ context.Context, before time.Time, keep func(id string) bool) error {
	if err := d.sweepTemporary(); err != nil {
		return err
	}
	entries, err := os.ReadDir(filepath.Join(d.root, piecesFolder))
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
		if err := datafolder.RemoveFile(filepath.Join(d.root, piecesFolder, e.Name())); err != nil {
			return err
		}
	}
	return nil
}
