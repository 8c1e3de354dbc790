package jobs

import (
	"context"
	"time"

	"atelie/internal/db"
)

// This file finds jobs by what is in their payloads. The export and the deletion of the data about an e-mail address need this, because
// payloads are encrypted and SQL cannot search them.

// FoundJob is a job that Find has found, with its decrypted payload.
type FoundJob struct {
	ID, Kind  string
	Payload   []byte // JSON
	CreatedAt time.Time
	FailedAt  *time.Time // when all tries had failed; nil if the job is still to run
}

// Find returns the jobs of the given kinds for whose payload match returns true, failed jobs included. It leaves out jobs whose payload
// cannot be decrypted with this site's secret.
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
