// Package storage is the files surface (/storage/v1): three public buckets whose objects the owner uploads, lists and
// removes, and anyone gets by public address. The rows are in the database, the bytes in package blob.
package storage

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/identity"
	"atelie/internal/jobs"
	"atelie/internal/policy"
	"atelie/internal/storage/blob"
)

// Config is what the owner sets. MaxUpload is the largest file in bytes; pictures have their own, smaller limit. Quota
// is how many bytes all files together may have, 0 for no limit: what was uploaded counts, cleaned copies and
// renditions do not. SignKey signs addresses and nothing else.
type Config struct {
	MaxUpload int64
	Quota     int64
	SignKey   []byte

	// Engine makes renditions, in jobs that stand in Jobs and when somebody asks. Without it there are none.
	Engine Engine
	Jobs   *jobs.Queue
	// Scratch is the folder for files that are being worked on; empty is the system's.
	Scratch string
	// Lazy is how many bytes the renditions may have that were made because somebody asked; 0 is 2 GB.
	Lazy int64
}

// Service answers the calls of the files surface.
type Service struct {
	db     *db.DB
	blobs  blob.Store
	cfg    Config
	now    func() time.Time
	turns  turns
	cache  cache
	probes *semaphore.Weighted
	// cleaners bounds how many pictures are cleaned at a time: a batch of uploads must leave the site a processor.
	cleaners *semaphore.Weighted

	refusals refusals
}

// New makes the service. EnsureBuckets must have run on the database once.
func New(d *db.DB, blobs blob.Store, cfg Config, now func() time.Time) *Service {
	if cfg.Lazy == 0 {
		cfg.Lazy = 2 << 30
	}
	return &Service{db: d, blobs: blobs, cfg: cfg, now: now, probes: semaphore.NewWeighted(maxProbes), cleaners: semaphore.NewWeighted(int64(max(1, runtime.GOMAXPROCS(0)/2)))}
}

// Object is a stored file as its row tells. ETag is the content's SHA-256 in hexadecimal digits, without quotes; Size
// is in bytes; OwnerID is empty when no person uploaded it.
type Object struct {
	ID           string
	Bucket       string
	Name         string
	BlobID       string
	Size         int64
	MimeType     string
	ETag         string
	CacheControl string
	OwnerID      string
	CreatedAt    time.Time
	UpdatedAt    time.Time
}

// PutOptions go with an upload. CacheControl is the header that the file will be served with, an hour when empty.
// Metadata is any JSON object, or nil.
type PutOptions struct {
	Upsert       bool
	CacheControl string
	Metadata     map[string]any

	also func(context.Context, *db.Tx) error // joins the transaction that saves the row; may be nil
}

// Put stores a file as the upload endpoint does. size is the body's length in bytes when it is known, else -1. When
// Put returns nil, file and row are on disk. Errors are the contract's own.
func (s *Service) Put(ctx context.Context, caller identity.Caller, bucket, name string, body io.Reader, size int64, opts PutOptions) (Object, error) {
	b, err := s.mayPut(ctx, caller, bucket, name, opts.Upsert)
	if err != nil {
		return Object{}, err
	}
	return s.put(ctx, caller, b, name, body, size, opts.Upsert, func() (PutOptions, error) { return opts, nil })
}

// mayPut answers what can be answered before the first byte has arrived, and gives the bucket.
func (s *Service) mayPut(ctx context.Context, caller identity.Caller, bucketID, name string, upsert bool) (bucket, error) {
	b, err := s.mayWrite(ctx, caller, bucketID)
	if err != nil {
		return bucket{}, err
	}
	if !validName(name) {
		return bucket{}, errInvalidKey(name)
	}
	if upsert {
		return b, nil
	}
	return b, s.free(ctx, bucketID, name)
}

// free refuses a name that an object has.
func (s *Service) free(ctx context.Context, bucketID, name string) error {
	_, err := findObject(ctx, s.db, bucketID, name)
	switch {
	case err == nil:
		return errDuplicate
	case errors.Is(err, db.ErrNoRows):
		return nil
	}
	return err
}

func (s *Service) mayWrite(ctx context.Context, caller identity.Caller, bucketID string) (bucket, error) {
	b, err := s.bucket(ctx, bucketID)
	if err != nil {
		return bucket{}, err
	}
	if !policy.Object(caller, bucketID, policy.FileWrite) {
		return bucket{}, errForbidden
	}
	return b, nil
}

func (s *Service) bucket(ctx context.Context, id string) (bucket, error) {
	b, err := findBucket(ctx, s.db, id)
	if errors.Is(err, db.ErrNoRows) {
		return bucket{}, errNoBucket
	}
	return b, err
}

// saveTime is how long the row may take once the file is complete. The request's own context no longer counts then:
// a visitor who leaves in that moment has uploaded the file.
const saveTime = 30 * time.Second

// put takes the file in, then its options, which in a form may come after the file, then saves the row. Whatever
// happens, no row exists without its complete file, and no file is forgotten without a row (see storage_trash).
func (s *Service) put(ctx context.Context, caller identity.Caller, b bucket, name string, body io.Reader, size int64, upsert bool, options func() (PutOptions, error)) (Object, error) {
	room, err := s.room(ctx, b.ID, name)
	if err != nil {
		return Object{}, err
	}
	kind, in, err := s.takeIn(b, name, body, size, room)
	if err != nil {
		return Object{}, err
	}
	o := Object{ID: uuid.NewString(), Bucket: b.ID, Name: name, BlobID: uuid.NewString(), MimeType: kind.mime, OwnerID: ownerID(caller)}
	// Before the first byte is stored, or a crash could leave a file that nothing knows of.
	if err := insertTrash(ctx, s.db, o.BlobID, s.now()); err != nil {
		return Object{}, in.explain(err)
	}
	var (
		metadata any
		also     func(context.Context, *db.Tx) error
		look     *looked
	)
	defer func() { look.close() }()
	info, err := s.blobs.Put(ctx, o.BlobID, &noted{ctx: ctx, s: s, blobID: o.BlobID, since: s.now(), body: in}, func(f io.ReadSeeker) error {
		if size >= 0 && in.read != size {
			return errCutShort.Becausef("%d bytes of %d", in.read, size)
		}
		var err error
		if look, err = s.lookAt(ctx, f, b, kind); err != nil {
			return err
		}
		opts, err := options()
		if err != nil {
			return err
		}
		if o.CacheControl, err = cacheControl(opts.CacheControl); err != nil {
			return err
		}
		also = opts.also
		metadata, err = encodeMetadata(opts.Metadata)
		return err
	})
	if err != nil {
		s.removeFile(context.WithoutCancel(ctx), o.BlobID)
		return Object{}, in.explain(err)
	}
	o.Size, o.ETag = info.Size, info.SHA256
	p, err := s.publish(ctx, &o, look)
	if err != nil {
		s.removeFile(context.WithoutCancel(ctx), o.BlobID)
		return Object{}, err
	}
	return s.save(ctx, o, metadata, saving{upsert: upsert, also: also, picture: p})
}

// saving is how a stored file gets its row.
type saving struct {
	upsert bool
	also   func(context.Context, *db.Tx) error // runs in the same transaction; or nil
	keep   bool                                // the file stays when the row is refused: its upload still knows it

	picture *seen // what the file shows; nil when it is none
}

// blobs are the files that the row refers to: first the one that arrived.
func (how saving) blobs(o Object) []string {
	if how.picture != nil && how.picture.original != nil {
		return []string{how.picture.original.BlobID, o.BlobID}
	}
	return []string{o.BlobID}
}

// save gives a stored file its row, and strikes its note out.
func (s *Service) save(ctx context.Context, o Object, metadata any, how saving) (Object, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTime)
	defer cancel()
	o.UpdatedAt = s.now().UTC().Truncate(time.Microsecond)
	o.CreatedAt = o.UpdatedAt
	committing := false
	saved := o
	err := s.db.WithTx(ctx, func(tx *db.Tx) error {
		committing, saved = false, o
		replaced, err := saveObject(ctx, tx, &saved, metadata, how.upsert)
		if db.IsConstraint(err, db.ForeignKeyViolation) {
			return errNoBucket.Because(err) // deleted meanwhile
		}
		if err != nil {
			return err
		}
		if how.also != nil {
			if err := how.also(ctx, tx); err != nil {
				return err
			}
		}
		if replaced != "" {
			if err := s.discardMedia(ctx, tx, saved.ID); err != nil {
				return err
			}
			if err := s.discard(ctx, tx, replaced); err != nil {
				return err
			}
		}
		if how.picture != nil {
			if err := s.addMedia(ctx, tx, saved, how.picture); err != nil {
				return err
			}
		}
		for _, id := range how.blobs(o) {
			if err := deleteTrash(ctx, tx, id); err != nil {
				return err
			}
		}
		if err := s.checkQuota(ctx, tx); err != nil { // last: its lock lets no upload wait for another's row
			return err
		}
		committing = true
		return nil
	})
	if err != nil {
		// When the commit itself failed it may have happened all the same: then the file waits for Sweep, which asks.
		if !committing {
			for i, id := range how.blobs(o) {
				if i > 0 || !how.keep {
					s.removeFile(ctx, id)
				}
			}
		}
		return Object{}, err
	}
	return saved, nil
}

// renewNote is how often a running upload renews its note, so that Sweep never takes it for a forgotten one.
const renewNote = sweepAge / 4

// noted reads an upload's bytes and renews the note of its file in storage_trash.
type noted struct {
	ctx    context.Context // io.Reader has no other way to take one
	s      *Service
	blobID string
	since  time.Time
	body   io.Reader
}

func (n *noted) Read(p []byte) (int, error) {
	if now := n.s.now(); now.Sub(n.since) > renewNote {
		if err := renewTrash(n.ctx, n.s.db, n.blobID, now); err != nil {
			return 0, err
		}
		n.since = now
	}
	return n.body.Read(p)
}

// takeIn looks at the first bytes and returns the type they show and the rest of the way into the store, limited to
// what that type may weigh in this bucket, and to the room that is left.
func (s *Service) takeIn(b bucket, name string, body io.Reader, size, room int64) (*fileType, *intake, error) {
	limit := s.sizeLimit(b)
	in := &intake{left: limit, over: errTooLarge}
	if size > limit {
		return nil, nil, errTooLarge.Becausef("%d bytes of at most %d", size, limit)
	}
	r := bufio.NewReaderSize(body, 64<<10)
	in.body = r
	head, err := r.Peek(sniffLength)
	if err != nil && !errors.Is(err, io.EOF) {
		in.err = err
		return nil, nil, in.explain(err)
	}
	if len(head) == 0 {
		return nil, nil, errNoContent
	}
	kind := detect(head)
	if kind == nil {
		return nil, nil, errTypeRefused(http.DetectContentType(head))
	}
	if err := s.decodable(kind); err != nil {
		return nil, nil, err
	}
	if err := admit(b, kind, name); err != nil {
		return nil, nil, err
	}
	if kind.isImage() {
		in.left = min(in.left, maxImageBytes)
	}
	if room < in.left {
		in.left, in.over = room, errQuota
	}
	if size > in.left {
		return nil, nil, in.over.Becausef("%d bytes of at most %d", size, in.left)
	}
	return kind, in, nil
}

// decodable refuses pictures that nobody could be shown: those of a type without a cleaner that no engine here reads.
func (s *Service) decodable(kind *fileType) error {
	switch {
	case !kind.hidden || s.cfg.Engine != nil && s.cfg.Engine.Takes(kind.mime):
		return nil
	case kind == heicType:
		return errHEIC
	}
	return errTypeRefused(kind.mime)
}

// admit tells whether a bucket takes a type under a name.
func admit(b bucket, kind *fileType, name string) error {
	switch {
	case !b.allows(kind.mime):
		return errTypeRefused(kind.mime)
	case !kind.fits(name):
		return errWrongExtension(kind.mime)
	}
	return nil
}

// sizeLimit is what one file in the bucket may weigh, in bytes.
func (s *Service) sizeLimit(b bucket) int64 {
	if b.FileSizeLimit == nil {
		return s.cfg.MaxUpload
	}
	return min(s.cfg.MaxUpload, *b.FileSizeLimit)
}

// intake reads an upload's bytes up to a limit, and remembers what went wrong on the sender's side.
type intake struct {
	body io.Reader
	left int64
	read int64
	over *apperr.Error // when more than left comes
	err  error
}

func (i *intake) Read(p []byte) (int, error) {
	if i.err != nil {
		return 0, i.err
	}
	if int64(len(p)) > i.left+1 {
		p = p[:i.left+1]
	}
	n, err := i.body.Read(p)
	i.read += int64(n)
	if i.left -= int64(n); i.left < 0 {
		err = i.over
	}
	if err != nil && !errors.Is(err, io.EOF) {
		i.err = err
	}
	return n, err
}

// explain tells the sender's faults from ours: a body that breaks off is a 400, a full disk is not.
func (i *intake) explain(err error) error {
	var (
		known    *apperr.Error
		tooLarge *http.MaxBytesError
	)
	switch {
	case errors.As(err, &known):
		return err
	case errors.As(err, &tooLarge):
		return errTooLarge.Because(err)
	case i.err != nil && errors.Is(err, i.err), errors.Is(err, context.Canceled):
		return errCutShort.Because(err)
	}
	return err
}

func ownerID(c identity.Caller) string {
	if u, err := uuid.Parse(c.UserID); err == nil {
		return u.String()
	}
	return ""
}

// discard notes inside a transaction that a file is no longer referred to, and removes it once that is certain.
func (s *Service) discard(ctx context.Context, tx *db.Tx, blobID string) error {
	tx.AfterCommit(func() { s.removeFile(context.WithoutCancel(ctx), blobID) })
	return insertTrash(ctx, tx, blobID, s.now())
}

// removeFile removes a file that stands in storage_trash. When it fails, Sweep tries again.
func (s *Service) removeFile(ctx context.Context, blobID string) {
	err := s.blobs.Delete(ctx, blobID)
	if err == nil {
		err = deleteTrash(ctx, s.db, blobID)
	}
	if err != nil {
		slog.WarnContext(ctx, "file not removed, will be tried again", "blob", blobID, "cause", err)
	}
}

// sweepAge keeps Sweep away from files that another process is about to give a row.
const sweepAge = time.Hour

// Sweep removes the files that a crash or a failed removal left without a row, and forgets upload addresses that have
// ended. Call it at start and now and then.
func (s *Service) Sweep(ctx context.Context) error {
	if err := forgetTokens(ctx, s.db, s.now()); err != nil {
		return err
	}
	if err := s.sweepScratch(); err != nil {
		return err
	}
	blobs, err := listTrash(ctx, s.db, s.now().Add(-sweepAge))
	if err != nil {
		return err
	}
	for _, id := range blobs {
		used, err := blobIsUsed(ctx, s.db, id)
		if err != nil {
			return err
		}
		if !used {
			if err := s.blobs.Delete(ctx, id); err != nil {
				return err
			}
		}
		if err := deleteTrash(ctx, s.db, id); err != nil {
			return err
		}
	}
	return nil
}

// sweepScratch removes what a killed process left of the pictures that it was working on.
func (s *Service) sweepScratch() error {
	if s.cfg.Scratch == "" {
		return nil
	}
	entries, err := os.ReadDir(s.cfg.Scratch)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if info, err := e.Info(); err != nil || s.now().Sub(info.ModTime()) < sweepAge {
			continue // gone already, or another node's
		}
		if err := os.RemoveAll(filepath.Join(s.cfg.Scratch, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// defaultCacheControl is the client's own default, an hour.
const defaultCacheControl = "max-age=3600"

// Directives of a response (RFC 9111 §5.2.2, RFC 5861, RFC 8246) that a file may be served with; true: takes seconds.
var cacheDirectives = map[string]bool{
	"max-age": true, "s-maxage": true, "stale-while-revalidate": true, "stale-if-error": true,
	"public": false, "private": false, "no-cache": false, "no-store": false, "no-transform": false,
	"must-revalidate": false, "proxy-revalidate": false, "immutable": false,
}

// cacheControl checks a Cache-Control header that will be sent to visitors.
func cacheControl(value string) (string, error) {
	if strings.TrimSpace(value) == "" {
		return defaultCacheControl, nil
	}
	directives := strings.Split(value, ",")
	if len(directives) > len(cacheDirectives) {
		return "", errBadCache.Becausef("%d directives", len(directives))
	}
	for i, d := range directives {
		name, seconds, hasSeconds := strings.Cut(strings.ToLower(strings.TrimSpace(d)), "=")
		takesSeconds, known := cacheDirectives[name]
		if !known || takesSeconds != hasSeconds || (hasSeconds && !isSeconds(seconds)) {
			return "", errBadCache.Becausef("%q", value)
		}
		directives[i] = name
		if hasSeconds {
			directives[i] += "=" + seconds
		}
	}
	return strings.Join(directives, ", "), nil
}

// isSeconds accepts what fits 31 bits, the largest delta that caches must understand (RFC 9111 §1.2.2).
func isSeconds(s string) bool {
	return s != "" && len(s) <= 10 && strings.Trim(s, "0123456789") == "" && (len(s) < 10 || s <= "2147483648")
}

// Limits of an upload's metadata. PostgreSQL's JSON cannot hold U+0000, and SQLite's is only text.
const (
	maxMetadataBytes = 1 << 20
	maxMetadataDepth = 32
)

// encodeMetadata gives the JSON text for the row, or nil.
func encodeMetadata(m map[string]any) (any, error) {
	if m == nil {
		return nil, nil
	}
	if !plainJSON(m, maxMetadataDepth) {
		return nil, errBadMetadata.Becausef("too deep, or with U+0000")
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil, errBadMetadata.Because(err)
	}
	if len(text) > maxMetadataBytes {
		return nil, errTooLarge.Becausef("metadata of %d bytes", len(text))
	}
	return string(text), nil
}

func plainJSON(v any, depth int) bool {
	switch v := v.(type) {
	case string:
		return !strings.ContainsRune(v, 0)
	case []any:
		return depth > 0 && !slices.ContainsFunc(v, func(e any) bool { return !plainJSON(e, depth-1) })
	case map[string]any:
		for key, e := range v {
			if depth == 0 || strings.ContainsRune(key, 0) || !plainJSON(e, depth-1) {
				return false
			}
		}
	}
	return true
}

// decodeMetadata reads a JSON object.
func decodeMetadata(text []byte) (map[string]any, error) {
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		return nil, errBadMetadata.Because(err)
	}
	return m, nil
}

// isoTime is how this surface prints times, in UTC and milliseconds.
func isoTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// fileMetadata describes the bytes as the client's type FileMetadata does.
type fileMetadata struct {
	ETag           string `json:"eTag"`
	Size           int64  `json:"size"`
	MimeType       string `json:"mimetype"`
	CacheControl   string `json:"cacheControl"`
	LastModified   string `json:"lastModified"`
	ContentLength  int64  `json:"contentLength"`
	HTTPStatusCode int    `json:"httpStatusCode"`
}

func (o *Object) metadata() *fileMetadata {
	return &fileMetadata{quoted(o.ETag), o.Size, o.MimeType, o.CacheControl, isoTime(o.UpdatedAt), o.Size, http.StatusOK}
}

func quoted(etag string) string { return `"` + etag + `"` }
