package storage

import (
	"context"
	"errors"

	"atelie/internal/db"
)

// This file contains the queries for the quota, the limit for the total size of all uploaded files.

// usedBytes returns the total size in bytes of all uploaded files. For a picture with a stripped copy (without metadata) it counts the
// original, not the copy. It leaves out two kinds of objects:
//   - the object exceptName in exceptBucket, because an upload may replace it
//   - the objects in keptBucket (removed files that the owner can restore), so that a removal makes room immediately
func usedBytes(ctx context.Context, q db.Querier, exceptBucket, exceptName string) (int64, error) {
	// In PostgreSQL the sum of bigint values has the type numeric, so the query casts it back to bigint.
	return db.One[int64](ctx, q, `select cast(coalesce(sum(coalesce(m.original_size, o.size)), 0) as bigint)
		from storage_objects o left join media m on m.object_id = o.id where not (o.bucket_id = $1 and o.name = $2) and o.bucket_id <> '`+keptBucket+`'`, exceptBucket, exceptName)
}

// lockQuota locks the only row of storage_quota_lock, so that transactions that check the quota wait for each other, on all nodes
// (servers of the site).
func lockQuota(ctx context.Context, tx *db.Tx) error {
	n, err := tx.Exec(ctx, "update storage_quota_lock set id = id where id = 1")
	if err == nil && n != 1 {
		return errors.New("storage_quota_lock has lost its row")
	}
	return err
}
