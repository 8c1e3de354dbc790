package db_test

import (
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves A-set-response.
func TestAnsweredAtFollowsTheStatus(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		id := insertMessage(t, d, "Rui", time.Now())
		answeredAt := func() *time.Time {
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
		if set("read"); answeredAt() != nil {
			t.Error("a message that was read is answered")
		}
		set("replied")
		first := answeredAt()
		if first == nil || time.Since(*first).Abs() > time.Minute {
			t.Fatalf("answered at %v", first)
		}
		if set("replied"); !answeredAt().Equal(*first) {
			t.Errorf("answered again at %v, first %v", answeredAt(), first)
		}
		if set("new"); answeredAt() != nil {
			t.Errorf("the status is new again, but answered_at is %v", answeredAt())
		}
	})
}

// Proves AM-reply-1.
//
// In a conversation, the time of the first answer stays, although the visitor's replies make the message new again.
func TestFirstAnsweredAtOfAConversationStays(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		id := insertMessage(t, d, "Rui", time.Now())
		timeOf := func(column string) *time.Time {
			t.Helper()
			var at *time.Time
			if err := d.QueryRow(t.Context(), "select "+column+" from contact_submissions where id = $1", id).Scan(&at); err != nil {
				t.Fatal(err)
			}
			return at
		}
		write := func(reply, author, status string) {
			t.Helper()
			if _, err := d.Exec(t.Context(), "insert into contact_replies (id, message_id, author, text, created_at) values ($1, $2, $3, 'Thanks', $4)", reply, id, author, time.Now()); err != nil {
				t.Fatal(err)
			}
			if _, err := d.Exec(t.Context(), "update contact_submissions set status = $1", status); err != nil {
				t.Fatal(err)
			}
		}
		write("00000000-0000-4000-8000-000000000001", "owner", "replied")
		first, read := timeOf("answered_at"), timeOf("read_at")
		if first == nil || read == nil {
			t.Fatalf("answered at %v, read at %v", first, read)
		}
		write("00000000-0000-4000-8000-000000000002", "visitor", "new")
		if got := timeOf("answered_at"); got == nil || !got.Equal(*first) {
			t.Errorf("a visitor's reply leaves %v", got)
		}
		if got := timeOf("read_at"); got != nil {
			t.Errorf("a new reply was read at %v", got)
		}
		write("00000000-0000-4000-8000-000000000003", "owner", "replied")
		if got := timeOf("answered_at"); got == nil || !got.Equal(*first) {
			t.Errorf("a second answer leaves %v, first %v", got, first)
		}
		if timeOf("read_at") == nil {
			t.Error("what is answered was not read")
		}
	})
}
