package backup

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves H-proof-files.
func TestProofIsRepeatedOnceMissingFilesAreInTheDestination(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		night := time.Date(2026, 11, 23, restoreTestHour, 0, 0, 0, time.UTC)
		now := night
		s := New(d, Config{}, func() time.Time { return now })
		due := func(what string, want bool) {
			t.Helper()
			if got, err := s.isRestoreTestDue(t.Context(), true); err != nil || got != want {
				t.Errorf("%s: %v, %v", what, got, err)
			}
		}
		// must fails the test if an error occurred while a row was stored.
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		must(RecordSuccess(t.Context(), d, KindSnapshot, night, "{}"))
		must(RecordSuccess(t.Context(), d, KindRestoreTest, night, `{"ended":"2026-11-23T04:10:00Z","files":3,"waiting":2}`))
		must(db.Exec(t.Context(), d, "insert into backup_blobs (blob_id, sha256, size) values ($1, '', 1)", uuid.NewString()))
		now = night.Add(9 * time.Hour)
		due("while files wait", false)
		must(db.Exec(t.Context(), d, "update backup_blobs set copied_at = $1", now))
		due("when they are in the destination", true)
		now = night.Add(time.Hour)
		due("less than an hour after the attempt", false)
		now = night.Add(9 * time.Hour)
		must(RecordFailure(t.Context(), d, KindIncompleteRestoreTest, now.Add(-time.Minute), "no room"))
		must(RecordSuccess(t.Context(), d, KindIncompleteRestoreTest, now, "{}"))
		due("a minute after another attempt", false)
		now = now.Add(time.Hour)
		due("an hour after it", true)
		must(RecordSuccess(t.Context(), d, KindRestoreTest, night, `{"ended":"2026-11-23T04:10:00Z","files":5,"waiting":0}`))
		due("once all files were proven", false)
	})
}
