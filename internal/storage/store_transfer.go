package storage

import (
	"context"

	"atelie/internal/db"
)

// listStored gives the next files in the order of their ids: behind one id, or from the first when it is empty.
func listStored(ctx context.Context, q db.Querier, after string, limit int) ([]storedFile, error) {
	condition, args := "", []any{limit}
	if after != "" {
		condition, args = "where blob_id > $2", append(args, after)
	}
	rows, err := q.Query(ctx, "select blob_id, bucket_id || '/' || name, etag, size from storage_objects "+condition+" order by blob_id limit $1", args...)
	if err != nil {
		return nil, err
	}
	return collect(rows, func() (storedFile, error) {
		var f storedFile
		err := rows.Scan(&f.BlobID, &f.Object, &f.SHA256, &f.Size)
		return f, err
	})
}

// CountStored counts the files of all objects and their bytes: up to a blob id, or all when it is empty.
func CountStored(ctx context.Context, q db.Querier, upTo string) (files, bytes int64, err error) {
	condition, args := "", []any(nil)
	if upTo != "" {
		condition, args = " where blob_id <= $1", []any{upTo}
	}
	err = q.QueryRow(ctx, "select count(*), cast(coalesce(sum(size), 0) as bigint) from storage_objects"+condition, args...).Scan(&files, &bytes)
	return files, bytes, err
}
