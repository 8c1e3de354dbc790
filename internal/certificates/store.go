package certificates

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file has the queries on two tables. The certificates table has the encrypted values of the certmagic library, whose names look like
// file paths. The certificate_locks table has certmagic's locks.

// nameRange returns the range of the names in a folder: all names n with from <= n < to. For "a" the range is "a/" to "a0", because 0
// follows / in byte order. The folder "" contains all names.
func nameRange(folder string) (from, to string) {
	if folder == "" {
		return "", "\U0010FFFF" // the largest code point, with which no name begins
	}
	return folder + "/", folder + "0"
}

// saveValue stores an encrypted value under a name and the id of its encryption key. It overwrites an existing value.
func saveValue(ctx context.Context, q db.Querier, keyID, name string, value []byte, now time.Time) error {
	return db.Exec(ctx, q, `insert into certificates (key_id, name, value, updated_at) values ($1, $2, $3, $4)
		on conflict (key_id, name) do update set value = excluded.value, updated_at = excluded.updated_at`, keyID, name, value, now)
}

// insertValue is like saveValue, but keeps an existing value.
func insertValue(ctx context.Context, q db.Querier, keyID, name string, value []byte, updated time.Time) error {
	return db.Exec(ctx, q, "insert into certificates (key_id, name, value, updated_at) values ($1, $2, $3, $4) on conflict (key_id, name) do nothing", keyID, name, value, updated)
}

func deleteValue(ctx context.Context, q db.Querier, keyID, name string) error {
	return db.Exec(ctx, q, "delete from certificates where key_id = $1 and name = $2", keyID, name)
}

func readValue(ctx context.Context, q db.Querier, keyID, name string) (value []byte, updated time.Time, err error) {
	err = q.QueryRow(ctx, "select value, updated_at from certificates where key_id = $1 and name = $2", keyID, name).Scan(&value, &updated)
	return value, updated, err
}

// deleteValues deletes the value with that name, and all values in the folder of that name.
func deleteValues(ctx context.Context, q db.Querier, keyID, name string) error {
	from, to := nameRange(name)
	return db.Exec(ctx, q, "delete from certificates where key_id = $1 and (name = $2 or (name >= $3 and name < $4))", keyID, name, from, to)
}

// listNames returns the names of all values in a folder, sorted.
func listNames(ctx context.Context, q db.Querier, keyID, folder string) ([]string, error) {
	from, to := nameRange(folder)
	return db.Collect(ctx, q, db.ScanOne[string], "select name from certificates where key_id = $1 and name >= $2 and name < $3 order by name", keyID, from, to)
}

// deleteValuesOfOtherKeys deletes the values that were encrypted with another key than keyID's and were last written before the given time.
func deleteValuesOfOtherKeys(ctx context.Context, q db.Querier, keyID string, before time.Time) error {
	return db.Exec(ctx, q, "delete from certificates where key_id <> $1 and updated_at < $2", keyID, before)
}

// acquireLock acquires a lock that is free or has expired. It returns false if another node has the lock. A lock that ends implausibly late
// counts as expired, because a node with a wrong clock has written it.
func acquireLock(ctx context.Context, q db.Querier, name, token string, now, until time.Time) (bool, error) {
	return db.Changed(ctx, q, `insert into certificate_locks (name, token, locked_until) values ($1, $2, $3)
		on conflict (name) do update set token = excluded.token, locked_until = excluded.locked_until where certificate_locks.locked_until < $4 or certificate_locks.locked_until > $5`,
		name, token, until, now, db.LatestPlausible(until, 0))
}

// renewLock extends a lock. It returns false if the caller no longer has the lock.
func renewLock(ctx context.Context, q db.Querier, name, token string, until time.Time) (bool, error) {
	return db.Changed(ctx, q, "update certificate_locks set locked_until = $3 where name = $1 and token = $2", name, token, until)
}

func releaseLock(ctx context.Context, q db.Querier, name, token string) error {
	return db.Exec(ctx, q, "delete from certificate_locks where name = $1 and token = $2", name, token)
}

// CountSealed returns how many values are encrypted with the key (readable), and how many with other keys (unreadable).
func CountSealed(ctx context.Context, q db.Querier, sealKey []byte) (readable, unreadable int, err error) {
	err = q.QueryRow(ctx, "select count(*) filter (where key_id = $1), count(*) filter (where key_id <> $1) from certificates", keyIDOf(sealKey)).Scan(&readable, &unreadable)
	return readable, unreadable, err
}

// ReleaseAll deletes every lock. The caller must know that no other server runs.
func ReleaseAll(ctx context.Context, d *db.DB) error {
	return db.Exec(ctx, d, "delete from certificate_locks")
}
