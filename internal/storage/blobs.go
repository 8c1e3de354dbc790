package storage

import (
	"context"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/storage/blob"
)

// This file stores and removes blobs (the bytes of files under ids). It also records which blobs are pending, that is, no row of a file
// refers to them.

const (
	// sweepAge is how long a blob stays pending before Sweep, a part of the regular maintenance, removes it.
	sweepAge = time.Hour
	// heartbeatInterval is the interval at which a running upload renews its pending blob, so that Sweep does not remove that blob.
	heartbeatInterval = sweepAge / 4
)

// Blobs stores the blobs of three kinds of files: objects, originals (uploads whose public file is a copy without metadata) and renditions
// (resized copies of pictures).
//
// A blob is pending until a transaction inserts the first row of its file. It is pending again after a transaction has deleted the last row
// of its file. The table storage_trash lists the pending blobs. A new blob is listed before its first byte is written, so that Sweep also
// removes what a crash left.
type Blobs struct {
	db       *db.DB
	store    blob.Store
	recorder Recorder
	log      *slog.Logger
	now      func() time.Time
	cache    *blobCache // bytes of small blobs of public files
}

// Recorder records for the backup which blobs were added and removed. Added is called in the transaction that inserts the first rows of
// blobs. Removed is called in the transaction that deletes the last row of a blob.
type Recorder struct {
	Added   func(ctx context.Context, tx *db.Tx, ids ...string) error
	Removed func(ctx context.Context, tx *db.Tx, id string) error
}

// NoRecorder is the Recorder of a program without a backup. It records nothing.
var NoRecorder = Recorder{
	Added:   func(context.Context, *db.Tx, ...string) error { return nil },
	Removed: func(context.Context, *db.Tx, string) error { return nil },
}

// NewBlobs returns Blobs that keep the bytes in store and the rows of pending blobs in d.
func NewBlobs(d *db.DB, store blob.Store, recorder Recorder, log *slog.Logger, now func() time.Time) *Blobs {
	return &Blobs{d, store, recorder, log, now, newBlobCache(store)}
}

// Open opens a blob for reading until ctx ends. The error is fs.ErrNotExist if there is no such blob.
func (b *Blobs) Open(ctx context.Context, id string) (io.ReadSeekCloser, error) {
	return b.store.Open(ctx, id)
}

// Reserve records n new pending blobs that have no bytes yet, and returns their ids. Stage and Put store the bytes under these ids.
func (b *Blobs) Reserve(ctx context.Context, n int) (ids []string, err error) {
	err = b.db.WithTx(ctx, func(tx *db.Tx) error {
		ids = nil
		for range n {
			id := uuid.NewString()
			if err := insertPending(ctx, tx, id, b.now()); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

// Staged is a complete file to which no row refers yet. The caller must call Discard in the end; after a Commit, Discard does nothing.
type Staged struct {
	*blob.Staged
	blobs   *Blobs
	pending []string // ids of the blobs that Discard removes
}

// Stage stores body under a reserved id; the blob stays pending. After an error nothing is stored.
func (b *Blobs) Stage(ctx context.Context, id string, body io.Reader) (*Staged, error) {
	staged, err := b.store.Stage(ctx, id, &heartbeatReader{ctx: ctx, blobs: b, id: id, last: b.now(), body: body})
	if err != nil {
		b.Remove(context.WithoutCancel(ctx), id)
		return nil, err
	}
	return &Staged{staged, b, []string{id}}, nil
}

// Discard removes the file unless it is committed, and the blobs in pending. The creator of a Staged must call it in the end.
func (s *Staged) Discard(ctx context.Context) {
	ctx = context.WithoutCancel(ctx)
	if err := s.Staged.Discard(ctx); err != nil {
		s.blobs.log.WarnContext(ctx, "a staged file could not be removed", "cause", err)
	}
	s.blobs.Remove(ctx, s.pending...)
}

// Put stores body under a reserved id; the blob stays pending. After an error nothing is stored.
func (b *Blobs) Put(ctx context.Context, id string, body io.Reader) (files.Blob, error) {
	staged, err := b.Stage(ctx, id, body)
	if err != nil {
		return files.Blob{}, err
	}
	if err := staged.Commit(ctx); err != nil {
		staged.Discard(ctx)
		return files.Blob{}, err
	}
	return files.Blob{ID: id, Size: staged.Size, ETag: staged.SHA256}, nil
}

// Commit makes blobs no longer pending, in the transaction whose rows refer to them.
func (b *Blobs) Commit(ctx context.Context, tx *db.Tx, ids ...string) error {
	for _, id := range ids {
		if err := deletePending(ctx, tx, id); err != nil {
			return err
		}
	}
	return b.recorder.Added(ctx, tx, ids...)
}

// Discard makes a blob pending in the transaction that deletes the reference to it, and removes the blob after the commit.
func (b *Blobs) Discard(ctx context.Context, tx *db.Tx, id string) error {
	tx.AfterCommit(func() { b.Remove(context.WithoutCancel(ctx), id) })
	if err := b.recorder.Removed(ctx, tx, id); err != nil {
		return err
	}
	return insertPending(ctx, tx, id, b.now())
}

// Remove deletes pending blobs. If that fails, it logs the cause, and Sweep retries it.
func (b *Blobs) Remove(ctx context.Context, ids ...string) {
	for _, id := range ids {
		b.cache.entries.Drop(id)
		err := b.store.Delete(ctx, id)
		if err == nil {
			err = deletePending(ctx, b.db, id)
		}
		if err != nil {
			b.log.WarnContext(ctx, "a file could not be removed; this is tried again", "blob", id, "cause", err)
		}
	}
}

// Sweep removes the pending blobs that a crash or a failed removal left.
func (b *Blobs) Sweep(ctx context.Context) error {
	ids, err := listPending(ctx, b.db, b.now().Add(-sweepAge))
	if err != nil {
		return err
	}
	for _, id := range ids {
		used, err := blobIsUsed(ctx, b.db, id)
		if err != nil {
			return err
		}
		if !used {
			if err := b.store.Delete(ctx, id); err != nil {
				return err
			}
		}
		if err := deletePending(ctx, b.db, id); err != nil {
			return err
		}
	}
	return nil
}

// heartbeatReader renews a pending blob while its bytes arrive, so that Sweep leaves a long upload alone.
type heartbeatReader struct {
	ctx   context.Context // a field, because Read has no context parameter
	blobs *Blobs
	id    string
	last  time.Time // when the pending blob was last renewed
	body  io.Reader
}

func (h *heartbeatReader) Read(p []byte) (int, error) {
	if now := h.blobs.now(); now.Sub(h.last) > heartbeatInterval {
		if err := renewPending(h.ctx, h.blobs.db, h.id, now); err != nil {
			return 0, err
		}
		h.last = now
	}
	return h.body.Read(p)
}
