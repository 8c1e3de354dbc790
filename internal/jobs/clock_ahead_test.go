package jobs

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// The times of a job, and of a lease, that are 26 hours in the future were stored by a node whose clock was wrong. They must delay no job.
func TestJobsOfAClockAheadRunAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		claim := func() int {
			t.Helper()
			claimed, err := claimJobs(t.Context(), d, []string{"k"}, 10, c.now())
			if err != nil {
				t.Fatal(err)
			}
			return len(claimed)
		}
		c.advance(26 * time.Hour)
		enqueue(t, q, "k", 1)
		c.advance(-26 * time.Hour)
		if n := claim(); n != 1 {
			t.Fatalf("a job that was queued while the clock was ahead: claimed %d", n)
		}
		c.advance(26 * time.Hour)
		if n := claim(); n != 1 { // the lease is taken while the clock is ahead
			t.Fatalf("claimed %d", n)
		}
		c.advance(-26 * time.Hour)
		if n := claim(); n != 1 {
			t.Errorf("a lease that was taken while the clock was ahead: claimed %d", n)
		}
		if n := claim(); n != 0 {
			t.Errorf("a lease with the current time must count: claimed %d", n)
		}
		c.advance(-clockApart)
		if n := claim(); n != 0 {
			t.Errorf("a lease of a node whose clock is a little ahead must count: claimed %d", n)
		}
	})
}

// clockApart is a difference between the clocks of two nodes that the program tolerates (db.LatestPlausible).
const clockApart = 5 * time.Minute
