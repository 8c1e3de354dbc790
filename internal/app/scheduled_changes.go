package app

import (
	"context"
	"time"

	"atelie/internal/interval"
)

// Waits of applyScheduledChanges.
const (
	scheduledCheck = time.Second     // maximum wait between two checks, because an owner may set an earlier time meanwhile
	scheduledRetry = 5 * time.Second // wait after an error, such as an outage of the database
)

// applyScheduledChanges shows and hides works and covers (pictures at the top of the home page) at the times that the owner has set. It
// runs until ctx ends, on every node (server of the site). If two nodes find the same row, ApplyScheduled lets only one of them change it.
// The times are read from the rows themselves. There are no queued jobs for them, because a row that was copied, imported or restored from
// a backup would have no job.
func (a *App) applyScheduledChanges(ctx context.Context) {
	for {
		wait := scheduledCheck
		next, err := a.Tables.ApplyScheduled(ctx)
		switch {
		case err != nil && ctx.Err() == nil:
			a.log.Warn("scheduled works and covers cannot be shown or hidden; this is tried again", "cause", err.Error())
			wait = scheduledRetry
		case !next.IsZero(): // wait until the next change, but at least a millisecond and at most scheduledCheck
			wait = min(wait, max(next.Sub(a.now()), time.Millisecond))
		}
		if interval.Sleep(ctx, wait) != nil {
			return
		}
	}
}
