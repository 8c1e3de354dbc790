package certificates

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestLockOfAClockAheadIsIgnored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Now()
		take := func(at time.Time) bool {
			t.Helper()
			got, err := acquireLock(t.Context(), d, "a", uuid.NewString(), at, at.Add(leaseDuration))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if !take(now.Add(26*time.Hour)) || !take(now) {
			t.Error("the lock of a clock that was ahead is not ignored")
		}
		if take(now) || take(now.Add(-5*time.Minute)) {
			t.Error("a lock of now, or of a node whose clock is a little ahead, was taken over")
		}
	})
}
