package media

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file contains the queries on leases, and the queries that lock a row while a transaction saves derived files. A lease is the right
// of one node (running server) to derive files, such as renditions, from an object (a stored file). In the table media, the column maker
// has the holder of the lease, and making_until the time at which the lease expires.

// takeLease gives holder the lease of an object, or renews it. The lease expires at the time until. takeLease returns false if another
// holder has the lease, or if the object has another version (id of its stored bytes) by now. A lease that expires implausibly late counts
// as expired, because a node with a wrong clock has written it.
func takeLease(ctx context.Context, q db.Querier, objectID, version, holder string, now, until time.Time) (bool, error) {
	latest := db.LatestPlausible(until, 0) // 0, because until contains the length of a lease already
	return db.Changed(ctx, q, `update media set maker = $3, making_until = $5 where object_id = $1 and blob_id = $2
		and (maker is null or maker = $3 or making_until <= $4 or making_until > $6)`, objectID, version, holder, now, until, latest)
}

// releaseLease ends the lease of an object, unless another holder has it.
func releaseLease(ctx context.Context, q db.Querier, objectID, holder string) error {
	return db.Exec(ctx, q, "update media set maker = null, making_until = null where object_id = $1 and maker = $2", objectID, holder)
}

// lockMedia locks the media row of an object until the transaction ends, with an update that changes nothing. It returns false if the row
// is gone or has another version.
func lockMedia(ctx context.Context, tx *db.Tx, objectID, version string) (bool, error) {
	return db.Changed(ctx, tx, "update media set kind = kind where object_id = $1 and blob_id = $2", objectID, version)
}

// lockObject locks the row of an object in the same way. It returns false if the object is gone or has another blob (stored bytes).
func lockObject(ctx context.Context, tx *db.Tx, o files.Object) (bool, error) {
	return db.Changed(ctx, tx, "update storage_objects set name = name where id = $1 and blob_id = $2", o.ID, o.BlobID)
}
