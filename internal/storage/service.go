// Package storage serves /storage/v1, a file storage with the interface of Supabase Storage. The owner (an account with the role admin)
// uploads, lists and removes objects (files with a bucket and a name). Anyone can get the objects of public buckets. The
// database has a row for each object, and package blob stores the bytes. The SQL is in the files store_*.go.
package storage

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"atelie/internal/content"
	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/identity"
	"atelie/internal/policy"
)

// Config configures a Service.
type Config struct {
	// MaxUpload is the maximum size of a file in bytes. Pictures also have the limit maxImageBytes.
	MaxUpload int64
	// Quota is the limit for the total size of all uploaded files in bytes; 0 means no limit. Copies without metadata, renditions
	// (resized copies of pictures) and kept files do not count. A kept file is a removed file to which a row or a revision still refers.
	Quota int64
	// SignKey signs the tokens of signed URLs and nothing else.
	SignKey []byte
	// PreviousSignKey is the SignKey of the previous secret. URLs that were signed with it are still valid. It is nil if there is no
	// previous secret.
	PreviousSignKey []byte
	// Content has the content version (the number that each change of visible content raises), and reports outages of the database. If
	// Content is nil, rows are read for each request, and no file is served during an outage.
	Content *content.Version
	// FileURLsLike returns all URLs in rows and revisions (earlier states of rows) that contain part. It may also return other strings.
	// part consists of ASCII letters, digits and hyphens. The Service keeps a removed, replaced or moved file if these URLs refer to it.
	// If FileURLsLike is nil, no file is kept.
	FileURLsLike func(ctx context.Context, tx *db.Tx, part string) ([]string, error)
	// Access decides who may read an object.
	Access files.AccessFunc
	// KeptFor is the minimum time for which a kept file stays. After that time, the regular maintenance (CollectKept) may remove the file.
	KeptFor time.Duration
}

// Media inspects uploads and stores what is derived from them: dimensions and renditions (pictures in other sizes, shapes or formats). If
// the public file is a stripped copy (without private metadata), Media also records which blob is the original, the file as it was uploaded.
type Media interface {
	// Reads reports whether pictures of a type can be decoded.
	Reads(t *files.Type) bool
	// Inspect checks a complete upload. strip is true for the buckets whose pictures are published without private metadata
	// (files.SiteOrConversationBucket). With strip, the result may have a stripped copy, which is published in place of the upload. Without
	// strip, the result for a video is nil. The caller closes the result.
	Inspect(ctx context.Context, f io.ReadSeeker, t *files.Type, strip bool) (*files.Inspection, error)
	// Record saves the result of an inspection and enqueues the object's jobs, in the transaction that saves the object.
	// original is the upload from which a stripped copy was made, or nil.
	Record(ctx context.Context, tx *db.Tx, o files.Object, i *files.Inspection, original *files.Blob) error
	// Move transfers the derived data of an object to another object with the same blob.
	Move(ctx context.Context, tx *db.Tx, fromID, toID string) error
	// Copy copies the derived data of the object with the id fromID to the object to. The blobs of the two objects have the same bytes, and
	// so do their originals. original is the original of to, or nil if to has none.
	Copy(ctx context.Context, tx *db.Tx, fromID string, to files.Object, original *files.Blob) error
	// Resume enqueues the next job of an object that was restored, unless its jobs had ended.
	Resume(ctx context.Context, tx *db.Tx, o files.Object) error
	// Discard removes the derived data of an object, in the transaction that removes or replaces the object.
	Discard(ctx context.Context, tx *db.Tx, objectID string) error
	// ReadTransform checks the transform (size and format of a rendition) in a request to sign a URL, and returns the transform for the
	// token. It returns nil if the request is not for a rendition.
	ReadTransform(text json.RawMessage) (json.RawMessage, error)
	// RenderTransform responds with the rendition that the token of a signed URL names.
	RenderTransform(w http.ResponseWriter, r *http.Request, transform json.RawMessage) error
}

// Service handles the requests at /storage/v1.
type Service struct {
	db    *db.DB
	blobs *Blobs
	media Media
	cfg   Config
	now   func() time.Time
	rows  *files.RowCache[files.Object] // the rows behind public URLs, by rowKey
}

// New returns a Service. EnsureBuckets must have run once on the database before the first request.
func New(d *db.DB, blobs *Blobs, media Media, cfg Config, now func() time.Time) *Service {
	return &Service{db: d, blobs: blobs, media: media, cfg: cfg, now: now, rows: files.NewRowCache(cfg.Content, func(o files.Object) int {
		const fixedBytes = 600 // estimate for ids, checksum, times and the entry itself
		return fixedBytes + 2*len(o.Name) + len(o.CacheControl)
	})}
}

// RowLookups returns the counts of hits and misses of the row cache.
func (s *Service) RowLookups() *content.Lookups { return s.rows.Lookups() }

// BlobCacheLookups returns how many requests for small public files, renditions included, found the bytes in memory, and how many did not.
func (s *Service) BlobCacheLookups() *content.Lookups { return &s.blobs.cache.lookups }

// checkUpload makes the checks of an upload that are possible before its first byte: the bucket exists, the caller may write to
// it, the name is valid and, without upsert, no object has the name. It returns the bucket.
func (s *Service) checkUpload(ctx context.Context, caller identity.Caller, bucketID, name string, upsert bool) (bucket, error) {
	b, err := s.writableBucket(ctx, caller, bucketID)
	if err == nil && !files.ValidName(name) {
		err = files.ErrInvalidKey(name)
	}
	if err == nil && !upsert {
		err = s.checkNameFree(ctx, bucketID, name)
	}
	return b, err
}

// checkNameFree returns errDuplicate if an object has the name.
func (s *Service) checkNameFree(ctx context.Context, bucketID, name string) error {
	_, err := findObject(ctx, s.db, bucketID, name)
	if err == nil {
		return errDuplicate
	}
	return db.NoRowsAs(err, nil)
}

// writableBucket returns a bucket if the caller may write to it. Errors: files.ErrNoBucket and errForbidden.
func (s *Service) writableBucket(ctx context.Context, caller identity.Caller, bucketID string) (bucket, error) {
	b, err := s.bucket(ctx, bucketID)
	if err == nil && !policy.Object(caller, bucketID, policy.FileWrite) {
		err = errForbidden
	}
	return b, err
}

func (s *Service) bucket(ctx context.Context, id string) (bucket, error) {
	b, err := findBucket(ctx, s.db, id)
	return b, db.NoRowsAs(err, files.ErrNoBucket)
}

// Sweep removes the files that a crash or a failed removal left without a row, and deletes the records of used upload tokens
// that have expired. It is to be called at start and from time to time.
func (s *Service) Sweep(ctx context.Context) error {
	return errors.Join(purgeTokens(ctx, s.db, s.now()), s.blobs.Sweep(ctx))
}
