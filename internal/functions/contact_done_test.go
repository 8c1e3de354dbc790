package functions

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// stateOfMessage returns the state of the only message, whether it is marked as done, and the beginning of its last reply.
func (s *site) stateOfMessage() string {
	s.t.Helper()
	var state, last string
	var done bool
	if err := s.d.QueryRow(s.t.Context(), "select state, done_at is not null, coalesce(last_author || ' ' || last_text, '') from contact_submissions").Scan(&state, &done, &last); err != nil {
		s.t.Fatal(err)
	}
	return fmt.Sprintf("%s %v %.40s", state, done, last)
}

// Proves AM-state-1, AM-state-2, FN-reply-done.
//
// The state of a conversation follows from its status, its last reply and the owner's mark.
func TestTheStateOfAConversation(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		s.giveLinks(true)
		path := s.sendMessageWithLink("pt", "")
		id := s.messageID()
		expect := func(step, want string) {
			t.Helper()
			if got := s.stateOfMessage(); got != want {
				t.Errorf("%s: %q, want %q", step, got, want)
			}
		}
		status := func(status string) {
			t.Helper()
			if _, err := d.Exec(t.Context(), "update contact_submissions set status = $1", status); err != nil {
				t.Fatal(err)
			}
		}
		act := func(action string) {
			t.Helper()
			if code, _, body := s.reply(`{"action":"` + action + `","message_id":"` + id + `","text":"Claro. ` + strings.Repeat("ã", 300) + `"}`); code != http.StatusOK {
				t.Fatalf("%s: %d %s", action, code, body)
			}
		}
		expect("a message", "unread false ")
		status("read")
		expect("a read message", "waiting_me false ")
		status("replied")
		expect("one that was answered by other means", "waiting_them false ")
		status("read")
		act("reply")
		const answer = "owner Claro. ããããããããããããããããããããããããããã"
		expect("an answered message", "waiting_them false "+answer)
		status("read")
		expect("an answered message with the status read", "waiting_them false "+answer)
		act("done")
		expect("a done message", "done true "+answer)
		act("reopen")
		expect("a reopened message", "waiting_them false "+answer)
		act("done")
		s.clock = s.clock.Add(time.Minute)
		if rec := s.post(path, "text", "Obrigada!"); rec.Code != http.StatusSeeOther {
			t.Fatalf("got %d", rec.Code)
		}
		expect("the visitor's new text", "unread false visitor Obrigada!")
		act("done")
		expect("an unread message that is marked as done", "done true visitor Obrigada!")
		var status0 string
		if s.scan(&status0, "select status from contact_submissions"); status0 != "read" {
			t.Errorf("its status: %s", status0)
		}
		status("new")
		expect("a message that is unread again", "unread false visitor Obrigada!")
		status("read")
		expect("a read text of the visitor", "waiting_me false visitor Obrigada!")
		s.mustCallCommission("progress", id, "id", "note", "text", "The first layer.")
		expect("a note on the progress, which answers nothing", "waiting_me false visitor Obrigada!")
		var length int
		s.scan(&length, "select max(length(text)) from contact_replies")
		if _, err := d.Exec(t.Context(), "delete from contact_replies where author = 'visitor'"); err != nil {
			t.Fatal(err)
		}
		expect("without the last text", "waiting_them false "+answer)
		if s.scan(&length, "select length(last_text) from contact_submissions"); length != 200 {
			t.Errorf("%d characters of the last text", length)
		}
		if last := s.live[len(s.live)-1]; last != "message "+id {
			t.Errorf("live: %q", s.live)
		}
		if code, _, body := s.reply(`{"action":"done","message_id":"` + visitorID + `"}`); code != http.StatusNotFound {
			t.Errorf("no such message: %d %s", code, body)
		}
		for _, who := range []string{"anon", "user"} {
			if rec := s.call(who, "contact-reply", `{"action":"done","message_id":"`+id+`"}`); rec.Code != http.StatusForbidden {
				t.Errorf("%s: %d", who, rec.Code)
			}
		}
		if got := s.export("json"); strings.Contains(string(got), "done_at") {
			t.Errorf("%s", got)
		}
		act("done")
		if got := s.export("json"); !strings.Contains(string(got), `"done_at":"2026-03-12T10:01:15Z"`) {
			t.Errorf("%s", got)
		}
	})
}

// Proves AM-state-1.
//
// The list by state, and the number of conversations in it, are read from an index.
func TestConversationsAreListedByAnIndex(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const rows = "with recursive n (i) as (select 1 union all select i + 1 from n where i < 20000) "
		id := "lower(printf('%08x-0000-4000-8000-000000000000', i))"
		if d.Dialect == db.Postgres {
			id = "cast(lpad(to_hex(i), 8, '0') || '-0000-4000-8000-000000000000' as uuid)"
		}
		at := "strftime('%Y-%m-%dT%H:%M:%S+00:00', 1700000000 + i, 'unixepoch')"
		if d.Dialect == db.Postgres {
			at = "to_timestamp(1700000000 + i)"
		}
		insert := rows + "insert into contact_submissions (id, name, email, message, reason, status, created_at) select " + id + ", 'Rui', 'rui@exemplo.pt', 'Quanto custa?', 'general', case i % 3 when 0 then 'new' when 1 then 'read' else 'replied' end, " + at + " from n"
		if d.Dialect == db.SQLite { // in SQLite's syntax the list follows the name of the table
			insert = "insert into contact_submissions (id, name, email, message, reason, status, created_at) " + rows + "select " + id + ", 'Rui', 'rui@exemplo.pt', 'Quanto custa?', 'general', case i % 3 when 0 then 'new' when 1 then 'read' else 'replied' end, " + at + " from n"
		}
		for _, query := range []string{insert, "analyze"} {
			if _, err := d.Exec(t.Context(), query); err != nil {
				t.Fatal(err)
			}
		}
		explain := "explain "
		if d.Dialect == db.SQLite {
			explain = "explain query plan "
		}
		for _, query := range []string{
			"select * from contact_submissions where state = 'waiting_me' order by created_at desc, id limit 25",
			"select count(*) from contact_submissions where state = 'done'",
		} {
			plan, err := db.Collect(t.Context(), d, func(row db.Row) (line string, err error) {
				if d.Dialect == db.Postgres {
					err = row.Scan(&line)
					return line, err
				}
				var id, parent, unused int
				err = row.Scan(&id, &parent, &unused, &line)
				return line, err
			}, explain+query)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); !strings.Contains(text, "contact_submissions_state") || strings.Contains(text, "Sort") || strings.Contains(text, "TEMP B-TREE") {
				t.Errorf("%s\n%s", query, text)
			}
		}
	})
}
