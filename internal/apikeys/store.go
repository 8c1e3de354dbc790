package apikeys

import (
	"cmp"
	"context"
	"slices"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// This file reads and writes the access_keys table.

// listGenerations returns all generations, ordered by role and number. It adds the first generation of each role, which may
// have no row.
func listGenerations(ctx context.Context, q db.Querier) ([]Generation, error) {
	list, err := db.Collect(ctx, q, func(row db.Row) (g Generation, err error) {
		err = row.Scan(&g.Role, &g.Number, &g.Created, &g.Revoked)
		return g, err
	}, "select role, generation, created_at, revoked_at from access_keys")
	if err != nil {
		return nil, err
	}
	for _, role := range []identity.Role{identity.Anon, identity.Service} {
		if !slices.ContainsFunc(list, func(g Generation) bool { return g.Role == role && g.Number == firstGeneration }) {
			list = append(list, Generation{Role: role, Number: firstGeneration})
		}
	}
	slices.SortFunc(list, func(a, b Generation) int { return cmp.Or(cmp.Compare(a.Role, b.Role), cmp.Compare(a.Number, b.Number)) })
	return list, nil
}

// add inserts the generation after the highest one of the role, revoked ones included, and returns its number.
func (s *Service) add(ctx context.Context, tx *db.Tx, list []Generation, role identity.Role) (int, error) {
	number := firstGeneration
	for _, g := range list {
		if g.Role == role {
			number = max(number, g.Number)
		}
	}
	number++
	return number, db.Exec(ctx, tx, "insert into access_keys (role, generation, created_at) values ($1, $2, $3)", string(role), number, s.now())
}

// revokeGeneration sets revoked_at of a key. It inserts a row if there is none: the first generation is valid without a row.
func revokeGeneration(ctx context.Context, tx *db.Tx, role identity.Role, number int, now time.Time) error {
	return db.Exec(ctx, tx, `insert into access_keys (role, generation, revoked_at) values ($1, $2, $3)
		on conflict (role, generation) do update set revoked_at = excluded.revoked_at`, string(role), number, now)
}
