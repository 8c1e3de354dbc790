package settings

import (
	"context"

	"atelie/internal/db"
)

// TakenSlots counts the commissions that take a slot: those that are accepted or in progress. Triggers raise the content version when
// this number changes.
func TakenSlots(ctx context.Context, q db.Querier) (int, error) {
	return db.One[int](ctx, q, "select count(*) from commissions where stage in ('accepted', 'in_progress')")
}
