package content

import (
	"context"

	"atelie/internal/db"
)

// notifyChannel is the PostgreSQL channel on which database triggers (migration 18) notify all nodes (servers of the site) of a new content
// version.
const notifyChannel = "atelie_content"

// Read returns the committed content versions, or Versions{} before the first change.
func Read(ctx context.Context, q db.Querier) (at Versions, err error) {
	err = q.QueryRow(ctx, "select coalesce(max(version), 0), coalesce(max(edited), 0) from content_version").Scan(&at.Current, &at.Edited)
	return at, err
}
