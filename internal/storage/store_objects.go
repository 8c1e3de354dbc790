package storage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
	"atelie/internal/policy"
)

// This file contains the queries on storage_objects, the table of objects.

// objectColumns are the columns of storage_objects, in the order in which scanObject reads them. etag has the SHA-256 of the public file.
const objectColumns = "id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, coalesce(cast(owner_id as text), ''), created_at, updated_at"

func scanObject(row db.Row) (o files.Object, err error) {
	err = row.Scan(&o.ID, &o.Bucket, &o.Name, &o.BlobID, &o.Size, &o.MimeType, &o.ETag, &o.CacheControl, &o.OwnerID, &o.CreatedAt, &o.UpdatedAt)
	return o, err
}

// findObject returns the object of a bucket with a name, or db.ErrNoRows.
func findObject(ctx context.Context, q db.Querier, bucketID, name string) (files.Object, error) {
	return scanObject(q.QueryRow(ctx, "select "+objectColumns+" from storage_objects where bucket_id = $1 and name = $2", bucketID, name))
}

// replacedObject is an object as it was before an upload replaced it.
type replacedObject struct {
	files.Object
	metadata *string // JSON text, or nil
}

// insertObject inserts the row of o, unless there is an object with the same bucket and name. metadata is JSON text or nil.
func insertObject(ctx context.Context, tx *db.Tx, o files.Object, metadata any) (inserted bool, err error) {
	return db.Changed(ctx, tx, `insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, owner_id, user_metadata, created_at, updated_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) on conflict (bucket_id, name) do nothing`,
		o.ID, o.Bucket, o.Name, o.BlobID, o.Size, o.MimeType, o.ETag, o.CacheControl, ownerColumn(o), metadata, o.CreatedAt, o.UpdatedAt)
}

// ownerColumn returns the value of owner_id, nil if the object has no owner.
func ownerColumn(o files.Object) any {
	if o.OwnerID == "" {
		return nil
	}
	return o.OwnerID
}

// maxAttempts is the maximum number of attempts of an operation that starts again if another request replaces or removes the object
// meanwhile.
const maxAttempts = 5

// saveObject inserts the row of o. metadata is JSON text or nil. If an object of that name exists, upsert decides:
//   - false: the error is errDuplicate.
//   - true: o replaces the old object, and gets its id and time of creation. replaced is the old object with its metadata.
func saveObject(ctx context.Context, tx *db.Tx, o *files.Object, metadata any, upsert bool) (replaced *replacedObject, err error) {
	for range maxAttempts { // tries again if another request removes the object between the two statements
		inserted, err := insertObject(ctx, tx, *o, metadata)
		if err != nil || inserted {
			return nil, err
		}
		if !upsert {
			return nil, errDuplicate
		}
		old := &replacedObject{}
		old.Object, err = lockObject(ctx, tx, o.Bucket, o.Name)
		if errors.Is(err, db.ErrNoRows) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if old.metadata, err = readMetadata(ctx, tx, old.ID); err != nil {
			return nil, err
		}
		o.ID, o.CreatedAt = old.ID, old.CreatedAt
		_, err = tx.Exec(ctx, `update storage_objects set blob_id = $2, size = $3, mime_type = $4, etag = $5, cache_control = $6, owner_id = $7, user_metadata = $8, updated_at = $9 where id = $1`,
			o.ID, o.BlobID, o.Size, o.MimeType, o.ETag, o.CacheControl, ownerColumn(*o), metadata, o.UpdatedAt)
		return old, err
	}
	return nil, fmt.Errorf("%s/%s keeps changing", o.Bucket, o.Name)
}

func deleteObject(ctx context.Context, tx *db.Tx, id string) error {
	return db.Exec(ctx, tx, "delete from storage_objects where id = $1", id)
}

// listOlderThan returns the objects that were last written before a time.
func listOlderThan(ctx context.Context, q db.Querier, before time.Time) ([]files.Object, error) {
	return db.Collect(ctx, q, scanObject, "select "+objectColumns+" from storage_objects where updated_at < $1 order by bucket_id, name", before)
}

// lockObject reads an object and locks its row until the transaction ends.
func lockObject(ctx context.Context, tx *db.Tx, bucketID, name string) (files.Object, error) {
	return scanObject(tx.QueryRow(ctx, "update storage_objects set name = name where bucket_id = $1 and name = $2 returning "+objectColumns, bucketID, name))
}

// renameObject gives an object another bucket and name. It fails with db.UniqueViolation if the new name is taken.
func renameObject(ctx context.Context, tx *db.Tx, id, bucketID, name string, at time.Time) error {
	if err := db.Exec(ctx, tx, "update storage_objects set bucket_id = $2, name = $3, updated_at = $4 where id = $1", id, bucketID, name, at); err != nil {
		return err
	}
	// Changes of private pictures change no page. One that leaves the bucket is like any other from then on.
	return db.Exec(ctx, tx, "update media set private = $2 where object_id = $1 and private <> $2", id, bucketID == policy.ConversationBucket)
}

// findMetadata returns an object and the metadata that came with its upload, JSON text or nil.
func findMetadata(ctx context.Context, q db.Querier, bucketID, name string) (o files.Object, metadata *string, err error) {
	err = q.QueryRow(ctx, "select "+objectColumns+", user_metadata from storage_objects where bucket_id = $1 and name = $2", bucketID, name).
		Scan(&o.ID, &o.Bucket, &o.Name, &o.BlobID, &o.Size, &o.MimeType, &o.ETag, &o.CacheControl, &o.OwnerID, &o.CreatedAt, &o.UpdatedAt, &metadata)
	return o, metadata, err
}

// readMetadata returns the metadata that came with an object's upload, JSON text or nil.
func readMetadata(ctx context.Context, q db.Querier, id string) (*string, error) {
	return db.One[*string](ctx, q, "select cast(user_metadata as text) from storage_objects where id = $1", id)
}

// findOriginal returns an object whose blob, size and ETag are those of the original: the file as it was uploaded. They differ
// from the public ones if the public file is a copy without metadata.
func findOriginal(ctx context.Context, q db.Querier, bucketID, name string) (files.Object, error) {
	return scanObject(q.QueryRow(ctx, `select o.id, bucket_id, name, coalesce(m.original_id, o.blob_id), coalesce(m.original_size, size), mime_type, coalesce(m.original_etag, etag),
		'private, no-store', coalesce(cast(owner_id as text), ''), o.created_at, o.updated_at from storage_objects o left join media m on m.object_id = o.id and m.blob_id = o.blob_id
		where bucket_id = $1 and name = $2`, bucketID, name))
}

// CountObjects returns the number of objects. It returns 0 for a database that has no tables yet.
func CountObjects(ctx context.Context, d *db.DB) (int64, error) {
	if exists, err := d.HasTable(ctx, "storage_objects"); err != nil || !exists {
		return 0, err
	}
	return db.One[int64](ctx, d, "select count(*) from storage_objects")
}

// NewestBlobs returns the blob ids of the newest objects, at most limit.
func NewestBlobs(ctx context.Context, d *db.DB, limit int) ([]string, error) {
	return db.Collect(ctx, d, db.ScanOne[string], "select blob_id from storage_objects order by created_at desc, id limit $1", limit)
}
