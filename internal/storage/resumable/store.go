package resumable

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"atelie/internal/db"
)

const uploadColumns = "id, blob_id, owner, bucket_id, name, upsert, size, content_type, cache_control, user_metadata, received, stored, hash, finished, expires_at"

func scanUpload(row db.Row) (*upload, error) {
	var (
		u      upload
		stored string
	)
	if err := row.Scan(&u.ID, &u.BlobID, &u.Owner, &u.file.Bucket, &u.file.Name, &u.file.Upsert, &u.file.Size, &u.ContentType, &u.file.Options.CacheControl, &u.Metadata,
		&u.Received, &stored, &u.Hash, &u.Finished, &u.ExpiresAt); err != nil {
		return nil, err
	}
	if err := json.Unmarshal([]byte(stored), &u.Stored); err != nil {
		return nil, fmt.Errorf("stored of upload %s: %w", u.ID, err)
	}
	return &u, u.readMetadata()
}

func findUpload(ctx context.Context, q db.Querier, id string) (*upload, error) {
	return scanUpload(q.QueryRow(ctx, "select "+uploadColumns+" from storage_uploads where id = $1", id))
}

func insertUpload(ctx context.Context, q db.Querier, u *upload, now time.Time) error {
	_, err := q.Exec(ctx, `insert into storage_uploads (id, blob_id, owner, bucket_id, name, upsert, size, content_type, cache_control, user_metadata, received, stored, created_at, expires_at)
		values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, 0, '{}', $11, $12)`,
		u.ID, u.BlobID, u.Owner, u.file.Bucket, u.file.Name, u.file.Upsert, u.file.Size, u.ContentType, u.file.Options.CacheControl, u.Metadata, now, u.ExpiresAt)
	return err
}

// saveProgress writes down how far an upload got, if it still stands where the caller began.
func saveProgress(ctx context.Context, q db.Querier, u *upload, before int64) error {
	stored, err := json.Marshal(u.Stored)
	if err != nil {
		return err
	}
	n, err := q.Exec(ctx, "update storage_uploads set received = $2, stored = $3, hash = $4 where id = $1 and received = $5 and not finished", u.ID, u.Received, string(stored), u.Hash, before)
	if err == nil && n == 0 {
		return errLocked.Becausef("another request has moved the upload on")
	}
	return err
}

func markFinished(ctx context.Context, tx *db.Tx, id string) error {
	n, err := tx.Exec(ctx, "update storage_uploads set finished = $2 where id = $1", id, true)
	if err == nil && n == 0 {
		return errNoUpload
	}
	return err
}

func deleteUpload(ctx context.Context, q db.Querier, id string) error {
	_, err := q.Exec(ctx, "delete from storage_uploads where id = $1", id)
	return err
}

func listExpired(ctx context.Context, q db.Querier, now time.Time) (out []*upload, err error) {
	rows, err := q.Query(ctx, "select "+uploadColumns+" from storage_uploads where expires_at <= $1", now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		u, err := scanUpload(rows)
		if err != nil {
			return nil, err
		}
		out = append(out, u)
	}
	return out, rows.Err()
}

// listBlobs names the blobs of all uploads.
func listBlobs(ctx context.Context, q db.Querier) (out map[string]bool, err error) {
	rows, err := q.Query(ctx, "select blob_id from storage_uploads")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	out = map[string]bool{}
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			return nil, err
		}
		out[id] = true
	}
	return out, rows.Err()
}

// takeLock takes a free lock, or renews the own one.
func takeLock(ctx context.Context, q db.Querier, id, token string, now time.Time, lease time.Duration) (bool, error) {
	n, err := q.Exec(ctx, `update storage_uploads set lock_wanted = case when lock_token = $2 then lock_wanted else $5 end, lock_token = $2, locked_until = $4
		where id = $1 and (lock_token is null or lock_token = $2 or locked_until < $3)`, id, token, now, now.Add(lease), false)
	return n == 1, err
}

func wantLock(ctx context.Context, q db.Querier, id string) error {
	n, err := q.Exec(ctx, "update storage_uploads set lock_wanted = $2 where id = $1", id, true)
	if err == nil && n == 0 {
		return errNoUpload
	}
	return err
}

// lockState tells whether the lock is still the caller's, and whether somebody waits for it.
func lockState(ctx context.Context, q db.Querier, id, token string) (mine, wanted bool, err error) {
	err = q.QueryRow(ctx, "select lock_wanted from storage_uploads where id = $1 and lock_token = $2", id, token).Scan(&wanted)
	if errors.Is(err, db.ErrNoRows) {
		return false, false, nil
	}
	return err == nil, wanted, err
}

func dropLock(ctx context.Context, q db.Querier, id, token string) error {
	_, err := q.Exec(ctx, "update storage_uploads set lock_token = null, locked_until = null, lock_wanted = $3 where id = $1 and lock_token = $2", id, token, false)
	return err
}
