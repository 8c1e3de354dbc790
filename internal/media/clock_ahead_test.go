package media

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/storage/storagetest"
)

// A time 26 hours in the future was stored by a node whose clock was wrong, and must be ignored. Five minutes are a difference between the
// clocks of two nodes that the program tolerates (db.LatestPlausible).
func TestLeaseOfANodeWithAFastClockIsIgnored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, _ := newEngineSite(t, d)
		s.UploadFile("product-images/a.jpg", storagetest.Photo(40, 30))
		claim := func(maker string, now time.Time) bool {
			t.Helper()
			o, m := s.media("product-images", "a.jpg")
			got, err := takeLease(t.Context(), s.db, o.ID, m.Version, maker, now, now.Add(leaseDuration))
			if err != nil {
				t.Fatal(err)
			}
			return got
		}
		now := time.Now()
		first, second := newID(), newID()
		if !claim(first, now.Add(26*time.Hour)) || !claim(second, now) {
			t.Error("the lease of a clock that was ahead is not ignored")
		}
		if claim(first, now) || claim(first, now.Add(-5*time.Minute)) {
			t.Error("a lease with the current time, or of a node whose clock is a little ahead, was taken over")
		}
	})
}
