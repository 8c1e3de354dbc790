package storage

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/google/uuid"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
)

// This file stores an upload that arrives as one stream: it stages the bytes, inspects the file and saves its row.

// PutOptions are the properties of an upload besides its bytes.
type PutOptions struct {
	Upsert       bool           // the upload may replace an object of the same name
	CacheControl string         // the Cache-Control header of downloads; "" is defaultCacheControl
	Metadata     map[string]any // any JSON object, or nil

	inTx func(context.Context, *db.Tx) error // runs in the transaction that saves the row; its error fails the upload; may be nil
}

// Put stores a file as the request Upload does. size is the body's length in bytes, or -1 if it is unknown. When Put returns a nil
// error, the file and its row are stored durably. If Put rejects the upload, the error is an *apperr.Error, as for the request.
func (s *Service) Put(ctx context.Context, caller identity.Caller, bucket, name string, body io.Reader, size int64, opts PutOptions) (files.Object, error) {
	b, err := s.checkUpload(ctx, caller, bucket, name, opts.Upsert)
	if err != nil {
		return files.Object{}, err
	}
	return s.put(ctx, caller, b, name, body, size, func() (PutOptions, error) { return opts, nil })
}

// commitTimeout limits the transaction that saves the row of a complete file. The transaction continues when the client
// disconnects, because the whole file has arrived by then.
const commitTimeout = 30 * time.Second

// put checks quota and type, writes the body to a temporary (staged) file, inspects that file, and saves its row. It calls readOptions
// after it has read the body, because the fields of a form may follow the file. Even after a crash, no row refers to an incomplete file.
// A file without a row is recorded as a pending blob; Sweep deletes it later.
func (s *Service) put(ctx context.Context, caller identity.Caller, b bucket, name string, body io.Reader, size int64, readOptions func() (PutOptions, error)) (files.Object, error) {
	quotaLeft, err := s.quotaLeft(ctx, b.ID, name)
	if err != nil {
		return files.Object{}, err
	}
	kind, limited, err := s.sniff(b, name, body, size, quotaLeft)
	if err != nil {
		return files.Object{}, err
	}
	ids, err := s.blobs.Reserve(ctx, 1)
	if err != nil {
		return files.Object{}, limited.explain(err)
	}
	staged, err := s.blobs.Stage(ctx, ids[0], limited)
	if err != nil {
		return files.Object{}, limited.explain(err)
	}
	defer staged.Discard(ctx)
	if size >= 0 && limited.read != size {
		return files.Object{}, errCutShort.Becausef("%d bytes of %d", limited.read, size)
	}
	inspection, err := s.media.Inspect(ctx, staged, kind, files.SiteBucket(b.ID))
	if err != nil {
		return files.Object{}, limited.explain(err)
	}
	defer inspection.Close()
	opts, err := readOptions()
	if err != nil {
		return files.Object{}, limited.explain(err)
	}
	o := files.Object{Bucket: b.ID, Name: name, BlobID: ids[0], Size: staged.Size, ETag: staged.SHA256, MimeType: kind.MIME, OwnerID: ownerID(caller)}
	o, err = s.commit(ctx, o, staged, inspection, opts)
	return o, limited.explain(err)
}

// commit stores a staged file and its stripped copy, if any, durably, and saves the row. inspection is nil for a video in a
// bucket that is not the site's.
func (s *Service) commit(ctx context.Context, o files.Object, staged *Staged, inspection *files.Inspection, opts PutOptions) (saved files.Object, err error) {
	if o.CacheControl, err = normalizeCacheControl(opts.CacheControl); err != nil {
		return files.Object{}, err
	}
	metadata, err := encodeMetadata(opts.Metadata)
	if err != nil {
		return files.Object{}, err
	}
	if err := staged.Commit(ctx); err != nil {
		return files.Object{}, err
	}
	var original *files.Blob
	committed := []string{o.BlobID}
	if inspection != nil && inspection.Stripped != nil {
		ids, err := s.blobs.Reserve(ctx, 1)
		if err != nil {
			return files.Object{}, err
		}
		cleaned, err := s.blobs.Put(ctx, ids[0], inspection.Stripped)
		if err != nil {
			return files.Object{}, err
		}
		original = &files.Blob{ID: o.BlobID, Size: o.Size, ETag: o.ETag}
		o.BlobID, o.Size, o.ETag = cleaned.ID, cleaned.Size, cleaned.ETag
		staged.pending, committed = append(staged.pending, o.BlobID), append(committed, o.BlobID)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	o.ID, o.UpdatedAt = uuid.NewString(), s.now().UTC().Truncate(time.Microsecond)
	o.CreatedAt = o.UpdatedAt
	committing := false
	err = s.db.WithTx(ctx, func(tx *db.Tx) error {
		committing, saved = false, o
		replaced, err := saveObject(ctx, tx, &saved, metadata, opts.Upsert)
		if db.IsConstraint(err, db.ForeignKeyViolation) {
			return files.ErrNoBucket.Because(err) // the bucket was deleted meanwhile
		}
		if err != nil {
			return err
		}
		if opts.inTx != nil {
			if err := opts.inTx(ctx, tx); err != nil {
				return err
			}
		}
		if replaced != nil {
			if err := s.keepReplaced(ctx, tx, *replaced); err != nil {
				return err
			}
		}
		if inspection != nil {
			if err := s.media.Record(ctx, tx, saved, inspection, original); err != nil {
				return err
			}
		}
		if err := s.blobs.Commit(ctx, tx, committed...); err != nil {
			return err
		}
		if err := s.checkQuota(ctx, tx); err != nil { // last, so that its lock, for which all uploads wait, is held for a short time
			return err
		}
		committing = true
		return nil
	})
	if committing { // even after an error the commit may have happened: Discard must keep the blobs, and Sweep decides
		staged.pending = nil
	}
	if err != nil {
		return files.Object{}, err
	}
	return saved, nil
}

// sniff detects the type of a body by its first bytes. It returns a reader of the whole body whose Read fails once the body
// exceeds the limit of the type and the bucket, or quotaLeft bytes. size is as for Put.
func (s *Service) sniff(b bucket, name string, body io.Reader, size, quotaLeft int64) (*files.Type, *limitedReader, error) {
	limit := s.sizeLimit(b)
	limited := &limitedReader{left: limit, over: errTooLarge}
	if size > limit {
		return nil, nil, errTooLarge.Becausef("%d bytes of at most %d", size, limit)
	}
	r := bufio.NewReaderSize(body, 64<<10)
	limited.body = r
	head, err := r.Peek(files.SniffLength)
	if err != nil && !errors.Is(err, io.EOF) {
		limited.err = err
		return nil, nil, limited.explain(err)
	}
	if len(head) == 0 {
		return nil, nil, errNoContent
	}
	kind, err := s.accept(b, name, head)
	if err != nil {
		return nil, nil, err
	}
	if kind.Image {
		limited.left = min(limited.left, maxImageBytes)
	}
	if quotaLeft < limited.left {
		limited.left, limited.over = quotaLeft, errQuota
	}
	if size > limited.left {
		return nil, nil, limited.over.Becausef("%d bytes of at most %d", size, limited.left)
	}
	return kind, limited, nil
}

// sizeLimit returns the largest size, in bytes, of a file in the bucket.
func (s *Service) sizeLimit(b bucket) int64 {
	if b.FileSizeLimit == nil {
		return s.cfg.MaxUpload
	}
	return min(s.cfg.MaxUpload, *b.FileSizeLimit)
}

// limitedReader reads the bytes of an upload up to a limit.
type limitedReader struct {
	body io.Reader
	left int64         // bytes that may still be read
	read int64         // bytes that were read
	over *apperr.Error // the error of Read when the body exceeds the limit
	err  error         // the first error of body except io.EOF, or over; explain uses it to tell the client's errors from the server's
}

func (l *limitedReader) Read(p []byte) (int, error) {
	if l.err != nil {
		return 0, l.err
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.body.Read(p)
	l.read += int64(n)
	if l.left -= int64(n); l.left < 0 {
		err = l.over
	}
	if err != nil && !errors.Is(err, io.EOF) {
		l.err = err
	}
	return n, err
}

// explain returns the error for the response. If the body ended early, that is errCutShort, an error of the client (400). It
// returns server errors, such as a full disk, unchanged.
func (l *limitedReader) explain(err error) error {
	var (
		known    *apperr.Error
		tooLarge *http.MaxBytesError
	)
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &tooLarge):
		return errTooLarge.Because(err)
	case l.err != nil && errors.Is(err, l.err), errors.Is(err, context.Canceled):
		return errCutShort.Because(err)
	}
	return err
}

// ownerID returns the account of the caller, or "" if the caller has none.
func ownerID(c identity.Caller) string {
	if u, err := uuid.Parse(c.UserID); err == nil {
		return u.String()
	}
	return ""
}
