package db

import (
	"context"
	"slices"
)

// Usage states whether a database is new or belongs to a site that is in use.
type Usage int

// The values of Usage.
const (
	NoTables Usage = iota // not migrated yet
	Unused                // migrated, but all usedTables are empty
	Used                  // at least one of usedTables has rows
)

// usedTables are the tables for accounts, files, works, messages and secrets. In a new database they are empty; a site in use has
// rows in at least one of them.
var usedTables = []string{"auth_users", "storage_objects", "products", "contact_submissions", "secret_fingerprints"}

// Usage returns whether the database is in use. It may be called before the schema is migrated.
func (d *DB) Usage(ctx context.Context) (Usage, error) {
	found, err := d.tables(ctx)
	if err != nil || !slices.Contains(found, "goose_db_version") {
		return NoTables, err
	}
	version, err := One[int64](ctx, d, "select coalesce(max(version_id), 0) from goose_db_version")
	if err != nil || version == 0 {
		return NoTables, err
	}
	for _, table := range usedTables {
		if !slices.Contains(found, table) {
			continue
		}
		used, err := One[bool](ctx, d, "select exists (select 1 from "+table+")")
		if err != nil {
			return Unused, err
		}
		if used {
			return Used, nil
		}
	}
	return Unused, nil
}
