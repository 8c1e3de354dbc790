package tables

import (
	"context"
	"time"

	"atelie/internal/db"
)

// nextScheduled returns the earliest time at which a work is to be published, or the zero time if none is scheduled.
func nextScheduled(ctx context.Context, q db.Querier) (time.Time, error) {
	var at *time.Time
	if err := q.QueryRow(ctx, "select min(published_at) from products where not is_published").Scan(&at); err != nil || at == nil {
		return time.Time{}, err
	}
	return *at, nil
}

// publishDue publishes the works whose scheduled time is now or earlier, and returns their ids. It does not change updated_at, so that the
// owner can still save a form in which such a work is being edited.
func publishDue(ctx context.Context, tx *db.Tx, now time.Time) ([]string, error) {
	return db.Collect(ctx, tx, db.ScanOne[string], "update products set is_published = true where not is_published and published_at <= $1 returning cast(id as text)", now)
}
