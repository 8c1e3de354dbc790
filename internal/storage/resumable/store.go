package resumable

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"atelie/internal/db"
)

// This file contains the queries on storage_uploads, the table of resumable uploads (uploads that arrive in pieces).

// uploadColumns are the columns of storage_uploads, in the order in which scanUpload reads them.
const uploadColumns = "id, blob_id, owner, bucket_id, name, upsert, size, content_type, cache_control, user_metadata, " +
	"received, stored, hash, finished, expires_at, upload_metadata"

// scanUpload scans a row of uploadColumns. It leaves the service field nil; a caller that needs the methods of upload sets the field.
func scanUpload(row db.Row) (*upload, error) {
	var (
		u          upload
		piecesJSON string
	)
	if err := row.Scan(&u.ID, &u.BlobID, &u.Owner, &u.file.Bucket, &u.file.Name, &u.file.Options.Upsert, &u.file.Size,
		&u.ContentType, &u.file.Options.CacheControl, &u.Metadata,
		&u.Received, &piecesJSON, &u.Hash, &u.Finished, &u.ExpiresAt, &u.MetadataHeader); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(piecesJSON), &u.Pieces); err != nil {
		return nil, fmt.Errorf("stored of upload %s: %w", u.ID, err)
	}
	return &u, u.readMetadata()
}

func findUpload(ctx context.Context, q db.Querier, id string) (*upload, error) {
	return scanUpload(q.QueryRow(ctx, "select "+uploadColumns+" from storage_uploads where id = $1", id))
}

func insertUpload(ctx context.Context, q db.Querier, u *upload, now time.Time) error {
	return db.Exec(ctx, q, `insert into storage_uploads (id, blob_id, owner, bucket_id, name, upsert, size, content_type, cache_control, user_metadata, received, stored,
			created_at, expires_at, upload_metadata)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, '{}', $11, $12, $13)`,
		u.ID, u.BlobID, u.Owner, u.file.Bucket, u.file.Name, u.file.Options.Upsert, u.file.Size, u.ContentType,
		u.file.Options.CacheControl, u.Metadata, now, u.ExpiresAt, u.MetadataHeader)
}

// saveProgress saves the state of the received pieces. It uses optimistic locking: it changes the row only if the row's number of received
// bytes is still receivedBefore. If another request has changed that number or has finished the upload, the error is errLocked.
func saveProgress(ctx context.Context, q db.Querier, u *upload, receivedBefore int64) error {
	piecesJSON, err := json.Marshal(u.Pieces)
	if err != nil {
		return err
	}
	n, err := q.Exec(ctx, "update storage_uploads set received = $2, stored = $3, hash = $4 where id = $1 and received = $5 and not finished",
		u.ID, u.Received, string(piecesJSON), u.Hash, receivedBefore)
	if err == nil && n == 0 {
		return errLocked.Becausef("another request has written to the upload")
	}
	return err
}

// setFlag sets a column of an upload to true: finished, or lock_wanted, by which the lock's holder learns that another request waits for it.
func setFlag(ctx context.Context, q db.Querier, id, column string) error {
	changed, err := db.Changed(ctx, q, "update storage_uploads set "+column+" = $2 where id = $1", id, true)
	if err == nil && !changed {
		return errNoUpload
	}
	return err
}

func deleteUpload(ctx context.Context, q db.Querier, id string) error {
	return db.Exec(ctx, q, "delete from storage_uploads where id = $1", id)
}

func listExpired(ctx context.Context, q db.Querier, now time.Time) ([]*upload, error) {
	return db.Collect(ctx, q, scanUpload, "select "+uploadColumns+" from storage_uploads where expires_at <= $1", now)
}

// listBlobs returns the blob ids of all uploads, sorted.
func listBlobs(ctx context.Context, q db.Querier) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select blob_id from storage_uploads order by blob_id")
}

// acquireLock locks an upload, or renews the lock of the same token. It returns false if another request holds the lock.
func acquireLock(ctx context.Context, q db.Querier, id, token string, now time.Time, lease time.Duration) (bool, error) {
	return db.Changed(ctx, q, `update storage_uploads set lock_wanted = case when lock_token = $2 then lock_wanted else $5 end, lock_token = $2, locked_until = $4
		where id = $1 and (lock_token is null or lock_token = $2 or locked_until < $3 or locked_until > $6)`, id, token, now, now.Add(lease), false, db.LatestPlausible(now, lease))
}

// lockState returns whether the token still holds the lock (mine), and whether another request waits for it (requested).
func lockState(ctx context.Context, q db.Querier, id, token string) (mine, requested bool, err error) {
	err = q.QueryRow(ctx, "select lock_wanted from storage_uploads where id = $1 and lock_token = $2", id, token).Scan(&requested)
	return err == nil, requested, db.NoRowsAs(err, nil)
}

func releaseLock(ctx context.Context, q db.Querier, id, token string) error {
	return db.Exec(ctx, q, "update storage_uploads set lock_token = null, locked_until = null, lock_wanted = $3 where id = $1 and lock_token = $2", id, token, false)
}

func releaseLocks(ctx context.Context, d *db.DB) error {
	return db.Exec(ctx, d, "update storage_uploads set lock_token = null, locked_until = null, lock_wanted = $1 where lock_token is not null", false)
}
