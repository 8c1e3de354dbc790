package content

import (
	"context"

	"atelie/internal/db"
)

// channel is what the triggers of migration 18 notify on.
const channel = "atelie_content"

// readVersion gives the committed version; 0 when nothing was ever written.
func readVersion(ctx context.Context, q db.Querier) (n int64, err error) {
	err = q.QueryRow(ctx, "select coalesce(max(version), 0) from content_version").Scan(&n)
	return n, err
}
