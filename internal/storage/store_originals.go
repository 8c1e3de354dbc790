package storage

import (
	"context"
	"encoding/json"

	"atelie/internal/db"
)

// This file contains the queries of Originals and OwnBuckets, which read the files and buckets for an archive.

// listOriginals returns the originals (the files as they were uploaded) of all objects, without the kept objects in keptBucket. If the
// public file of an object is a copy without metadata, the table media has its original. If not, the public file is the original. The
// columns etag and original_etag have the SHA-256 of the files.
func listOriginals(ctx context.Context, q db.Querier) ([]Original, error) {
	return db.Collect(ctx, q, func(row db.Row) (o Original, err error) {
		var (
			metadata       *string
			focusX, focusY *float64
		)
		err = row.Scan(&o.Bucket, &o.Name, &o.BlobID, &o.SHA256, &o.Size, &o.CacheControl, &metadata, &focusX, &focusY, &o.PublicIsStripped)
		if metadata != nil {
			o.Metadata = json.RawMessage(*metadata)
		}
		if focusX != nil && focusY != nil {
			o.Focus = &[2]float64{*focusX, *focusY}
		}
		return o, err
	}, `select o.bucket_id, o.name, coalesce(m.original_id, o.blob_id), coalesce(m.original_etag, o.etag), coalesce(m.original_size, o.size), o.cache_control,
		cast(o.user_metadata as text), m.focus_x, m.focus_y, m.original_id is not null
		from storage_objects o left join media m on m.object_id = o.id and m.blob_id = o.blob_id where o.bucket_id <> $1`, keptBucket)
}

// listOwnBuckets returns the buckets that the owner has created or whose settings the owner has changed, without keptBucket.
func listOwnBuckets(ctx context.Context, q db.Querier) ([]bucket, error) {
	return db.Collect(ctx, q, scanBucket, "select "+bucketColumns+" from storage_buckets where own_limits and id <> $1 order by id", keptBucket)
}
