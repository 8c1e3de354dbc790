package backup

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"atelie/internal/db"
)

// This file copies blobs (the bytes of stored files) to the backup destination while the server runs. After the site has removed a blob,
// the destination keeps its copy for the retention period (how far back the site can be restored). Then this file deletes the copy.
//
// The table backup_blobs has a row for each blob. The rows whose copied_at is null are the queue of blobs to copy. A row stays in the queue
// until the destination has the blob, even if the destination is unreachable for days.

// Intervals and limits of copying blobs.
const (
	queuePollInterval   = 30 * time.Second // time between two reads of the queue, to find blobs that other nodes (servers) or commands have added
	copyBatchSize       = 20               // maximum number of blobs that one transaction records as copied
	maxConcurrentCopies = 2
	blobCopyTimeout     = time.Hour       // limit of the copy of one blob
	lastCopyTimeout     = 5 * time.Second // limit of all copies together that are made when the program ends
	reconcileInterval   = time.Hour       // time between two calls of reconcile, which adds missed blobs and deletes expired ones
	expireBatchSize     = 200             // maximum number of expired blobs (removed before the retention period began) that one transaction deletes
	listInterval        = 24 * time.Hour  // time between two listings of the destination's blobs, by all nodes together
	listBatchSize       = 1000            // maximum number of listed blobs that one query compares with the rows
	unfinishedAge       = 48 * time.Hour  // age at which unfinished objects are removed; no write takes so long
)

// errBlobMissing is the error for a blob that the site has lost: a row refers to it, but the file store does not have it.
var errBlobMissing = errors.New("a file is missing in the site's own file store")

// copiedBlob is a blob that was copied to the destination, with the SHA-256 and the size of its bytes.
type copiedBlob struct {
	id, sha256 string
	size       int64
}

// AddBlobs adds blobs to the queue. Call it in the transaction that inserts the rows of the files. The service copies the blobs after the
// commit.
func (s *Service) AddBlobs(ctx context.Context, tx *db.Tx, ids ...string) error {
	for _, id := range ids {
		if err := addBlob(ctx, tx, id); err != nil {
			return err
		}
	}
	tx.AfterCommit(s.Wake)
	return nil
}

// RemoveBlob records that no row refers to a blob any more. The service deletes the copy of the blob after the retention period. Call
// RemoveBlob in the transaction that deletes the last row that refers to the blob.
func (s *Service) RemoveBlob(ctx context.Context, tx *db.Tx, id string) error {
	return removeBlob(ctx, tx, id, s.now())
}

// runBlobs copies waiting blobs and deletes expired ones until ctx ends.
func (s *Service) runBlobs(ctx context.Context) {
	var retryDelay time.Duration // wait before another attempt; 0 after a success
	var reconcileAt time.Time    // when reconcile runs next; the zero time is immediately
	for {
		err := s.claim(ctx)
		if err == nil && !time.Now().Before(reconcileAt) {
			if err = s.reconcile(ctx); err == nil {
				reconcileAt = time.Now().Add(reconcileInterval)
			}
		}
		if err == nil {
			err = s.copyWaiting(ctx)
		}
		wake, wait := s.wake, queuePollInterval
		if err != nil {
			s.failed(ctx, KindBlobs, err)
		} else if s.hasFailed(KindBlobs) {
			s.succeeded(ctx, KindBlobs, s.now())
		}
		if err == nil || errors.Is(err, errBlobMissing) { // after errBlobMissing, other files are copied as usual
			retryDelay = 0
		} else {
			retryDelay = min(max(2*retryDelay, time.Second), maxRetryDelay)
			wake, wait = nil, retryDelay // not woken by a new blob, because its copy would fail too
		}
		select {
		case <-ctx.Done():
			return
		case <-wake:
		case <-time.After(wait):
		}
	}
}

// CopyLastBlobs copies the blobs that still wait, for at most lastCopyTimeout. Call it after Run has returned and after the last write. If
// the newest attempt to copy blobs has failed, CopyLastBlobs does nothing. The next start of the program copies them.
func (s *Service) CopyLastBlobs(ctx context.Context) {
	s.claimState.Lock()
	claimed := s.claimState.claimed
	s.claimState.Unlock()
	if !claimed || s.hasFailed(KindBlobs) {
		return
	}
	limited, cancel := context.WithTimeout(ctx, lastCopyTimeout)
	defer cancel()
	if err := s.copyWaiting(limited); err != nil && !errors.Is(err, errBlobMissing) {
		s.log.Warn("backup: the newest files are not in the backup destination; the next start copies them", "destination", s.cfg.Destination.Label(), "cause", err.Error())
	}
}

// reconcile records the blobs that were added or removed without AddBlobs or RemoveBlob. Then it deletes from the destination the blobs
// that no restore within the retention needs.
func (s *Service) reconcile(ctx context.Context) error {
	if err := s.db.WithTx(ctx, func(tx *db.Tx) error { return reconcileBlobs(ctx, tx, s.now()) }); err != nil {
		return err
	}
	if err := s.cfg.Destination.Sweep(time.Now().Add(-unfinishedAge)); err != nil {
		return err
	}
	if err := s.findStrays(ctx); err != nil {
		return err
	}
	for {
		ids, err := expiredBlobs(ctx, s.db, s.now().Add(-s.cfg.Retention), expireBatchSize)
		if err != nil || len(ids) == 0 {
			return err
		}
		for _, id := range ids {
			if err := s.cfg.Destination.Delete(ctx, BlobName(id)); err != nil {
				return err
			}
		}
		if err := s.db.WithTx(ctx, func(tx *db.Tx) error { return deleteBlobs(ctx, tx, ids) }); err != nil {
			return err
		}
	}
}

// listedDetail is the detail of kindListed: which destination was listed. Earlier versions have stored it, so its name in JSON stays.
type listedDetail struct {
	Destination string `json:"place"`
}

// findStrays lists the destination once a day, and records the blobs that have no row (strays). A site has strays if it was restored to an
// earlier state, or had its backup in another destination for some time. Restore points from before that may need the strays, so they are
// kept for the retention. findStrays also removes the old database files of a site that has changed its engine.
func (s *Service) findStrays(ctx context.Context) error {
	states, err := ReadStates(ctx, s.db)
	if err != nil {
		return err
	}
	known, err := readDetail[listedDetail](states[kindListed])
	if err != nil {
		return err
	}
	want := listedDetail{s.cfg.Destination.Label()}
	if known == want && s.now().Sub(states[kindListed].LastOK) < listInterval {
		return nil
	}
	detail, _ := json.Marshal(want) // cannot fail for a text
	var ids []string
	if err := s.cfg.Destination.List(ctx, BlobsDir+"/", func(o Object) error {
		id := path.Base(o.Name)
		if parsed, err := uuid.Parse(id); err == nil && parsed.String() == id && o.Name == BlobName(id) {
			ids = append(ids, id)
		}
		if len(ids) < listBatchSize {
			return nil
		}
		err := s.addStrays(ctx, ids)
		ids = ids[:0]
		return err
	}); err != nil {
		return err
	}
	if err := s.addStrays(ctx, ids); err != nil {
		return err
	}
	if err := s.removeOtherEngine(ctx); err != nil {
		return err
	}
	return RecordSuccess(ctx, s.db, kindListed, s.now(), string(detail))
}

// addStrays records those of the blobs that have no row.
func (s *Service) addStrays(ctx context.Context, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	rows, err := knownBlobs(ctx, s.db, slices.Min(ids), slices.Max(ids))
	if err != nil {
		return err
	}
	slices.Sort(rows)
	strays := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { _, found := slices.BinarySearch(rows, id); return found })
	if len(strays) == 0 {
		return nil
	}
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		for _, id := range strays {
			if err := addStray(ctx, tx, id, s.now()); err != nil {
				return err
			}
		}
		return nil
	})
}

// removeOtherEngine removes the backups of the site's previous database engine that are older than the retention.
func (s *Service) removeOtherEngine(ctx context.Context) error {
	dir, limit := SnapshotsDir, s.now().Add(-s.cfg.Retention)
	if s.db.Dialect == db.Postgres {
		dir = DatabaseDir
	}
	old, err := listNames(ctx, s.cfg.Destination, dir+"/", func(o Object) bool { return o.Modified.Before(limit) })
	if err != nil {
		return err
	}
	for _, name := range old {
		if err := s.cfg.Destination.Delete(ctx, name); err != nil {
			return err
		}
	}
	return nil
}

// copyWaiting copies all waiting blobs. If a blob fails, it continues with the others, but it stops if it could copy no blob of a batch.
// It returns the first error. The error is an errBlobMissing only if all other blobs are in the destination.
func (s *Service) copyWaiting(ctx context.Context) error {
	after, missing, failed := "", error(nil), error(nil)
	for {
		ids, err := waitingBlobs(ctx, s.db, after, copyBatchSize)
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
					if err := recordCopiedBlob(ctx, tx, b, s.now()); err != nil {
						return err
					}
				}
				return nil
			})
			if err != nil {
				return err
			}
		} else if failed != nil { // the destination cannot be reached: other copies would fail too
			return failed
		}
	}
}

// copyBlobs copies blobs, a few at a time, and returns those that are in the destination. failed is an errBlobMissing only if no other
// error occurred.
func (s *Service) copyBlobs(ctx context.Context, ids []string) (copied []copiedBlob, failed error) {
	var (
		mu      sync.Mutex
		workers errgroup.Group
	)
	workers.SetLimit(maxConcurrentCopies)
	for _, id := range ids {
		workers.Go(func() error {
			b, err := s.copyBlob(ctx, id)
			mu.Lock()
			defer mu.Unlock()
			switch {
			case err == nil && b.id != "":
				copied = append(copied, b)
			case err != nil && (failed == nil || errors.Is(failed, errBlobMissing)):
				failed = err
			}
			return nil // the other blobs are copied nevertheless
		})
	}
	_ = workers.Wait()
	return copied, failed
}

// copyBlob copies a blob. It returns the zero value for a blob that was removed meanwhile.
func (s *Service) copyBlob(ctx context.Context, id string) (b copiedBlob, err error) {
	ctx, cancel := context.WithTimeout(ctx, blobCopyTimeout)
	defer cancel()
	body, err := s.cfg.OpenBlob(ctx, id)
	if errors.Is(err, fs.ErrNotExist) {
		used, lookErr := isBlobUsed(ctx, s.db, id)
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
	if err := s.cfg.Destination.Add(ctx, BlobName(id), body); err != nil {
		return b, err
	}
	return copiedBlob{id, hex.EncodeToString(hash.Sum(nil)), size}, nil
}

// isLost reports whether the site itself does not have a blob.
func (s *Service) isLost(ctx context.Context, id string) (bool, error) {
	body, err := s.cfg.OpenBlob(ctx, id)
	if err != nil {
		return errors.Is(err, fs.ErrNotExist), missingAs(err, nil)
	}
	return false, body.Close()
}
