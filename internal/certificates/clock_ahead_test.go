package certificates

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// A lock that was taken 26 hours in the future was taken by a node whose clock was wrong, and must be ignored. A difference of five minutes
// between the clocks of two nodes is tolerated (db.LatestPlausible).
func TestLockFromAClockThatIsAheadIsIgnored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Now()
		acquire := func(at time.Time) bool {
			t.Helper()
			got, err := acquireLock(t.Context(), d, "a", uuid.NewString(), at, at.Add(leaseDuration))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if !acquire(now.Add(26*time.Hour)) || !acquire(now) {
			t.Error("the lock of a clock that was ahead is not ignored")
		}
		if acquire(now) || acquire(now.Add(-5*time.Minute)) {
			t.Error("a current lock, or one of a node whose clock is a little ahead, was taken over")
		}
	})
}
