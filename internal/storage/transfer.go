package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"atelie/internal/db"
	"atelie/internal/storage/blob"
)

// This file copies all files of a site from one store to another, and verifies the copies, for the atelie copy command. The files are
// objects, originals (files as they were uploaded) and renditions (resized pictures).

const (
	// transferBatch is the number of files after which SaveProgress is called.
	transferBatch = 32
	// maxParallelFiles is the number of files that are copied at the same time. Each needs memory for up to three pieces
	// (blob.PieceSize) if the target is S3.
	maxParallelFiles = 4
)

// Transfer copies all files from one store to another (Copy), or verifies the copies (Check). It processes the files in the order of their
// blob ids, so that an interrupted run can be continued.
type Transfer struct {
	Rows db.Querier // a snapshot of the source's database, with the rows of the files
	From blob.Store // nil for Check
	To   blob.Store
	// SaveProgress is called after each batch of files. lastID is the blob id of the batch's last file. files and bytes are the number and
	// the total size of the batch's files.
	SaveProgress func(ctx context.Context, lastID string, files, bytes int64) error
	// After is the last lastID of an earlier run. This run begins with the next file, or with the first file if After is "".
	After string
	// SkipPresent makes Copy look for each file in the target, and skip a file that is there. It must be true if an earlier run was
	// interrupted, because that run may have copied files after its last call of SaveProgress.
	SkipPresent bool
	// Removed reports whether the source has removed a file since the snapshot, so that no row of the source's database refers to the blob
	// any more. Only Copy calls it.
	Removed func(ctx context.Context, blobID string) (bool, error)
}

// ErrRemoved is returned by Copy if the source has removed files since the snapshot. Copy has copied all other files by then.
var ErrRemoved = errors.New("files were removed from the source during the copy")

// storedFile is a file as its row describes it.
type storedFile struct {
	BlobID string
	Object string // names the file in errors
	SHA256 string // in hexadecimal digits
	Size   int64  // in bytes
}

// Copy copies the files that follow After, and compares the size and SHA-256 of each copied file with its row. A file that is already
// in the target stays unchanged, because an earlier run has copied it completely. SkipPresent only saves the read from the source. The
// error is ErrRemoved if the source has removed files since the snapshot.
func (t *Transfer) Copy(ctx context.Context) error {
	var removed atomic.Bool
	err := t.each(ctx, func(ctx context.Context, f storedFile) error {
		if t.SkipPresent {
			if found, err := blobExists(ctx, t.To, f.BlobID); err != nil || found {
				return err
			}
		}
		err := t.copyFile(ctx, f)
		if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		gone, err := t.Removed(ctx, f.BlobID)
		if err == nil && !gone {
			err = fmt.Errorf("the source has no file for %s: remove the object, or bring the file %s back", f.Object, f.BlobID)
		}
		if gone {
			removed.Store(true)
		}
		return err
	})
	if err == nil && removed.Load() {
		err = ErrRemoved
	}
	return err
}

func blobExists(ctx context.Context, s blob.Store, id string) (bool, error) {
	f, err := s.Open(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, f.Close()
}

// copyFile copies one file. The error is fs.ErrNotExist if the source has none.
func (t *Transfer) copyFile(ctx context.Context, f storedFile) (err error) {
	body, err := t.From.Open(ctx, f.BlobID)
	if err != nil {
		return fmt.Errorf("read %s: %w", f.Object, err)
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	info, err := blob.Put(ctx, t.To, f.BlobID, body)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", f.Object, err)
	}
	if info.Size != f.Size || info.SHA256 != f.SHA256 {
		return errors.Join(fmt.Errorf("the source's file for %s is damaged: its content is not the one that was stored", f.Object), t.To.Delete(context.WithoutCancel(ctx), f.BlobID))
	}
	return nil
}

// Prune deletes the files that an earlier run has copied for the rows old, and to which Rows refers no more.
func (t *Transfer) Prune(ctx context.Context, old db.Querier) error {
	used := map[string]bool{}
	if err := eachBatch(ctx, t.Rows, "", func(batch []storedFile) error {
		for _, f := range batch {
			used[f.BlobID] = true
		}
		return nil
	}); err != nil {
		return err
	}
	return eachBatch(ctx, old, "", func(batch []storedFile) error {
		for _, f := range batch {
			if !used[f.BlobID] {
				if err := t.To.Delete(ctx, f.BlobID); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// eachBatch calls fn with the files that follow after and to which the rows of q refer, transferBatch at a time.
func eachBatch(ctx context.Context, q db.Querier, after string, fn func([]storedFile) error) error {
	for {
		batch, err := listStored(ctx, q, after, transferBatch)
		if err != nil || len(batch) == 0 {
			return err
		}
		if err := fn(batch); err != nil {
			return err
		}
		after = batch[len(batch)-1].BlobID
	}
}

// Check reads each file that follows After from the target, and compares its size and SHA-256 with its row.
func (t *Transfer) Check(ctx context.Context) error {
	return t.each(ctx, func(ctx context.Context, f storedFile) (err error) {
		body, err := t.To.Open(ctx, f.BlobID)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the copied file of %s is missing", f.Object)
		}
		if err != nil {
			return fmt.Errorf("check %s: %w", f.Object, err)
		}
		defer func() { err = errors.Join(err, body.Close()) }()
		hash := sha256.New()
		size, err := io.Copy(hash, body)
		if err != nil {
			return fmt.Errorf("check %s: %w", f.Object, err)
		}
		if size != f.Size || hex.EncodeToString(hash.Sum(nil)) != f.SHA256 {
			return fmt.Errorf("the copied file of %s differs from the source's", f.Object)
		}
		return nil
	})
}

// each calls fn for the files that follow After, maxParallelFiles at a time, and SaveProgress after each batch.
func (t *Transfer) each(ctx context.Context, fn func(context.Context, storedFile) error) error {
	return eachBatch(ctx, t.Rows, t.After, func(batch []storedFile) error {
		var bytes int64
		group, working := errgroup.WithContext(ctx)
		group.SetLimit(maxParallelFiles)
		for _, f := range batch {
			bytes += f.Size
			group.Go(func() error { return fn(working, f) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		return t.SaveProgress(ctx, batch[len(batch)-1].BlobID, int64(len(batch)), bytes)
	})
}
