package storage

import (
	"bufio"
	"context"
	"errors"
	"io"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/storage/blob"
)

// This file checks and stores uploads whose bytes arrive in several requests. Package resumable implements the protocol of these requests,
// and calls the functions of this file.

// ResumableUpload describes an upload whose bytes arrive in several requests. All fields are known from the first request on.
type ResumableUpload struct {
	Bucket, Name string
	Size         int64 // size of the whole file in bytes
	Options      PutOptions
	// Grant is the permission that a signed upload URL gives. It is nil for other uploads. Grant.Upsert replaces Options.Upsert.
	Grant *UploadGrant
}

// checkTarget returns the bucket if the caller or the grant may upload the file into it. With a grant it checks neither the permission to
// write nor the name, because SignUpload, which gave the grant, has checked them.
func (s *Service) checkTarget(ctx context.Context, caller identity.Caller, upload ResumableUpload) (bucket, error) {
	if upload.Grant == nil {
		return s.checkUpload(ctx, caller, upload.Bucket, upload.Name, upload.Options.Upsert)
	}
	b, err := s.grantedBucket(ctx, upload.Grant, upload.Bucket, upload.Name)
	if err == nil && !upload.Grant.Upsert {
		err = s.checkNameFree(ctx, upload.Bucket, upload.Name)
	}
	return b, err
}

// CheckResumable makes the checks of Put that are possible before the whole file has arrived. It returns the error of the first
// check that fails. head is empty, or the first files.SniffLength bytes of the file (all bytes of a shorter file). The file's type
// is checked only if head is not empty.
func (s *Service) CheckResumable(ctx context.Context, caller identity.Caller, upload ResumableUpload, head []byte) error {
	b, err := s.checkTarget(ctx, caller, upload)
	if err != nil {
		return err
	}
	if _, err := parseCacheControl(upload.Options.CacheControl); err != nil {
		return err
	}
	if _, err := encodeMetadata(upload.Options.Metadata); err != nil {
		return err
	}
	if limit := s.sizeLimit(b); upload.Size > limit {
		return errTooLarge.Becausef("%d bytes of at most %d", upload.Size, limit)
	}
	quotaLeft, err := s.quotaLeft(ctx, upload.Bucket, upload.Name)
	if err != nil {
		return err
	}
	if upload.Size > quotaLeft {
		return errQuota.Becausef("%d bytes, room for %d", upload.Size, quotaLeft)
	}
	if upload.Size == 0 {
		return errNoContent
	}
	if len(head) == 0 {
		return nil
	}
	_, err = s.acceptSized(b, upload.Name, head, upload.Size)
	return err
}

// Complete makes an object of a file whose pieces have all arrived under blobID, with the checks of Put. sha256 is the file's
// checksum in hexadecimal digits. inTx runs in the transaction that saves the object. After an error the pieces stay: the
// caller can call Complete again, or Abandon.
func (s *Service) Complete(ctx context.Context, caller identity.Caller, upload ResumableUpload, blobID string, state blob.Partial, sha256 string, inTx func(context.Context, *db.Tx) error) (files.Object, error) {
	b, err := s.checkTarget(ctx, caller, upload)
	if err != nil {
		return files.Object{}, err
	}
	opts := upload.Options
	opts.inTx = inTx
	if g := upload.Grant; g != nil {
		caller, opts.Upsert = identity.Caller{UserID: g.Owner}, g.Upsert
		opts.inTx = func(ctx context.Context, tx *db.Tx) error {
			if err := g.consume(ctx, tx); err != nil {
				return err
			}
			return inTx(ctx, tx)
		}
	}
	pieces, err := s.blobs.store.Finish(ctx, blobID, state)
	if err != nil {
		return files.Object{}, err
	}
	staged := &Staged{Staged: pieces, blobs: s.blobs}
	defer staged.Discard(ctx)
	head, err := bufio.NewReaderSize(staged, files.SniffLength).Peek(files.SniffLength)
	if err != nil && !errors.Is(err, io.EOF) {
		return files.Object{}, err
	}
	kind, err := s.acceptSized(b, upload.Name, head, upload.Size)
	if err != nil {
		return files.Object{}, err
	}
	if _, err := staged.Seek(0, io.SeekStart); err != nil {
		return files.Object{}, err
	}
	inspection, err := s.media.Inspect(ctx, staged, kind, files.SiteOrConversationBucket(b.ID))
	if err != nil {
		return files.Object{}, err
	}
	defer inspection.Close()
	o := files.Object{Bucket: b.ID, Name: upload.Name, BlobID: blobID, Size: upload.Size, ETag: sha256, MimeType: kind.MIME, OwnerID: ownerID(caller)}
	return s.commit(ctx, &incomingFile{object: o, staged: staged, inspection: inspection, opts: opts})
}

// Append adds a piece to an arriving file. isLast is true for the last piece. The returned state is passed to the next Append.
func (s *Service) Append(ctx context.Context, blobID string, state blob.Partial, data []byte, isLast bool) (blob.Partial, error) {
	return s.blobs.store.Append(ctx, blobID, state, data, isLast)
}

// Abandon removes the pieces of an arriving file. It does nothing if the file has become an object.
func (s *Service) Abandon(ctx context.Context, blobID string, state blob.Partial) error {
	used, err := blobIsUsed(ctx, s.db, blobID)
	if err != nil || used {
		return err
	}
	return s.blobs.store.Discard(ctx, blobID, state)
}

// unknownPiecesRetention is the age at which SweepPieces removes pieces.
const unknownPiecesRetention = 24 * time.Hour

// SweepPieces removes pieces that are older than unknownPiecesRetention and belong to no upload. known reports whether an upload has the
// blob.
func (s *Service) SweepPieces(ctx context.Context, known func(blobID string) bool) error {
	return s.blobs.store.Sweep(ctx, s.now().Add(-unknownPiecesRetention), known)
}
