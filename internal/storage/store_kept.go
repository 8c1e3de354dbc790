package storage

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file contains the queries on storage_kept, the table of kept objects: objects that were removed, replaced or moved while a row or a
// revision (a row as it was before a change) referred to their URLs. The owner can restore them.

// keptObject is a kept object.
type keptObject struct {
	ID, Bucket, Name string    // Bucket and Name are those that the object had
	RemovedAt        time.Time // when it was removed, replaced or moved
	Replaced         bool      // another object has that name now, or had it later and is kept too
}

// ensureKeptBucket creates keptBucket if it is missing.
func ensureKeptBucket(ctx context.Context, tx *db.Tx, now time.Time) error {
	return db.Exec(ctx, tx, "insert into storage_buckets (id, name, public, created_at, updated_at) values ($1, $1, $2, $3, $3) on conflict do nothing", keptBucket, false, now)
}

// insertKept records the bucket and name that the object with an id had until now.
func insertKept(ctx context.Context, tx *db.Tx, id, bucketID, name string, now time.Time) error {
	return db.Exec(ctx, tx, "insert into storage_kept (object_id, bucket_id, name, removed_at) values ($1, $2, $3, $4)", id, bucketID, name, now)
}

// findKeptAt returns the id of the kept object that had the bucket and name at the time at: the first object that was removed at that time
// or later. If there is none, the error is db.ErrNoRows.
func findKeptAt(ctx context.Context, q db.Querier, bucketID, name string, at time.Time) (string, error) {
	return db.One[string](ctx, q, "select object_id from storage_kept where bucket_id = $1 and name = $2 and removed_at >= $3 order by removed_at, object_id limit 1", bucketID, name, at)
}

// listOlderKept returns the ids of the kept objects that had the bucket and name, except for the newest skip objects. It returns at most
// maxNames ids.
func listOlderKept(ctx context.Context, q db.Querier, bucketID, name string, skip int) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select object_id from storage_kept where bucket_id = $1 and name = $2 order by removed_at desc, object_id limit $3 offset $4",
		bucketID, name, maxNames, skip)
}

// releaseKept sets RemovedAt of the kept objects that had the bucket and name to a time long ago, so that CollectKept can delete them
// without waiting.
func releaseKept(ctx context.Context, tx *db.Tx, bucketID, name string) error {
	return db.Exec(ctx, tx, "update storage_kept set removed_at = $3 where bucket_id = $1 and name = $2", bucketID, name, time.Unix(0, 0))
}

// replacedFile is a kept object that has been replaced: another object has its bucket and name now. At is when it was replaced.
type replacedFile struct {
	Bucket, Name string
	At           time.Time
}

// listReplaced returns the kept objects whose name another object has now.
func listReplaced(ctx context.Context, q db.Querier) ([]replacedFile, error) {
	return db.Collect(ctx, q, func(row db.Row) (f replacedFile, err error) {
		err = row.Scan(&f.Bucket, &f.Name, &f.At)
		return f, err
	}, "select k.bucket_id, k.name, k.removed_at from storage_kept k join storage_objects o on o.bucket_id = k.bucket_id and o.name = k.name")
}

// findKept returns the id of the object of that bucket and name that was removed most recently.
func findKept(ctx context.Context, q db.Querier, bucketID, name string) (string, error) {
	return db.One[string](ctx, q, "select object_id from storage_kept where bucket_id = $1 and name = $2 order by removed_at desc, object_id limit 1", bucketID, name)
}

// deleteKept deletes the record in storage_kept; the object itself stays.
func deleteKept(ctx context.Context, tx *db.Tx, objectID string) error {
	return db.Exec(ctx, tx, "delete from storage_kept where object_id = $1", objectID)
}

func listKept(ctx context.Context, q db.Querier) ([]keptObject, error) {
	return db.Collect(ctx, q, func(row db.Row) (k keptObject, err error) {
		err = row.Scan(&k.ID, &k.Bucket, &k.Name, &k.RemovedAt, &k.Replaced)
		return k, err
	}, `select k.object_id, k.bucket_id, k.name, k.removed_at, exists (select 1 from storage_objects o where o.bucket_id = k.bucket_id and o.name = k.name)
		or exists (select 1 from storage_kept later where later.bucket_id = k.bucket_id and later.name = k.name and later.removed_at > k.removed_at)
		from storage_kept k order by k.object_id`)
}
