package certificates

import (
	"context"
	"errors"
	"time"

	"atelie/internal/db"
)

// under gives the bounds of the names that lie below a folder: "a/" up to "a0", for 0 follows / in the order of bytes.
func under(folder string) (from, to string) {
	if folder == "" {
		return "", "\U0010FFFF"
	}
	return folder + "/", folder + "0"
}

func saveValue(ctx context.Context, q db.Querier, keyID, name string, value []byte, now time.Time) error {
	_, err := q.Exec(ctx, `insert into certificates (key_id, name, value, updated_at) values ($1, $2, $3, $4)
		on conflict (key_id, name) do update set value = excluded.value, updated_at = excluded.updated_at`, keyID, name, value, now)
	return err
}

func readValue(ctx context.Context, q db.Querier, keyID, name string) (value []byte, updated time.Time, err error) {
	err = q.QueryRow(ctx, "select value, updated_at from certificates where key_id = $1 and name = $2", keyID, name).Scan(&value, &updated)
	return value, updated, err
}

func deleteValues(ctx context.Context, q db.Querier, keyID, name string) error {
	from, to := under(name)
	_, err := q.Exec(ctx, "delete from certificates where key_id = $1 and (name = $2 or (name >= $3 and name < $4))", keyID, name, from, to)
	return err
}

func listNames(ctx context.Context, q db.Querier, keyID, folder string) (names []string, err error) {
	from, to := under(folder)
	rows, err := q.Query(ctx, "select name from certificates where key_id = $1 and name >= $2 and name < $3 order by name", keyID, from, to)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// forgetSealed drops what another secret has sealed and nobody has written since.
func forgetSealed(ctx context.Context, q db.Querier, keyID string, before time.Time) error {
	_, err := q.Exec(ctx, "delete from certificates where key_id <> $1 and updated_at < $2", keyID, before)
	return err
}

// takeLock takes a lock that is free or has run out.
func takeLock(ctx context.Context, q db.Querier, name, token string, now, until time.Time) (bool, error) {
	n, err := q.Exec(ctx, `insert into certificate_locks (name, token, locked_until) values ($1, $2, $3)
		on conflict (name) do update set token = excluded.token, locked_until = excluded.locked_until where certificate_locks.locked_until < $4`, name, token, until, now)
	return n == 1, err
}

// renewLock says whether the lock is still the caller's.
func renewLock(ctx context.Context, q db.Querier, name, token string, until time.Time) (bool, error) {
	n, err := q.Exec(ctx, "update certificate_locks set locked_until = $3 where name = $1 and token = $2", name, token, until)
	return n == 1, err
}

func dropLock(ctx context.Context, q db.Querier, name, token string) error {
	_, err := q.Exec(ctx, "delete from certificate_locks where name = $1 and token = $2", name, token)
	return err
}
