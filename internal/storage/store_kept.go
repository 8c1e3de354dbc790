package storage

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file contains the queries on storage_kept, the table of kept objects: removed objects that a revision still refers to.

// keptObject is a kept object's id, and the bucket and name that it had.
type keptObject struct{ ID, Bucket, Name string }

// moveToKept moves an object into keptBucket, and records its bucket and name in storage_kept. In keptBucket its name is its id,
// so that several objects of one name can be kept. moveToKept creates the bucket if it is missing.
func moveToKept(ctx context.Context, tx *db.Tx, o files.Object, now time.Time) error {
	err := db.Exec(ctx, tx, "insert into storage_buckets (id, name, public, created_at, updated_at) values ($1, $1, $2, $3, $3) on conflict do nothing", keptBucket, false, now)
	if err != nil {
		return err
	}
	err = db.Exec(ctx, tx, "insert into storage_kept (object_id, bucket_id, name, removed_at) values ($1, $2, $3, $4)", o.ID, o.Bucket, o.Name, now)
	if err != nil {
		return err
	}
	return renameObject(ctx, tx, o.ID, keptBucket, o.ID, now)
}

// findKept returns the id of the object of that bucket and name that was removed last.
func findKept(ctx context.Context, q db.Querier, bucketID, name string) (string, error) {
	return db.One[string](ctx, q, "select object_id from storage_kept where bucket_id = $1 and name = $2 order by removed_at desc, object_id limit 1", bucketID, name)
}

// deleteKept deletes the record in storage_kept; the object itself stays.
func deleteKept(ctx context.Context, tx *db.Tx, objectID string) error {
	return db.Exec(ctx, tx, "delete from storage_kept where object_id = $1", objectID)
}

func listKept(ctx context.Context, q db.Querier) ([]keptObject, error) {
	return db.Collect(ctx, q, func(row db.Row) (k keptObject, err error) {
		err = row.Scan(&k.ID, &k.Bucket, &k.Name)
		return k, err
	}, "select object_id, bucket_id, name from storage_kept order by object_id")
}
