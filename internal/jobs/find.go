package jobs

import (
	"context"
	"time"

	"atelie/internal/db"
)

// FoundJob is a job that Find has found, with its decrypted payload.
type FoundJob struct {
	ID, Kind  string
	Payload   []byte // JSON
	CreatedAt time.Time
	FailedAt  *time.Time // nil: it has not failed
}

// Find returns the jobs of the given kinds, failed jobs included, for whose payload match returns true. It leaves out jobs whose
// encrypted payload cannot be decrypted with this site's secret.
func (q *Queue) Find(ctx context.Context, from db.Querier, match func(payload []byte) bool, kinds ...string) (found []FoundJob, err error) {
	all, err := storedJobs(ctx, from, kinds)
	for _, j := range all {
		plain, err := q.sealer.Open(j.Payload, additionalData(j.ID, j.Kind))
		if err == nil && match(plain) {
			j.Payload = plain
			found = append(found, j)
		}
	}
	return found, err
}
