package storage

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file reads the uploaded files and the buckets of a site for the atelie export command, which writes them into an archive (a zip
// file). It also stores the files and buckets of an archive for the atelie import command.

// Original is the file of an object as it was uploaded.
type Original struct {
	Bucket, Name, BlobID string
	SHA256               string // in hexadecimal digits
	Size                 int64  // in bytes
	CacheControl         string
	Metadata             json.RawMessage // the JSON object that came with the upload, or nil
	Focus                *[2]float64     // focus point as fractions of the picture's width and height, or nil if not set
	PublicIsStripped     bool            // visitors get a copy of the file without embedded metadata, such as EXIF
}

// Originals lists the original files of all objects, ordered by bucket and name. It leaves out kept objects (removed or replaced ones that
// the owner, an account with the role admin, can restore). It sorts in Go, so that the order is the same on SQLite and PostgreSQL.
func Originals(ctx context.Context, q db.Querier) ([]Original, error) {
	all, err := listOriginals(ctx, q)
	slices.SortFunc(all, func(a, b Original) int {
		return cmp.Or(cmp.Compare(a.Bucket, b.Bucket), cmp.Compare(a.Name, b.Name))
	})
	return all, err
}

// PutOriginal stores a file of an imported archive, with the same checks as an upload. It uses only the fields Bucket, Name, Size,
// CacheControl and Metadata of o. The error is an *apperr.Error if the file is refused.
func (s *Service) PutOriginal(ctx context.Context, o Original, body io.Reader) error {
	opts := PutOptions{CacheControl: o.CacheControl}
	if len(o.Metadata) > 0 {
		if err := json.Unmarshal(o.Metadata, &opts.Metadata); err != nil {
			return errBadMetadata.Because(err)
		}
	}
	_, err := s.Put(ctx, identity.Caller{Role: identity.Service}, o.Bucket, o.Name, body, o.Size, opts)
	return err
}

// BucketSettings are the settings of a bucket.
type BucketSettings struct {
	ID               string   `json:"id"`
	Public           bool     `json:"public"`
	FileSizeLimit    *int64   `json:"file_size_limit"`    // in bytes; nil means no limit
	AllowedMimeTypes []string `json:"allowed_mime_types"` // nil means all types
}

// OwnBuckets lists the buckets that the owner has created or whose settings the owner has changed, ordered by id.
func OwnBuckets(ctx context.Context, q db.Querier) ([]BucketSettings, error) {
	buckets, err := listOwnBuckets(ctx, q)
	settings := make([]BucketSettings, len(buckets))
	for i, b := range buckets {
		settings[i] = BucketSettings{b.ID, b.Public, b.FileSizeLimit, b.AllowedMimeTypes}
	}
	return settings, err
}

// SaveBucket creates a bucket with these settings, or changes the settings of a bucket that exists. The rules are those of
// CreateBucket and UpdateBucket. The error is an *apperr.Error if a setting is refused, such as a limit above the largest upload
// of this server.
func (s *Service) SaveBucket(ctx context.Context, settings BucketSettings) error {
	if !isValidBucketName(settings.ID) {
		return errBucketName.Becausef("%q", settings.ID)
	}
	text, _ := json.Marshal(settings) // cannot fail: it has only texts, a number and a boolean
	var req bucketRequest
	if err := json.Unmarshal(text, &req); err != nil {
		return err
	}
	now := s.now().UTC().Truncate(time.Microsecond)
	return s.db.WithTx(ctx, func(tx *db.Tx) error {
		b, err := lockBucket(ctx, tx, settings.ID)
		isMissing := errors.Is(err, db.ErrNoRows)
		if err != nil && !isMissing {
			return err
		}
		if isMissing {
			b = bucket{ID: settings.ID, Name: settings.ID, CreatedAt: now}
		}
		b.UpdatedAt = now
		if err := req.apply(&b, s.cfg.MaxUpload); err != nil {
			return err
		}
		switch {
		case b.hasWrongAccess():
			return errBucketFixed
		case isMissing:
			return insertBucket(ctx, tx, b)
		}
		return updateBucket(ctx, tx, b)
	})
}
