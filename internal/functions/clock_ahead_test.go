package functions

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// A time 26 hours in the future was stored by a node whose clock was wrong. It must not prevent the thank-you mail of today.
func TestThanksOfAClockAheadAreIgnored(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Now()
		claim := func(at time.Time) (got bool) {
			t.Helper()
			if err := d.WithTx(t.Context(), func(tx *db.Tx) (err error) {
				got, err = claimThanks(t.Context(), tx, "somebody", at, at.Add(-24*time.Hour))
				return err
			}); err != nil {
				t.Fatal(err)
			}
			return got
		}
		if !claim(now.Add(26*time.Hour)) || !claim(now) {
			t.Error("the record of a clock that was ahead is not ignored")
		}
		if claim(now) {
			t.Error("a record with the current time must count")
		}
	})
}
