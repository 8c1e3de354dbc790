package health

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
)

// Names of the rows of health_records.
const (
	recordDelivered          = "mail_delivered"      // at: the newest delivery of a mail
	recordFailing            = "mail_failing"        // at: the first failure after that delivery; count: failures after it; cause: that of the newest failure
	recordOff                = "backup_off"          // at: since when backups are off
	recordNoBackup           = "backup_missing"      // at: since when backups are on and the place has no backup
	recordNoProof            = "proof_missing"       // at: since when there is a backup without any successful proof
	recordMissingCertificate = "certificate_missing" // at: since when a domain has no certificate
)

// record is a row of health_records. The comments of the names say what its fields are.
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

// noteSince records that something holds since now, unless it is recorded already.
func noteSince(ctx context.Context, q db.Querier, name string, now time.Time) error {
	return db.Exec(ctx, q, "insert into health_records (name, at) values ($1, $2) on conflict (name) do nothing", name, now)
}

func deleteRecord(ctx context.Context, q db.Querier, name string) error {
	return db.Exec(ctx, q, "delete from health_records where name = $1", name)
}
