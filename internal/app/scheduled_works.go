package app

import (
	"context"
	"time"

	"atelie/internal/interval"
)

// Waits of publishScheduledWorks. The first one finds works that were scheduled meanwhile, on this node or another.
const (
	scheduledCheck = time.Second
	scheduledRetry = 5 * time.Second // after an error, such as an outage of the database
)

// publishScheduledWorks publishes works when their scheduled time comes, until ctx ends. It runs on every node. It is no job of the
// queue, so that no job must follow each change of a time, and works that a copy, an import or a restored backup brings are found too.
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
