package storage

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"golang.org/x/sync/errgroup"

	"atelie/internal/db"
	"atelie/internal/storage/blob"
)

// Limits of a transfer: files that are noted together, and files that travel at once. A file on its way to S3 holds at
// most three pieces (blob.PieceSize).
const (
	transferBatch  = 32
	transferAtOnce = 4
)

// Transfer moves the files of all objects from one store to another.
type Transfer struct {
	Rows db.Querier // the objects
	From blob.Store // nil for Check
	To   blob.Store
	// Note is told after each batch where the transfer stands; After is what it was told last in an earlier run.
	Note  func(ctx context.Context, after string, files, bytes int64) error
	After string
}

// storedFile is what an object's row says about its file.
type storedFile struct {
	BlobID, Object, SHA256 string
	Size                   int64
}

// Copy copies the files behind After, each checked against its row while it passes. A file that is in the target already
// came there complete in a run that was stopped before it could be noted.
func (t *Transfer) Copy(ctx context.Context) error {
	return t.each(ctx, func(ctx context.Context, f storedFile) (err error) {
		body, err := t.From.Open(ctx, f.BlobID)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("the source has no file for %s: remove the object, or bring the file %s back", f.Object, f.BlobID)
		}
		if err != nil {
			return fmt.Errorf("read %s: %w", f.Object, err)
		}
		defer func() { err = errors.Join(err, body.Close()) }()
		info, err := t.To.Put(ctx, f.BlobID, body, nil)
		if errors.Is(err, fs.ErrExist) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", f.Object, err)
		}
		if info.Size != f.Size || info.SHA256 != f.SHA256 {
			return errors.Join(fmt.Errorf("the source's file for %s is damaged: it has not the content that it was stored with", f.Object), t.To.Delete(context.WithoutCancel(ctx), f.BlobID))
		}
		return nil
	})
}

// Check reads every file of the target again and holds its size and SHA-256 against its row.
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

func (t *Transfer) each(ctx context.Context, fn func(context.Context, storedFile) error) error {
	for after := t.After; ; {
		batch, err := listStored(ctx, t.Rows, after, transferBatch)
		if err != nil {
			return err
		}
		if len(batch) == 0 {
			return nil
		}
		var bytes int64
		group, working := errgroup.WithContext(ctx)
		group.SetLimit(transferAtOnce)
		for _, f := range batch {
			bytes += f.Size
			group.Go(func() error { return fn(working, f) })
		}
		if err := group.Wait(); err != nil {
			return err
		}
		after = batch[len(batch)-1].BlobID
		if err := t.Note(ctx, after, int64(len(batch)), bytes); err != nil {
			return err
		}
	}
}
