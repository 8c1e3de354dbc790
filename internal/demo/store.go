package demo

import (
	"context"

	"atelie/internal/db"
)

// exists reports whether a table has a row with an id. table becomes part of the SQL text; the loader passes constants only.
func exists(ctx context.Context, q db.Querier, table string, id any) (there bool, err error) {
	err = q.QueryRow(ctx, "select exists (select 1 from "+table+" where id = $1)", id).Scan(&there)
	return there, err
}
