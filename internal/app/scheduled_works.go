package app

import (
	"context"
	"time"

	"atelie/internal/interval"
)

// Waits between two calls of PublishScheduled.
const (
	scheduledCheck = time.Second     // so that works that were scheduled meanwhile are found, on this node or another
	scheduledRetry = 5 * time.Second // after an error, such as an outage of the database
)

// publishScheduledWorks publishes works when their scheduled time comes, until ctx ends. It runs on every node. It is not a job of the
// queue: each change of a time would have to change the job, and works from a copy, an import or a restored backup have no jobs.
func (a *App) publishScheduledWorks(ctx context.Context) {
	for {
		wait := scheduledCheck
		next, err := a.Tables.PublishScheduled(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			a.log.Warn("scheduled works cannot be published; this is tried again", "cause", err.Error())
			wait = scheduledRetry
		case !next.IsZero():
			wait = min(wait, max(next.Sub(a.now()), time.Millisecond))
		}
		if interval.Sleep(ctx, wait) != nil {
			return
		}
	}
}
