package apikeys

import (
	"context"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file reads and writes the access_keys table.

// readGenerations returns the rows of access_keys, ordered by role and number.
func readGenerations(ctx context.Context, q db.Querier) (list []Generation, err error) {
	return db.Collect(ctx, q, func(row db.Row) (g Generation, err error) {
		err = row.Scan(&g.Role, &g.Number, &g.Created, &g.Revoked)
		return g, err
	}, "select role, generation, created_at, revoked_at from access_keys order by role, generation")
}

// lockGenerations makes all other transactions that change keys wait until tx ends.
func lockGenerations(ctx context.Context, tx *db.Tx) error {
	return db.LockTable(ctx, tx, "access_keys")
}

func insertGeneration(ctx context.Context, tx *db.Tx, role identity.Role, number int, now time.Time) error {
	return db.Exec(ctx, tx, "insert into access_keys (role, generation, created_at) values ($1, $2, $3)", string(role), number, now)
}

// revokeGeneration sets revoked_at of a key. It inserts a row if there is none: the first generation is valid without a row.
func revokeGeneration(ctx context.Context, tx *db.Tx, role identity.Role, number int, now time.Time) error {
	return db.Exec(ctx, tx, `insert into access_keys (role, generation, revoked_at) values ($1, $2, $3)
		on conflict (role, generation) do update set revoked_at = excluded.revoked_at`, string(role), number, now)
}
