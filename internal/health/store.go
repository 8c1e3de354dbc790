package health

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
)

// This file contains the queries on the table health_records.

// Names of the rows of health_records. The comments say what the columns at, count and cause of each row contain.
const (
	recordDelivered = "mail_delivered" // at: the newest delivery of a mail
	// at: the first failure since the newest delivery; count: the number of failures after the first; cause: that of the newest failure
	recordFailing            = "mail_failing"
	recordBackupOff          = "backup_off"          // at: since when backups are off
	recordNoBackup           = "backup_missing"      // at: since when backups are on and the destination has no backup
	recordNoRestoreTest      = "proof_missing"       // at: since when there is a backup, but no restore test of it has succeeded
	recordMissingCertificate = "certificate_missing" // at: since when any domain has no certificate

	// The release file names the newest release of the program. Its fingerprint is a hash of its location.
	recordReleaseTried   = "release_tried"   // at: when a node last began to read the file; cause: the file's fingerprint
	recordRelease        = "release"         // at: when the file was last read; cause: a storedRelease in JSON
	recordReleaseFailing = "release_failing" // at: since when the file cannot be read; cause: the file's fingerprint
)

// record is a row of health_records. The comments on the constants above say what each field means in that row.
type record struct {
	at    time.Time
	count int64
	cause string
}

// readRecords returns all records by their names.
func readRecords(ctx context.Context, q db.Querier) (map[string]record, error) {
	found := map[string]record{}
	_, err := db.Collect(ctx, q, func(row db.Row) (name string, err error) {
		var r record
		err = row.Scan(&name, &r.at, &r.count, &r.cause)
		found[name] = r
		return name, err
	}, "select name, at, count, coalesce(cause, '') from health_records")
	return found, err
}

// saveDelivery records that a mail was delivered, and deletes the record of failures.
func saveDelivery(ctx context.Context, d *db.DB, now time.Time) error {
	return d.WithTx(ctx, func(tx *db.Tx) error {
		return errors.Join(
			db.Exec(ctx, tx, `insert into health_records (name, at) values ($1, $2) on conflict (name) do update set at = excluded.at`, recordDelivered, now),
			deleteRecord(ctx, tx, recordFailing),
		)
	})
}

// saveFailure records that a mail could not be delivered.
func saveFailure(ctx context.Context, q db.Querier, now time.Time, cause string) error {
	return db.Exec(ctx, q, `insert into health_records (name, at, cause) values ($1, $2, $3)
		on conflict (name) do update set count = health_records.count + 1, cause = excluded.cause`, recordFailing, now, cause)
}

// insertRecord stores now as the beginning of a state. It keeps a beginning that is already stored.
func insertRecord(ctx context.Context, q db.Querier, name string, now time.Time) error {
	return db.Exec(ctx, q, "insert into health_records (name, at) values ($1, $2) on conflict (name) do nothing", name, now)
}

func deleteRecord(ctx context.Context, q db.Querier, name string) error {
	return db.Exec(ctx, q, "delete from health_records where name = $1", name)
}

// releaseInterval is the minimum time between two readings of the release file, by all nodes together.
const releaseInterval = day

// claimRelease reports whether the caller must read the release file now, and records the attempt. It returns true if no node has tried
// within releaseInterval, or if the location has changed since. A stored time that is implausibly late was written by a node with a wrong
// clock, and is ignored.
func claimRelease(ctx context.Context, q db.Querier, fingerprint string, now time.Time) (bool, error) {
	return db.Changed(ctx, q, `insert into health_records (name, at, cause) values ($1, $2, $3)
		on conflict (name) do update set at = excluded.at, cause = excluded.cause
		where health_records.at <= $4 or health_records.at > $5 or health_records.cause <> excluded.cause`,
		recordReleaseTried, now, fingerprint, now.Add(-releaseInterval), db.LatestPlausible(now, 0))
}

func saveRelease(ctx context.Context, q db.Querier, now time.Time, text string) error {
	return db.Exec(ctx, q, `insert into health_records (name, at, cause) values ($1, $2, $3)
		on conflict (name) do update set at = excluded.at, cause = excluded.cause`, recordRelease, now, text)
}

// noteFailing records that the release file cannot be read. It returns false if that is recorded already for the same location.
func noteFailing(ctx context.Context, q db.Querier, fingerprint string, now time.Time) (bool, error) {
	return db.Changed(ctx, q, `insert into health_records (name, at, cause) values ($1, $2, $3)
		on conflict (name) do update set at = excluded.at, cause = excluded.cause where health_records.cause <> excluded.cause`, recordReleaseFailing, now, fingerprint)
}

// endFailing records that the release file can be read. It returns false if no failure was recorded.
func endFailing(ctx context.Context, q db.Querier) (bool, error) {
	return db.Changed(ctx, q, "delete from health_records where name = $1", recordReleaseFailing)
}
