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

// transferBatch is the number of files after which progress is reported. transferAtOnce is the number of files that are
// copied at the same time; each needs memory for up to three pieces (blob.PieceSize) when the target is S3.
const (
	transferBatch  = 32
	transferAtOnce = 4
)

// Transfer copies the files of all objects from one store to another (Copy), or verifies the copies (Check). It processes the
// files in the order of their blob ids, so that an interrupted run can be continued.
type Transfer struct {
	Rows db.Querier // the database with the rows of the objects
	From blob.Store // nil for Check
	To   blob.Store
	// SaveProgress is called after each batch. after is the id of its last blob; files and bytes are the number and the size of
	// its files.
	SaveProgress func(ctx context.Context, after string, files, bytes int64) error
	// After is the last id that SaveProgress received in an earlier run: this run begins with the next one. "" begins with the
	// first one.
	After string
}

// storedFile is a file as its row describes it. Object names the file in errors; SHA256 is in hexadecimal digits, Size in
// bytes.
type storedFile struct {
	BlobID, Object, SHA256 string
	Size                   int64
}

// Copy copies the files after After, and checks the size and SHA-256 of each against its row. It skips a file that is in the
// target already: an earlier run copied it completely and was interrupted before it called SaveProgress.
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
		info, err := blob.Put(ctx, t.To, f.BlobID, body)
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

// Check reads each file after After from the target, and compares its size and SHA-256 with its row.
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

// each calls fn for the files after After, transferAtOnce at a time, and SaveProgress after each batch.
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
		if err := t.SaveProgress(ctx, after, int64(len(batch)), bytes); err != nil {
			return err
		}
	}
}
