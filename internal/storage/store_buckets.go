package storage

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/policy"
)

// This file contains the queries on storage_buckets, the table of buckets.

// bucket is a row of storage_buckets.
type bucket struct {
	ID               string
	Name             string
	Public           bool     // anyone may read the objects
	FileSizeLimit    *int64   // in bytes; nil means that only Config.MaxUpload applies
	AllowedMimeTypes []string // nil means all types of package files
	CreatedAt        time.Time
	UpdatedAt        time.Time
}

// bucketColumns are the columns of storage_buckets, in the order in which scanBucket reads them.
const bucketColumns = "id, name, public, file_size_limit, allowed_mime_types, created_at, updated_at"

func scanBucket(row db.Row) (bucket, error) {
	var (
		b       bucket
		allowed *string
	)
	if err := row.Scan(&b.ID, &b.Name, &b.Public, &b.FileSizeLimit, &allowed, &b.CreatedAt, &b.UpdatedAt); err != nil {
		return bucket{}, err
	}
	if allowed != nil {
		if err := json.Unmarshal([]byte(*allowed), &b.AllowedMimeTypes); err != nil {
			return bucket{}, fmt.Errorf("allowed_mime_types of %s: %w", b.ID, err)
		}
	}
	return b, nil
}

// findBucket returns the bucket with an id, or db.ErrNoRows.
func findBucket(ctx context.Context, q db.Querier, id string) (bucket, error) {
	if !files.Storable(id) {
		return bucket{}, db.ErrNoRows
	}
	return scanBucket(q.QueryRow(ctx, "select "+bucketColumns+" from storage_buckets where id = $1", id))
}

// bucketPage selects and orders the buckets that listBuckets returns.
type bucketPage struct {
	Column        string // the column of the order: one of bucketSorts
	Descending    bool
	Search        string // only buckets whose names contain this text
	Private       bool   // true: private buckets are listed too
	Limit, Offset int64
}

// bucketSorts are the columns by which buckets can be sorted.
var bucketSorts = []string{"id", "name", "created_at", "updated_at"}

// listBuckets returns a page of buckets. It leaves out the program's own buckets for kept objects and for conversations.
func listBuckets(ctx context.Context, q db.Querier, p bucketPage) ([]bucket, error) {
	return db.Collect(ctx, q, scanBucket, "select "+bucketColumns+" from storage_buckets where lower(name) like $1 escape '\\' and (public or $4) "+
		"and id not in ('"+keptBucket+"', '"+policy.ConversationBucket+"') order by "+p.Column+direction(p.Descending)+", id limit $2 offset $3",
		"%"+likeText(p.Search)+"%", p.Limit, p.Offset, p.Private)
}

// ensureBucket creates a bucket of the site, or sets the limits of an existing one unless the owner has changed them.
func ensureBucket(ctx context.Context, q db.Querier, b bucket) error {
	allowed := b.allowedText()
	// "on conflict" names no column, because nodes that start at the same time can conflict on the id or on the name.
	if _, err := q.Exec(ctx, "insert into storage_buckets (id, name, public, file_size_limit, allowed_mime_types, created_at, updated_at) values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing",
		b.ID, b.Name, b.Public, *b.FileSizeLimit, allowed, b.CreatedAt, b.UpdatedAt); err != nil {
		return err
	}
	return db.Exec(ctx, q, `update storage_buckets set public = $2, file_size_limit = $3, allowed_mime_types = $4, updated_at = $5
		where id = $1 and not own_limits and (public <> $2 or coalesce(file_size_limit, -1) <> $3 or allowed_mime_types is null or allowed_mime_types <> $4)`,
		b.ID, b.Public, *b.FileSizeLimit, allowed, b.UpdatedAt)
}

// insertBucket creates a bucket of the owner. It fails with db.UniqueViolation if the id or the name is taken.
func insertBucket(ctx context.Context, q db.Querier, b bucket) error {
	return db.Exec(ctx, q, `insert into storage_buckets (id, name, public, file_size_limit, allowed_mime_types, created_at, updated_at, own_limits) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		b.ID, b.Name, b.Public, b.FileSizeLimit, b.allowedText(), b.CreatedAt, b.UpdatedAt, true)
}

// lockBucket reads a bucket and locks its row until the transaction ends.
func lockBucket(ctx context.Context, tx *db.Tx, id string) (bucket, error) {
	if !files.Storable(id) {
		return bucket{}, db.ErrNoRows
	}
	return scanBucket(tx.QueryRow(ctx, "update storage_buckets set name = name where id = $1 returning "+bucketColumns, id))
}

// updateBucket saves the settings of the owner. From then on ensureBucket leaves the bucket as it is.
func updateBucket(ctx context.Context, tx *db.Tx, b bucket) error {
	return db.Exec(ctx, tx, "update storage_buckets set public = $2, file_size_limit = $3, allowed_mime_types = $4, updated_at = $5, own_limits = $6 where id = $1",
		b.ID, b.Public, b.FileSizeLimit, b.allowedText(), b.UpdatedAt, true)
}

// deleteBucket deletes a bucket. It fails with db.ForeignKeyViolation if the bucket has objects.
func deleteBucket(ctx context.Context, q db.Querier, id string) error {
	return db.Exec(ctx, q, "delete from storage_buckets where id = $1", id)
}

// allowedText returns AllowedMimeTypes as JSON text for the row, or nil.
func (b bucket) allowedText() any {
	if b.AllowedMimeTypes == nil {
		return nil
	}
	text, _ := json.Marshal(b.AllowedMimeTypes) // cannot fail for strings
	return string(text)
}
