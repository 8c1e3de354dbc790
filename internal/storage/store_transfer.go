package storage

import (
	"context"

	"atelie/internal/db"
)

// stored are all files that a row tells of: objects, pictures as they came, and renditions.
const stored = `(select blob_id as id, bucket_id || '/' || name as object, etag, size from storage_objects
	union all select m.original_id, o.bucket_id || '/' || o.name || ', as it came', m.original_etag, m.original_size
		from media m join storage_objects o on o.id = m.object_id where m.original_id is not null
	union all select r.blob_id, o.bucket_id || '/' || o.name || ', ' || r.name, r.etag, r.size
		from media_renditions r join storage_objects o on o.id = r.object_id) as files`

// listStored gives the next files in the order of their ids: behind one id, or from the first when it is empty.
func listStored(ctx context.Context, q db.Querier, after string, limit int) ([]storedFile, error) {
	condition, args := "", []any{limit}
	if after != "" {
		condition, args = " where id > $2", append(args, after)
	}
	rows, err := q.Query(ctx, "select id, object, etag, size from "+stored+condition+" order by id limit $1", args...)
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
		condition, args = " where id <= $1", []any{upTo}
	}
	err = q.QueryRow(ctx, "select count(*), cast(coalesce(sum(size), 0) as bigint) from "+stored+condition, args...).Scan(&files, &bytes)
	return files, bytes, err
}
