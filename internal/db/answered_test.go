package db_test

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-set-response.
func TestTheTimeOfAnAnswerFollowsTheStatus(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		id := insertMessage(t, d, "Rui", time.Now())
		at := func() *time.Time {
			t.Helper()
			var at *time.Time
			if err := d.QueryRow(t.Context(), "select answered_at from contact_submissions where id = $1", id).Scan(&at); err != nil {
				t.Fatal(err)
			}
			return at
		}
		set := func(status string) {
			t.Helper()
			if _, err := d.Exec(t.Context(), "update contact_submissions set status = $1", status); err != nil {
				t.Fatal(err)
			}
		}
		if set("read"); at() != nil {
			t.Error("a message that was read is answered")
		}
		set("replied")
		first := at()
		if first == nil || time.Since(*first).Abs() > time.Minute {
			t.Fatalf("answered at %v", first)
		}
		if set("replied"); !at().Equal(*first) {
			t.Errorf("answered again at %v, first %v", at(), first)
		}
		if set("new"); at() != nil {
			t.Errorf("a corrected status leaves %v", at())
		}
	})
}
