package db

import (
	"context"
	"errors"
	"fmt"
)

// CheckIntegrity reads a whole SQLite database and returns an error for the first damage that SQLite finds: damaged pages, indexes
// that differ from their tables, or rows that refer to missing rows. On PostgreSQL it returns errors.ErrUnsupported.
func (d *DB) CheckIntegrity(ctx context.Context) error {
	if d.Dialect != SQLite {
		return errors.ErrUnsupported
	}
	found, err := One[string](ctx, d, "pragma integrity_check(1)")
	if err != nil {
		return fmt.Errorf("integrity check: %w", err)
	}
	if found != "ok" {
		return fmt.Errorf("integrity check: %s", found)
	}
	tables, err := collectTexts(ctx, d, `select "table" from pragma_foreign_key_check limit 1`)
	if err == nil && len(tables) > 0 {
		err = fmt.Errorf("integrity check: a row of %s refers to one that is missing", tables[0])
	}
	return err
}
