package pages

import (
	"context"

	"atelie/internal/db"
)

// isProduct tells whether there is a work with this id, in lower case.
func isProduct(ctx context.Context, q db.Querier, id string) (ok bool, err error) {
	err = q.QueryRow(ctx, "select exists (select 1 from products where id = $1)", id).Scan(&ok)
	return ok, err
}
