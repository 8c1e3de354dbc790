package storage

import (
	"context"

	"atelie/internal/db"
)

// storedFiles is the SQL of a subquery that lists all files to which rows refer: the blobs of objects, originals and renditions.
const storedFiles = `(select blob_id as id, bucket_id || '/' || name as object, etag, size from storage_objects
	union all select m.original_id, o.bucket_id || '/' || o.name || ', as it came', m.original_etag, m.original_size
		from media m join storage_objects o on o.id = m.object_id where m.original_id is not null
	union all select r.blob_id, o.bucket_id || '/' || o.name || ', ' || r.name, r.etag, r.size
		from media_renditions r join storage_objects o on o.id = r.object_id) as files`

// listStored returns at most limit files in the order of their blob ids: those with an id after afterID, or the first ones if
// afterID is "".
func listStored(ctx context.Context, q db.Querier, afterID string, limit int) ([]storedFile, error) {
	condition, args := "", []any{limit}
	if afterID != "" {
		condition, args = " where id > $2", append(args, afterID)
	}
	return db.Collect(ctx, q, func(row db.Row) (storedFile, error) {
		var f storedFile
		err := row.Scan(&f.BlobID, &f.Object, &f.SHA256, &f.Size)
		return f, err
	}, "select id, object, etag, size from "+storedFiles+condition+" order by id limit $1", args...)
}

// CountStored returns the number of stored files and their size in bytes, for blob ids up to upTo, or for all if upTo is "".
func CountStored(ctx context.Context, q db.Querier, upTo string) (files, bytes int64, err error) {
	condition, args := "", []any(nil)
	if upTo != "" {
		condition, args = " where id <= $1", []any{upTo}
	}
	err = q.QueryRow(ctx, "select count(*), cast(coalesce(sum(size), 0) as bigint) from "+storedFiles+condition, args...).Scan(&files, &bytes)
	return files, bytes, err
}

// IsStored reports whether a row refers to a blob.
func IsStored(ctx context.Context, q db.Querier, blobID string) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from "+storedFiles+" where id = $1)", blobID)
}
