package storage

import (
	"context"
	"encoding/json"

	"atelie/internal/db"
)

// insertBucket makes a bucket, or fails with db.UniqueViolation.
func insertBucket(ctx context.Context, q db.Querier, b bucket) error {
	allowed, err := b.allowedText()
	if err != nil {
		return err
	}
	_, err = q.Exec(ctx, `insert into storage_buckets (id, name, public, file_size_limit, allowed_mime_types, created_at, updated_at, own_limits) values ($1, $2, $3, $4, $5, $6, $7, $8)`,
		b.ID, b.Name, b.Public, b.FileSizeLimit, allowed, b.CreatedAt, b.UpdatedAt, true)
	return err
}

// lockBucket reads a bucket and keeps it as it is until the transaction ends.
func lockBucket(ctx context.Context, tx *db.Tx, id string) (bucket, error) {
	if !storable(id) {
		return bucket{}, db.ErrNoRows
	}
	return scanBucket(tx.QueryRow(ctx, "update storage_buckets set name = name where id = $1 returning "+bucketColumns, id))
}

// updateBucket writes what the owner has set; from then on the program's own settings leave the bucket alone.
func updateBucket(ctx context.Context, tx *db.Tx, b bucket) error {
	allowed, err := b.allowedText()
	if err != nil {
		return err
	}
	_, err = tx.Exec(ctx, "update storage_buckets set public = $2, file_size_limit = $3, allowed_mime_types = $4, updated_at = $5, own_limits = $6 where id = $1",
		b.ID, b.Public, b.FileSizeLimit, allowed, b.UpdatedAt, true)
	return err
}

// deleteBucket fails with db.ForeignKeyViolation while objects lie in it.
func deleteBucket(ctx context.Context, q db.Querier, id string) error {
	_, err := q.Exec(ctx, "delete from storage_buckets where id = $1", id)
	return err
}

func (b bucket) allowedText() (any, error) {
	if b.AllowedMimeTypes == nil {
		return nil, nil
	}
	text, err := json.Marshal(b.AllowedMimeTypes)
	return string(text), err
}

// listNames gives names of a bucket in order, those that follow after.
func listNames(ctx context.Context, q db.Querier, bucketID, after string, limit int) ([]string, error) {
	rows, err := q.Query(ctx, "select name from storage_objects where bucket_id = $1 and name > $2 order by name limit $3", bucketID, after, limit)
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (name string, err error) { return name, rows.Scan(&name) })
}
