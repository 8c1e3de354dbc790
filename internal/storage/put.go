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

// This file stores an upload that arrives as one stream. It stages the bytes (stores them while no row refers to them yet), inspects the
// file, and saves a row for the file.

// PutOptions are the properties of an upload besides its bytes.
type PutOptions struct {
	Upsert       bool           // the upload may replace an object of the same name
	CacheControl string         // the Cache-Control header of downloads; "" is defaultCacheControl
	Metadata     map[string]any // any JSON object, or nil

	// inTx, if not nil, runs in the transaction that saves the row. If inTx returns an error, the upload fails.
	inTx func(context.Context, *db.Tx) error
	// dropUpload is true if the upload itself must not be stored when there is a copy of it without metadata.
	dropUpload bool
}

// Put stores a file with the same checks as an upload over HTTP. size is the body's length in bytes, or -1 if it is unknown. When Put
// returns a nil error, the file and its row are stored durably. If Put rejects the file, the error is the same *apperr.Error as over HTTP.
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

// put checks quota and type, writes the body to a temporary (staged) file, inspects that file, and saves a row for it. It calls readOptions
// after it has read the body, because the fields of a form may follow the file.
//
// Even after a crash, no row refers to an incomplete file. Until the row is saved, the file is recorded as a pending blob. If the row
// is never saved, the regular maintenance (Sweep) removes the blob.
func (s *Service) put(ctx context.Context, caller identity.Caller, b bucket, name string, body io.Reader, size int64, readOptions func() (PutOptions, error)) (files.Object, error) {
	f, err := s.stageAndInspect(ctx, caller, b, name, body, size, readOptions)
	if err != nil {
		return files.Object{}, err
	}
	defer f.close(ctx)
	o, err := s.commit(ctx, f)
	return o, f.limited.explain(err) // an upload that was cut short becomes an error of the client
}

// incomingFile is a complete file that was inspected, and to which no row refers yet.
type incomingFile struct {
	object     files.Object
	staged     *Staged
	limited    *limitedReader    // the body; nil if it has arrived in pieces
	inspection *files.Inspection // nil for a video outside of the site's buckets
	opts       PutOptions

	// Set by store.
	metadata any         // JSON text, or nil
	original *files.Blob // the upload, if it is stored beside a copy without metadata, which is the public file; nil if not
	blobs    []string    // ids of the blobs to which the rows will refer
	unused   []string    // ids of the other blobs, which stay pending
}

// close frees what is left of a file after commit, and discards a file that was not committed.
func (f *incomingFile) close(ctx context.Context) {
	f.inspection.Close()
	f.staged.Discard(ctx)
}

// stageAndInspect is the first half of put: it reads, stages and inspects a file. The caller closes the result.
func (s *Service) stageAndInspect(ctx context.Context, caller identity.Caller, b bucket, name string, body io.Reader, size int64, readOptions func() (PutOptions, error)) (_ *incomingFile, err error) {
	quotaLeft, err := s.quotaLeft(ctx, b.ID, name)
	if err != nil {
		return nil, err
	}
	kind, limited, err := s.sniff(b, name, body, size, quotaLeft)
	if err != nil {
		return nil, err
	}
	defer func() { err = limited.explain(err) }()
	ids, err := s.blobs.Reserve(ctx, 1)
	if err != nil {
		return nil, err
	}
	staged, err := s.blobs.Stage(ctx, ids[0], limited)
	if err != nil {
		return nil, err
	}
	f := &incomingFile{staged: staged, limited: limited}
	complete := false // if true, the file is returned
	defer func() {
		if !complete {
			f.close(ctx)
		}
	}()
	if size >= 0 && limited.read != size {
		return nil, errCutShort.Becausef("%d bytes of %d", limited.read, size)
	}
	if f.inspection, err = s.media.Inspect(ctx, staged, kind, files.SiteOrConversationBucket(b.ID)); err != nil {
		return nil, err
	}
	if f.opts, err = readOptions(); err != nil {
		return nil, err
	}
	f.object = files.Object{Bucket: b.ID, Name: name, BlobID: ids[0], Size: staged.Size, ETag: staged.SHA256, MimeType: kind.MIME, OwnerID: ownerID(caller)}
	complete = true
	return f, nil
}

// commit stores a file durably, and saves its row.
func (s *Service) commit(ctx context.Context, f *incomingFile) (saved files.Object, err error) {
	if err := s.store(ctx, f); err != nil {
		return files.Object{}, err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), commitTimeout)
	defer cancel()
	committing := false
	err = s.db.WithTx(ctx, func(tx *db.Tx) (err error) {
		committing = false
		saved, err = s.save(ctx, tx, f)
		committing = err == nil
		return err
	})
	if committing { // even after an error the commit may have happened: Discard must keep the blobs, and Sweep decides
		f.staged.pending = f.unused
	}
	return saved, err
}

// store stores a file and its stripped copy, if any, durably. Their blobs stay pending.
func (s *Service) store(ctx context.Context, f *incomingFile) (err error) {
	if f.object.CacheControl, err = parseCacheControl(f.opts.CacheControl); err != nil {
		return err
	}
	if f.metadata, err = encodeMetadata(f.opts.Metadata); err != nil {
		return err
	}
	upload := files.Blob{ID: f.object.BlobID, Size: f.object.Size, ETag: f.object.ETag}
	stripped := f.inspection != nil && f.inspection.Stripped != nil
	if stripped && f.opts.dropUpload {
		f.unused = []string{upload.ID}
	} else {
		f.blobs = []string{upload.ID}
		if err := f.staged.Commit(ctx); err != nil {
			return err
		}
	}
	if stripped {
		ids, err := s.blobs.Reserve(ctx, 1)
		if err != nil {
			return err
		}
		cleaned, err := s.blobs.Put(ctx, ids[0], f.inspection.Stripped)
		if err != nil {
			return err
		}
		if !f.opts.dropUpload {
			f.original = &upload
		}
		f.object.BlobID, f.object.Size, f.object.ETag = cleaned.ID, cleaned.Size, cleaned.ETag
		f.staged.pending, f.blobs = append(f.staged.pending, cleaned.ID), append(f.blobs, cleaned.ID)
	}
	f.object.ID, f.object.UpdatedAt = uuid.NewString(), s.now().UTC().Truncate(time.Microsecond)
	f.object.CreatedAt = f.object.UpdatedAt
	return nil
}

// save saves the row of a file that store has stored. It changes nothing in f, because a transaction may run several times.
func (s *Service) save(ctx context.Context, tx *db.Tx, f *incomingFile) (saved files.Object, err error) {
	saved = f.object
	replaced, err := saveObject(ctx, tx, &saved, f.metadata, f.opts.Upsert)
	if err != nil {
		return saved, constraintAs(err, db.ForeignKeyViolation, files.ErrNoBucket) // the bucket was deleted meanwhile
	}
	if f.opts.inTx != nil {
		if err := f.opts.inTx(ctx, tx); err != nil {
			return saved, err
		}
	}
	if replaced != nil {
		if err := s.keepReplaced(ctx, tx, *replaced); err != nil {
			return saved, err
		}
	}
	if f.inspection != nil {
		if err := s.media.Record(ctx, tx, saved, f.inspection, f.original); err != nil {
			return saved, err
		}
	}
	if err := s.blobs.Commit(ctx, tx, f.blobs...); err != nil {
		return saved, err
	}
	return saved, s.checkQuota(ctx, tx) // last, so that its lock, for which all uploads wait, is held for a short time
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

// sizeLimit returns the maximum size, in bytes, of a file in the bucket.
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
	_, known := errors.AsType[*apperr.Error](err)
	_, tooLarge := errors.AsType[*http.MaxBytesError](err)
	switch {
	case known:
		return err
	case tooLarge:
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
