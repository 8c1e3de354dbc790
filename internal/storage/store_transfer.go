package storage

import (
	"context"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file contains the queries on the rows of all stored files: objects, originals and renditions. Transfer copies these files.

// listStored returns at most limit files in the order of their blob ids: the files with an id after afterID, or the first files if
// afterID is "".
func listStored(ctx context.Context, q db.Querier, afterID string, limit int) ([]storedFile, error) {
	condition, args := "", []any{limit}
	if afterID != "" {
		condition, args = " where id > $2", append(args, afterID)
	}
	return db.Collect(ctx, q, func(row db.Row) (f storedFile, err error) {
		err = row.Scan(&f.BlobID, &f.Object, &f.SHA256, &f.Size)
		return f, err
	}, "select id, name, etag, size from "+files.StoredFiles+condition+" order by id limit $1", args...)
}

// CountStored returns the number of stored files and their size in bytes, for blob ids up to upTo, or for all if upTo is "".
func CountStored(ctx context.Context, q db.Querier, upTo string) (count, bytes int64, err error) {
	condition, args := "", []any(nil)
	if upTo != "" {
		condition, args = " where id <= $1", []any{upTo}
	}
	err = q.QueryRow(ctx, "select count(*), cast(coalesce(sum(size), 0) as bigint) from "+files.StoredFiles+condition, args...).Scan(&count, &bytes)
	return count, bytes, err
}

// IsStored reports whether a row refers to a blob.
func IsStored(ctx context.Context, q db.Querier, blobID string) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from "+files.StoredFiles+" where id = $1)", blobID)
}
