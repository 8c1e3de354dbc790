package resumable

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// A time 26 hours in the future was stored by a node whose clock was wrong, and must be ignored. Five minutes are a difference between the
// clocks of two nodes that the program tolerates (db.LatestPlausible).
func TestLockOfANodeWithAFastClockIsIgnored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Now()
		id := insertUnfinished(t, d, now)
		acquire := func(at time.Time) bool {
			t.Helper()
			got, err := acquireLock(t.Context(), d, id, uuid.NewString(), at, lockDuration)
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		if !acquire(now.Add(26*time.Hour)) || !acquire(now) {
			t.Error("the lock of a clock that was ahead is not ignored")
		}
		if acquire(now) || acquire(now.Add(-5*time.Minute)) {
			t.Error("a lock with the current time, or of a node whose clock is a little ahead, was taken over")
		}
		if err := releaseLocks(t.Context(), d); err != nil || !acquire(now) {
			t.Errorf("after all locks were released: %v", err)
		}
	})
}

// insertUnfinished inserts an unfinished upload and returns its id.
func insertUnfinished(t *testing.T, d *db.DB, at time.Time) (id string) {
	t.Helper()
	id = uuid.NewString()
	if _, err := d.Exec(t.Context(), `insert into storage_uploads (id, blob_id, owner, bucket_id, name, upsert, size, content_type, cache_control, user_metadata, received, stored, created_at, expires_at)
		values ($1, $1, 'user', 'product-images', 'film.mp4', $2, 10, '', '', '', 5, '{}', $3, $3)`, id, false, at); err != nil {
		t.Fatal(err)
	}
	return id
}
