package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"atelie/internal/db"
)

// Intervals and limits of the blobs' copies. The waiting rows of backup_blobs are the queue: they stay until the place has the blob,
// however long it is away.
const (
	pollBlobs     = 30 * time.Second // other nodes and commands wake nobody here
	copyBatch     = 20               // blobs in one transaction
	copyAtOnce    = 2
	blobTimeout   = time.Hour // of one blob
	reconcileEach = time.Hour
	expireBatch   = 200
	sweepAge      = 48 * time.Hour // of what a killed process left; no write takes as long
)

// errBlobMissing is the cause when a row refers to a blob that the site itself does not have.
var errBlobMissing = errors.New("a file is missing in the site's own place for files")

type copiedBlob struct {
	id, sha256 string
	size       int64
}

// AddBlobs notes, in the transaction whose rows begin to refer to them, that blobs belong into the backup. They are copied after
// the commit.
func (s *Service) AddBlobs(ctx context.Context, tx *db.Tx, ids ...string) error {
	for _, id := range ids {
		if err := addBlob(ctx, tx, id); err != nil {
			return err
		}
	}
	tx.AfterCommit(s.Wake)
	return nil
}

// RemoveBlob notes, in the transaction that deletes the last reference to a blob, that the backup may forget it after the retention.
func (s *Service) RemoveBlob(ctx context.Context, tx *db.Tx, id string) error {
	return removeBlob(ctx, tx, id, s.now())
}

// runBlobs copies waiting blobs and removes expired ones until ctx ends.
func (s *Service) runBlobs(ctx context.Context) {
	retry, reconcileAt := time.Duration(0), time.Time{}
	for {
		err := s.claim(ctx)
		if err == nil && !time.Now().Before(reconcileAt) {
			if err = s.reconcile(ctx); err == nil {
				reconcileAt = time.Now().Add(reconcileEach)
			}
		}
		if err == nil {
			err = s.copyWaiting(ctx)
		}
		wake, wait := s.wake, pollBlobs
		if errors.Is(err, errBlobMissing) { // told, but no reason to let other files wait
			s.failed(ctx, KindBlobs, err)
			retry = 0
		} else if err != nil {
			s.failed(ctx, KindBlobs, err)
			retry = min(max(2*retry, time.Second), retryMax)
			wake, wait = nil, retry // a new file does not make the place come back
		} else {
			retry = 0
			if s.hasFailed(KindBlobs) {
				s.succeeded(ctx, KindBlobs, s.now())
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-time.After(wait):
		}
	}
}

// reconcile notes changes that the service was not told, and removes blobs that no moment of the retention needs.
func (s *Service) reconcile(ctx context.Context) error {
	if err := s.db.WithTx(ctx, func(tx *db.Tx) error { return reconcileBlobs(ctx, tx, s.now()) }); err != nil {
		return err
	}
	if err := s.cfg.Place.Sweep(time.Now().Add(-sweepAge)); err != nil {
		return err
	}
	for {
		ids, err := expiredBlobs(ctx, s.db, s.now().Add(-s.cfg.Retention), expireBatch)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := s.cfg.Place.Delete(ctx, BlobName(id)); err != nil {
				return err
			}
		}
		if err := s.db.WithTx(ctx, func(tx *db.Tx) error { return deleteBlobs(ctx, tx, ids) }); err != nil {
			return err
		}
	}
}

// copyWaiting copies all waiting blobs. A blob that fails does not keep the others from being copied; the first error is returned. It
// is an errBlobMissing only if all other blobs are in the place.
func (s *Service) copyWaiting(ctx context.Context) error {
	after, missing, failed := "", error(nil), error(nil)
	for {
		ids, err := waitingBlobs(ctx, s.db, after, copyBatch)
		if err != nil {
			return errors.Join(failed, err)
		}
		if len(ids) == 0 {
			return cmp.Or(failed, missing)
		}
		after = ids[len(ids)-1]
		copied, err := s.copyBlobs(ctx, ids)
		if errors.Is(err, errBlobMissing) {
			missing, err = cmp.Or(missing, err), nil
		}
		failed = cmp.Or(failed, err)
		if len(copied) > 0 {
			err = s.db.WithTx(ctx, func(tx *db.Tx) error {
				for _, b := range copied {
					if err := blobCopied(ctx, tx, b, s.now()); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		} else if failed != nil { // the place is away: the rest would only fail too
			return failed
		}
	}
}

// copyBlobs copies blobs, a few at a time, and returns those that are in the place. failed is an errBlobMissing only if no other
// error occurred.
func (s *Service) copyBlobs(ctx context.Context, ids []string) (copied []copiedBlob, failed error) {
	var (
		mu      sync.Mutex
		workers sync.WaitGroup
		slots   = make(chan struct{}, copyAtOnce)
	)
	for _, id := range ids {
		slots <- struct{}{}
		workers.Go(func() {
			defer func() { <-slots }()
			b, err := s.copyBlob(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && b.id != "":
				copied = append(copied, b)
			case err != nil && (failed == nil || errors.Is(failed, errBlobMissing)):
				failed = err
			}
		})
	}
	workers.Wait()
	return copied, failed
}

// copyBlob copies a blob. It returns the zero value for a blob that was removed meanwhile.
func (s *Service) copyBlob(ctx context.Context, id string) (b copiedBlob, err error) {
	ctx, cancel := context.WithTimeout(ctx, blobTimeout)
	defer cancel()
	body, err := s.cfg.OpenBlob(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		used, lookErr := blobUsed(ctx, s.db, id)
		if lookErr != nil || !used {
			return b, lookErr
		}
		return b, fmt.Errorf("%w: blob %s", errBlobMissing, id)
	}
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	hash := sha256.New()
	size, err := io.Copy(hash, reader{ctx, body})
	if err != nil {
		return b, err
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return b, err
	}
	if err := s.cfg.Place.Add(ctx, BlobName(id), body); err != nil {
		return b, err
	}
	return copiedBlob{id, hex.EncodeToString(hash.Sum(nil)), size}, nil
}

// isLost reports whether the site itself does not have a blob.
func (s *Service) isLost(ctx context.Context, id string) (bool, error) {
	body, err := s.cfg.OpenBlob(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		return true, nil
	}
	if err != nil {
		return false, err
	}
	return false, body.Close()
}
