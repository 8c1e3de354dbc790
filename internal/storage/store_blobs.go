package storage

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file contains the queries on storage_trash, the table of pending blobs. A blob (the bytes of a file) is pending before a row of a
// file refers to it, and again after the last such row was deleted. The name storage_trash is older than the term pending.

// insertPending adds a blob that is pending since the given time, or does nothing if the blob is pending already.
func insertPending(ctx context.Context, q db.Querier, blobID string, since time.Time) error {
	return db.Exec(ctx, q, "insert into storage_trash (blob_id, since) values ($1, $2) on conflict (blob_id) do nothing", blobID, since)
}

// renewPending sets the time since which a blob is pending.
func renewPending(ctx context.Context, q db.Querier, blobID string, since time.Time) error {
	return db.Exec(ctx, q, "update storage_trash set since = $2 where blob_id = $1", blobID, since)
}

func deletePending(ctx context.Context, q db.Querier, blobID string) error {
	return db.Exec(ctx, q, "delete from storage_trash where blob_id = $1", blobID)
}

// listPending returns the ids of the blobs that became pending, or were renewed, before the given time.
func listPending(ctx context.Context, q db.Querier, before time.Time) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select blob_id from storage_trash where since < $1", before)
}

// blobIsUsed reports whether an object, an original or a rendition refers to the blob.
func blobIsUsed(ctx context.Context, q db.Querier, blobID string) (bool, error) {
	return db.One[bool](ctx, q, `select exists (select 1 from storage_objects where blob_id = $1 union all select 1 from media where original_id = $1
		union all select 1 from media_renditions where blob_id = $1)`, blobID)
}
