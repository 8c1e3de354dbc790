package content

import (
	"context"

	"atelie/internal/db"
)

// channel is the PostgreSQL channel on which the triggers of migration 18 notify all nodes.
const channel = "atelie_content"

// Read returns the committed content version, or At{} before the first change.
func Read(ctx context.Context, q db.Querier) (at At, err error) {
	err = q.QueryRow(ctx, "select coalesce(max(version), 0), coalesce(max(edited), 0) from content_version").Scan(&at.Version, &at.Edited)
	return at, err
}
