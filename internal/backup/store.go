package backup

import (
	"cmp"
	"context"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/files"
)

// This file contains the queries on two tables:
//   - backup_status has a row for each Kind, with the newest success and the newest failure.
//   - backup_blobs has a row for each blob (the bytes of a stored file), with the time at which it was copied to the destination.

// scanState reads a row of backup_status. A null time becomes the zero time.
func scanState(row db.Row) (s State, err error) {
	var lastOK, lastError, errorSince *time.Time // nil if the column is null
	err = row.Scan(&s.Kind, &lastOK, &lastError, &errorSince, &s.Error, &s.Detail)
	times := []struct{ column, field *time.Time }{{lastOK, &s.LastOK}, {lastError, &s.LastError}, {errorSince, &s.ErrorSince}}
	for _, t := range times {
		if t.column != nil {
			*t.field = *t.column
		}
	}
	return s, err
}

// ReadStates returns all rows of backup_status by kind.
func ReadStates(ctx context.Context, q db.Querier) (map[Kind]State, error) {
	list, err := db.Collect(ctx, q, scanState, "select kind, last_ok_at, last_error_at, error_since, error, cast(detail as text) from backup_status")
	if err != nil {
		return nil, err
	}
	states := map[Kind]State{}
	for _, s := range list {
		states[s.Kind] = s
	}
	return states, nil
}

// RecordSuccess stores that the task of a kind has succeeded: the destination has everything up to the time until. detail is a JSON object.
func RecordSuccess(ctx context.Context, q db.Querier, kind Kind, until time.Time, detail string) error {
	return db.Exec(ctx, q, `insert into backup_status (kind, last_ok_at, error, detail) values ($1, $2, '', $3)
		on conflict (kind) do update set last_ok_at = excluded.last_ok_at, error_since = null, error = '', detail = excluded.detail`, kind, until, detail)
}

// RecordFailure stores that the task of a kind has failed at a time. text must be safe to show. The stored detail stays as it is. If the
// previous attempt has also failed, error_since stays as well.
func RecordFailure(ctx context.Context, q db.Querier, kind Kind, at time.Time, text string) error {
	return recordFailure(ctx, q, kind, at, text, "")
}

// recordFailure is RecordFailure with a new detail, a JSON object. If detail is "", the stored detail stays.
func recordFailure(ctx context.Context, q db.Querier, kind Kind, at time.Time, text, detail string) error {
	return db.Exec(ctx, q, `insert into backup_status (kind, last_error_at, error_since, error, detail) values ($1, $2, $2, $3, $4)
		on conflict (kind) do update set last_error_at = excluded.last_error_at, error = excluded.error,
		error_since = coalesce(backup_status.error_since, excluded.error_since),
		detail = case when $5 then excluded.detail else backup_status.detail end`, kind, at, text, cmp.Or(detail, "{}"), detail != "")
}

// waitingBlobs returns the ids of at most limit blobs that are not in the destination yet, sorted. It returns only ids greater than after;
// "" selects the first page. A query reads only its section of the index backup_blobs_waiting, because thousands of blobs may wait after an
// outage.
func waitingBlobs(ctx context.Context, q db.Querier, after string, limit int) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], `select blob_id from backup_blobs where copied_at is null and removed_at is null and blob_id > $1
		order by blob_id limit $2`, cmp.Or(after, uuid.Nil.String()), limit) // uuid.Nil is less than every id
}

// addBlob records that a row refers to a blob. The blob waits to be copied unless the destination has it.
func addBlob(ctx context.Context, q db.Querier, id string) error {
	return db.Exec(ctx, q, "insert into backup_blobs (blob_id, sha256, size) values ($1, '', 0) on conflict (blob_id) do update set removed_at = null", id)
}

// removeBlob records that no row refers to a blob any more. It deletes the record of a blob that was never copied.
func removeBlob(ctx context.Context, q db.Querier, id string, at time.Time) error {
	if err := db.Exec(ctx, q, "delete from backup_blobs where blob_id = $1 and copied_at is null", id); err != nil {
		return err
	}
	return db.Exec(ctx, q, "update backup_blobs set removed_at = $2 where blob_id = $1 and removed_at is null", id, at)
}

// recordCopiedBlob records that the destination has a blob since a time.
func recordCopiedBlob(ctx context.Context, q db.Querier, b copiedBlob, at time.Time) error {
	return db.Exec(ctx, q, "update backup_blobs set sha256 = $2, size = $3, copied_at = $4 where blob_id = $1", b.id, b.sha256, b.size, at)
}

// expiredBlobs returns ids of blobs to which nothing has referred since before a time.
func expiredBlobs(ctx context.Context, q db.Querier, before time.Time, limit int) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select blob_id from backup_blobs where removed_at < $1 order by removed_at limit $2", before, limit)
}

// knownBlobs returns the ids between first and last, both included, that have a row.
func knownBlobs(ctx context.Context, q db.Querier, first, last string) ([]string, error) {
	return db.Collect(ctx, q, db.ScanOne[string], "select blob_id from backup_blobs where blob_id >= $1 and blob_id <= $2", first, last)
}

// addStray records a blob of the destination to which nothing refers.
func addStray(ctx context.Context, q db.Querier, id string, at time.Time) error {
	return db.Exec(ctx, q, "insert into backup_blobs (blob_id, sha256, size, removed_at) values ($1, '', 0, $2) on conflict (blob_id) do nothing", id, at)
}

func deleteBlobs(ctx context.Context, q db.Querier, ids []string) error {
	for _, id := range ids {
		if err := db.Exec(ctx, q, "delete from backup_blobs where blob_id = $1 and removed_at is not null", id); err != nil {
			return err
		}
	}
	return nil
}

// usedBlobs selects the ids of all blobs to which a row refers.
const usedBlobs = "select distinct id from " + files.StoredFiles

// reconcileBlobs updates backup_blobs with the references that were added or removed without addBlob and removeBlob, for example while
// backups were off. Each statement writes only the rows that differ.
func reconcileBlobs(ctx context.Context, q db.Querier, now time.Time) error {
	for _, statement := range []string{
		"insert into backup_blobs (blob_id, sha256, size) select u.id, '', 0 from (" + usedBlobs + ") u where not exists (select 1 from backup_blobs b where b.blob_id = u.id)",
		"update backup_blobs set removed_at = null where removed_at is not null and blob_id in (" + usedBlobs + ")",
		"delete from backup_blobs where copied_at is null and removed_at is null and blob_id not in (" + usedBlobs + ")",
	} {
		if err := db.Exec(ctx, q, statement); err != nil {
			return err
		}
	}
	return db.Exec(ctx, q, "update backup_blobs set removed_at = $1 where removed_at is null and blob_id not in ("+usedBlobs+")", now)
}

// isBlobUsed reports whether a row refers to a blob.
func isBlobUsed(ctx context.Context, q db.Querier, id string) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from "+files.StoredFiles+" where id = $1)", id)
}

// blobCopiedAlready reports whether a blob was recorded as copied.
func blobCopiedAlready(ctx context.Context, q db.Querier, id string) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from backup_blobs where blob_id = $1 and copied_at is not null)", id)
}

// copiedChecksum returns the SHA-256 of a blob when it was copied, or db.ErrNoRows if the destination does not have it.
func copiedChecksum(ctx context.Context, q db.Querier, id string) (string, error) {
	return db.One[string](ctx, q, "select sha256 from backup_blobs where blob_id = $1 and copied_at is not null and sha256 <> ''", id)
}

// forgetCopies puts all blobs into the queue again, for a destination that has none of them.
func forgetCopies(ctx context.Context, q db.Querier) error {
	if err := db.Exec(ctx, q, "delete from backup_blobs where removed_at is not null"); err != nil {
		return err
	}
	return db.Exec(ctx, q, "update backup_blobs set copied_at = null where copied_at is not null")
}

// forgetResults deletes the results of another backup, so that a snapshot and a restore test are due. Failures of the tasks stay until
// their next success. The leases stay too, because the caller can hold one.
func forgetResults(ctx context.Context, q db.Querier) error {
	if err := db.Exec(ctx, q, "update backup_status set last_ok_at = null, detail = '{}' where kind in ($1, $2, $3, $4)",
		KindDatabase, KindSnapshot, KindRestoreTest, KindIncompleteRestoreTest); err != nil {
		return err
	}
	return db.Exec(ctx, q, "update backup_status set last_error_at = null, error_since = null, error = '' where kind in ($1, $2)", KindRestoreTest, KindIncompleteRestoreTest)
}

// Lease acquires or renews the right of holder to do the task of a kind until a time. It returns false while another holder has this right.
// A lease that ends implausibly late was written by a node with a wrong clock, and is ignored.
func Lease(ctx context.Context, q db.Querier, kind Kind, holder string, now, until time.Time) (bool, error) {
	return db.Changed(ctx, q, `insert into backup_status (kind, error, detail, holder, held_until) values ($1, '', '{}', $2, $3)
		on conflict (kind) do update set holder = excluded.holder, held_until = excluded.held_until
		where backup_status.holder is null or backup_status.holder = excluded.holder or backup_status.held_until <= $4 or backup_status.held_until > $5`,
		kind, holder, until, now, db.LatestPlausible(until, 0))
}

// EndLease ends the lease of a holder.
func EndLease(ctx context.Context, q db.Querier, kind Kind, holder string) error {
	return db.Exec(ctx, q, "update backup_status set holder = null, held_until = null where kind = $1 and holder = $2", kind, holder)
}

func countWaiting(ctx context.Context, q db.Querier) (int64, error) {
	return db.One[int64](ctx, q, "select count(*) from backup_blobs where copied_at is null and removed_at is null")
}
