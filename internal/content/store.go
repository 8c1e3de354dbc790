package content

import (
	"context"

	"atelie/internal/db"
)

// channel is what the triggers of migration 18 notify on.
const channel = "atelie_content"

// readVersion gives what is committed; zeros when nothing was ever written.
func readVersion(ctx context.Context, q db.Querier) (at At, err error) {
	err = q.QueryRow(ctx, "select coalesce(max(version), 0), coalesce(max(edited), 0) from content_version").Scan(&at.Version, &at.Edited)
	return at, err
}
