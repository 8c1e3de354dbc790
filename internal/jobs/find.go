package jobs

import (
	"context"
	"fmt"
	"strings"
	"time"

	"atelie/internal/db"
)

// Stored is a job that Find has found.
type Stored struct {
	ID, Kind  string
	Payload   []byte // JSON
	CreatedAt time.Time
	FailedAt  *time.Time // nil: it has not failed
}

// Find returns the jobs of the given kinds, failed ones included, whose payload matches. It leaves out payloads that this
// site's secret cannot open.
func (q *Queue) Find(ctx context.Context, from db.Querier, match func(payload []byte) bool, kinds ...string) (found []Stored, err error) {
	all, err := storedJobs(ctx, from, kinds)
	for _, j := range all {
		plain, err := q.sealer.Open(j.Payload, j.ID+j.Kind)
		if err == nil && match(plain) {
			j.Payload = plain
			found = append(found, j)
		}
	}
	return found, err
}

// Remove deletes a job, in the caller's transaction. It does not stop a running job.
func (q *Queue) Remove(ctx context.Context, tx *db.Tx, id string) error {
	return deleteJobWithID(ctx, tx, id)
}

// placesOf returns the placeholders of an SQL list ("$1, $2") and their arguments.
func placesOf(values []string) (marks string, args []any) {
	places := make([]string, len(values))
	for i, value := range values {
		places[i] = fmt.Sprintf("$%d", i+1)
		args = append(args, value)
	}
	return strings.Join(places, ", "), args
}
