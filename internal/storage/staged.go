package storage

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/storage/blob"
)

// Arriving is a file that comes in over several requests: what was asked for when it began. With a Grant that says who
// uploads and whether an object is replaced, in place of the caller and Upsert.
type Arriving struct {
	Bucket, Name string
	Size         int64 // bytes
	Upsert       bool
	Options      PutOptions
	Grant        *UploadGrant
}

// mayTake tells whether the file may be put into its bucket at all.
func (s *Service) mayTake(ctx context.Context, caller identity.Caller, a Arriving) (bucket, error) {
	if a.Grant == nil {
		return s.mayPut(ctx, caller, a.Bucket, a.Name, a.Upsert)
	}
	if a.Grant.url != a.Bucket+"/"+a.Name {
		return bucket{}, errOtherObject.Becausef("signed for %q", a.Grant.url)
	}
	if err := s.unused(ctx, a.Grant.ID); err != nil {
		return bucket{}, err
	}
	b, err := s.bucket(ctx, a.Bucket)
	if err == nil && !a.Grant.Upsert {
		err = s.free(ctx, a.Bucket, a.Name)
	}
	return b, err
}

// SniffLength is how many first bytes MayArrive wants to see.
const SniffLength = sniffLength

// MayArrive refuses what Put would refuse, as far as it can be known: everything but the content at first, and the
// type once head holds the first SniffLength bytes or the whole file.
func (s *Service) MayArrive(ctx context.Context, caller identity.Caller, a Arriving, head []byte) error {
	b, err := s.mayTake(ctx, caller, a)
	if err != nil {
		return err
	}
	if _, err := cacheControl(a.Options.CacheControl); err != nil {
		return err
	}
	if _, err := encodeMetadata(a.Options.Metadata); err != nil {
		return err
	}
	if limit := s.sizeLimit(b); a.Size > limit {
		return errTooLarge.Becausef("%d bytes of at most %d", a.Size, limit)
	}
	room, err := s.room(ctx, a.Bucket, a.Name)
	if err != nil {
		return err
	}
	if a.Size > room {
		return errQuota.Becausef("%d bytes, room for %d", a.Size, room)
	}
	if a.Size == 0 {
		return errNoContent
	}
	if len(head) == 0 {
		return nil
	}
	_, err = s.arrivingType(b, a.Name, head, a.Size)
	return err
}

// arrivingType decides a file's type and refuses what does not belong into the bucket.
func (s *Service) arrivingType(b bucket, name string, head []byte, size int64) (*fileType, error) {
	kind := detect(head)
	if kind == nil {
		return nil, errTypeRefused(http.DetectContentType(head))
	}
	if err := s.decodable(kind); err != nil {
		return nil, err
	}
	if err := admit(b, kind, name); err != nil {
		return nil, err
	}
	if kind.isImage() && size > maxImageBytes {
		return nil, errTooLarge.Becausef("%d bytes of at most %d", size, maxImageBytes)
	}
	return kind, nil
}

// Complete makes an object of a file that has arrived whole under blobID, with the checks of Put. sha256 is the
// content's, in hexadecimal digits; also runs in the transaction that makes the object visible.
func (s *Service) Complete(ctx context.Context, caller identity.Caller, a Arriving, blobID string, at blob.Staged, sha256 string, also func(context.Context, *db.Tx) error) (Object, error) {
	b, err := s.mayTake(ctx, caller, a)
	if err != nil {
		return Object{}, err
	}
	upsert, together := a.Upsert, also
	if g := a.Grant; g != nil {
		caller, upsert = identity.Caller{UserID: g.Owner}, g.Upsert
		together = func(ctx context.Context, tx *db.Tx) error {
			if err := useUp(ctx, tx, g.ID, g.until); err != nil {
				return err
			}
			return also(ctx, tx)
		}
	}
	o := Object{ID: uuid.NewString(), Bucket: b.ID, Name: a.Name, BlobID: blobID, Size: a.Size, ETag: sha256, OwnerID: ownerID(caller)}
	if o.CacheControl, err = cacheControl(a.Options.CacheControl); err != nil {
		return Object{}, err
	}
	metadata, err := encodeMetadata(a.Options.Metadata)
	if err != nil {
		return Object{}, err
	}
	var look *looked
	defer func() { look.close() }()
	err = s.blobs.Finish(ctx, blobID, at, func(f io.ReadSeeker) error {
		head, err := bufio.NewReaderSize(f, sniffLength).Peek(sniffLength)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		kind, err := s.arrivingType(b, a.Name, head, a.Size)
		if err != nil {
			return err
		}
		o.MimeType = kind.mime
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return err
		}
		look, err = s.lookAt(ctx, f, b, kind)
		return err
	})
	if err != nil {
		return Object{}, err
	}
	p, err := s.publish(ctx, &o, look)
	if err != nil {
		return Object{}, err
	}
	return s.save(ctx, o, metadata, saving{upsert: upsert, also: together, keep: true, picture: p})
}

// Append adds a piece to an arriving file (see blob.Store).
func (s *Service) Append(ctx context.Context, blobID string, at blob.Staged, data []byte, last bool) (blob.Staged, error) {
	return s.blobs.Append(ctx, blobID, at, data, last)
}

// Abandon removes what has arrived of a file, unless it has become an object.
func (s *Service) Abandon(ctx context.Context, blobID string, at blob.Staged) error {
	used, err := blobIsUsed(ctx, s.db, blobID)
	if err != nil || used {
		return err
	}
	return s.blobs.Discard(ctx, blobID, at)
}

// SweepArriving removes pieces that no upload knows and that have lain for a day.
func (s *Service) SweepArriving(ctx context.Context, known func(blobID string) bool) error {
	return s.blobs.Sweep(ctx, s.now().Add(-24*time.Hour), known)
}
