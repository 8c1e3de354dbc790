package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
)

// visibleWorks returns the titles that a visitor sees.
func visibleWorks(s *site) string {
	var rows []struct{ Title string }
	if err := json.Unmarshal([]byte(s.call(anonymous, "GET", "products?select=title&order=title", "").body), &rows); err != nil {
		s.t.Fatal(err)
	}
	titles := make([]string, len(rows))
	for i, r := range rows {
		titles[i] = r.Title
	}
	return strings.Join(titles, " ")
}

// Proves T-published.
func TestEachWriteSetsWhetherAWorkIsPublished(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		const past, future = `"2026-03-12T09:30:00+00:00"`, `"2026-03-12T09:31:00+00:00"`
		check := func(name, want string) {
			t.Helper()
			if got := visibleWorks(s); got != want {
				t.Errorf("%s: visitors see %q, want %q", name, got, want)
			}
		}
		write := func(method, path, body string, header ...string) {
			t.Helper()
			if got := s.call(admin, method, path, body, header...); got.status >= 300 {
				t.Fatalf("%s %s %s: %d %s", method, path, body, got.status, got.body)
			}
		}
		row := func(n int, title, more string) string {
			return `{"id":"` + id(n) + `","title":"` + title + `"` + more + `}`
		}
		write("POST", "products", row(1, "A", "")) // published immediately, as specified
		write("POST", "products", row(2, "B", `,"published_at":null`))
		write("POST", "products", row(3, "C", `,"published_at":`+future))
		write("POST", "products", row(4, "D", `,"published_at":`+past))
		check("inserted", "A D")
		// The server decides is_published, whatever the caller sends.
		write("POST", "products", row(5, "E", `,"published_at":null,"is_published":true`))
		write("PATCH", "products?id=eq."+id(2), `{"is_published":true}`)
		write("PATCH", "products?id=eq."+id(3), `{"title":"C","is_published":true}`)
		write("PATCH", "products?id=eq."+id(1), `{"title":"A","is_published":false}`)
		check("is_published sent", "A D")
		write("PATCH", "products?id=eq."+id(2), `{"published_at":`+past+`}`)
		write("PATCH", "products?id=eq."+id(4), `{"published_at":null}`)
		check("changed", "A B")
		write("PATCH", "products?id=eq."+id(1), `{"published_at":`+future+`}`)
		write("PATCH", "products?id=eq."+id(1)+"&columns=title", `{"title":"A","published_at":`+past+`}`)
		check("a column that was not to be set", "B")
		write("POST", "products", row(1, "A", ""), "Prefer: resolution=merge-duplicates")
		check("merged without the column", "B")
		write("POST", "products", "["+row(1, "A", `,"published_at":`+past)+","+row(2, "B", `,"published_at":null`)+"]", "Prefer: resolution=merge-duplicates")
		check("merged with the column", "A")
		write("PUT", "products?id=eq."+id(1), row(1, "A", `,"published_at":null`))
		write("PUT", "products?id=eq."+id(6), row(6, "F", ""))
		check("put", "F")
		write("POST", "products?columns=title,published_at", `[{"title":"G"}]`, "Prefer: missing=default")
		check("missing=default", "F G")
		if got := s.call(admin, "GET", "products?select=published_at,is_published&id=eq."+id(6), ""); got.body != `[{"published_at":"2026-03-12T09:30:00.25+00:00","is_published":true}]` {
			t.Error(got.body)
		}
		if got := s.call(anonymous, "GET", "products?id=eq."+id(6), ""); !strings.Contains(got.body, `"published_at":"2026-03-12T09:30:00.25+00:00",`) {
			t.Error(got.body)
		}
		write("PATCH", "products?id=eq."+id(2), `{"published_at":"Now "}`) // the server's time, whatever the caller's clock says
		check("published now", "B F G")
		write("PATCH", "products?id=eq."+id(2), `{"published_at":null}`)
		s.refused("now for another kind", s.call(admin, "POST", "products", row(7, "H", `,"creation_date":"now"`)), 400, "22007")
		s.refused("bad time", s.call(admin, "POST", "products", row(7, "H", `,"published_at":"soon"`)), 400, "22007")
		// A trigger prevents SQL from publishing a draft.
		if _, err := s.db.Exec(t.Context(), "update products set is_published = true where published_at is null"); err == nil {
			t.Error("a draft was published")
		}
	})
}

// Proves T-published-time.
func TestScheduledWorksBecomeVisibleOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		at := today.Add(time.Minute)
		now := today
		s.service.now = func() time.Time { return now }
		var sent []string
		s.service.record = func(_ context.Context, _ *db.Tx, changes []db.RowChange) error {
			for _, c := range changes {
				var record struct{ Title string }
				if err := json.Unmarshal(c.Record, &record); err != nil {
					return err
				}
				sent = append(sent, c.Type+" "+record.Title)
			}
			return nil
		}
		for _, body := range []string{
			`{"title":"A","published_at":"` + db.FormatTime(at) + `"}`, `{"title":"B","published_at":"` + db.FormatTime(at.Add(time.Second)) + `"}`, `{"title":"draft","published_at":null}`, `{"title":"now"}`,
		} {
			if got := s.call(admin, "POST", "products", body); got.status != 201 {
				t.Fatal(got.status, got.body)
			}
		}
		version := func() (n int64) {
			t.Helper()
			if err := s.db.QueryRow(t.Context(), "select edited from content_version").Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n
		}
		for _, step := range []struct {
			at         time.Time
			next       time.Time
			sent, seen string
		}{
			{today, at, "", "now"},
			{at.Add(-time.Microsecond), at, "", "now"},
			{at, at.Add(time.Second), "UPDATE A", "A now"},
			{at, at.Add(time.Second), "", "A now"},
			{at.Add(time.Hour), time.Time{}, "UPDATE B", "A B now"},
			{at.Add(2 * time.Hour), time.Time{}, "", "A B now"},
		} {
			now, sent = step.at, nil
			before := version()
			next, err := s.service.ApplyScheduled(t.Context())
			if err != nil || !next.Equal(step.next) || strings.Join(sent, " ") != step.sent || visibleWorks(s) != step.seen {
				t.Errorf("at %s: next %s, %v, sent %v, visitors see %q", step.at, next, err, sent, visibleWorks(s))
			}
			if raised := version() > before; raised != (step.sent != "") {
				t.Errorf("at %s: the content version was raised: %t", step.at, raised)
			}
		}
		// Publishing on schedule is no edit: there is neither a revision nor an entry in the activity, and a form that was opened before can be saved.
		for _, query := range []string{"select count(*) from row_history", "select count(*) from activity where action = 'update'", "select count(*) from products where updated_at <> created_at"} {
			if n, err := db.One[int](t.Context(), s.db, query); err != nil || n != 0 {
				t.Errorf("%s: %d %v", query, n, err)
			}
		}
	})
}

// Several nodes look for due works at the same time. One of them publishes each work and sends the live change.
func TestNodesPublishAWorkOnce(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for n := range 20 {
			s.exec("insert into products (id, title, created_at, published_at, is_published) values ($1, 'A', $2, $3, $4)", id(n), today, today.Add(time.Minute), false)
		}
		sent := make(chan int, 20)
		s.service.record = func(_ context.Context, tx *db.Tx, changes []db.RowChange) error {
			tx.AfterCommit(func() { sent <- len(changes) })
			return nil
		}
		s.service.now = func() time.Time { return today.Add(time.Hour) }
		failed := make(chan error)
		for range 4 {
			go func() {
				_, err := s.service.ApplyScheduled(context.WithoutCancel(t.Context()))
				failed <- err
			}()
		}
		for range 4 {
			if err := <-failed; err != nil {
				t.Error(err)
			}
		}
		close(sent)
		sum := 0
		for n := range sent {
			sum += n
		}
		if sum != 20 {
			t.Errorf("%d works were sent", sum)
		}
	})
}

// Proves P-published-nowhere.
//
// A work that was deleted as a draft never had a public URL, so its URL is not that of a deleted work (410).
func TestURLOfADeletedDraftIs404(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for n, more := range []string{"", `,"published_at":null`, `,"published_at":"2026-04-01T00:00:00Z"`} {
			if got := s.call(admin, "POST", "products", fmt.Sprintf(`{"id":"%s","title":"A"%s}`, id(n), more)); got.status != 201 {
				t.Fatal(got.status, got.body)
			}
		}
		if got := s.call(admin, "DELETE", "products", ""); got.status != 204 {
			t.Fatal(got.status, got.body)
		}
		gone, err := db.Collect(t.Context(), s.db, db.ScanOne[string], "select cast(id as text) from gone_works")
		if err != nil || !slices.Equal(gone, []string{id(0)}) {
			t.Error(gone, err)
		}
	})
}
