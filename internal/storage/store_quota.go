package storage

import (
	"context"
	"errors"

	"atelie/internal/db"
)

// usedBytes returns the total size in bytes of all uploaded files. The object exceptName in exceptBucket does not count, because
// an upload may be about to replace it; nor do kept objects, so that a removal makes room immediately. Of a picture with a
// copy without metadata the original counts, not the copy.
func usedBytes(ctx context.Context, q db.Querier, exceptBucket, exceptName string) (int64, error) {
	// In PostgreSQL the sum of bigint values has the type numeric, so the query casts it back to bigint.
	return db.One[int64](ctx, q, `select cast(coalesce(sum(coalesce(m.original_size, o.size)), 0) as bigint)
		from storage_objects o left join media m on m.object_id = o.id where not (o.bucket_id = $1 and o.name = $2) and o.bucket_id <> '`+keptBucket+`'`, exceptBucket, exceptName)
}

// lockQuota makes transactions that check the quota wait for each other, on all nodes.
func lockQuota(ctx context.Context, tx *db.Tx) error {
	n, err := tx.Exec(ctx, "update storage_quota_lock set id = id where id = 1")
	if err == nil && n != 1 {
		return errors.New("storage_quota_lock has lost its row")
	}
	return err
}
