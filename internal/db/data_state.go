package db

import (
	"context"
	"slices"
)

// DataState says whether a database contains the data of a site. The program reads it at its start, so that a site with data is not
// started by mistake without its secret or its files.
type DataState int

// The values of DataState.
const (
	NoTables DataState = iota // the database is empty: no migration has run
	NoData                    // all siteTables are empty, as in the database of a new site
	HasData                   // at least one of siteTables has rows
)

// siteTables are the tables for accounts, files, works, messages and secrets. The first owner, upload, work or message inserts a row into
// one of them.
var siteTables = []string{"auth_users", "storage_objects", "products", "contact_submissions", "secret_fingerprints"}

// DataState reads the database's DataState. It can be called before Migrate.
func (d *DB) DataState(ctx context.Context) (DataState, error) {
	found, err := d.tables(ctx)
	if err != nil || !slices.Contains(found, "goose_db_version") { // in this table goose (the library) records the migrations that have run
		return NoTables, err
	}
	version, err := One[int64](ctx, d, "select coalesce(max(version_id), 0) from goose_db_version")
	if err != nil || version == 0 {
		return NoTables, err
	}
	for _, table := range siteTables {
		if !slices.Contains(found, table) {
			continue
		}
		used, err := One[bool](ctx, d, "select exists (select 1 from "+table+")")
		if err != nil {
			return NoData, err
		}
		if used {
			return HasData, nil
		}
	}
	return NoData, nil
}
