package demo

import (
	"context"

	"atelie/internal/db"
)

// rowExists reports whether a table has a row with the given id. table becomes part of the SQL text, so it must be a constant of
// the program.
func rowExists(ctx context.Context, q db.Querier, table string, id any) (bool, error) {
	return db.One[bool](ctx, q, "select exists (select 1 from "+table+" where id = $1)", id)
}
