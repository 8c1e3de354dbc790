package tables

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
)

// visibleCovers returns the titles of the covers that a visitor sees.
func visibleCovers(s *site) string {
	var rows []struct{ Title string }
	if err := json.Unmarshal([]byte(s.call(anonymous, "GET", "cover_images?select=title&order=title", "").body), &rows); err != nil {
		s.t.Fatal(err)
	}
	titles := make([]string, len(rows))
	for i, r := range rows {
		titles[i] = r.Title
	}
	return strings.Join(titles, " ")
}

// Proves T-cover-times.
func TestEachWriteSetsTheVisibilityOfACover(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		const past, now, future = `"2026-03-12T09:29:00+00:00"`, `"2026-03-12T09:30:00.25+00:00"`, `"2026-03-12T09:31:00+00:00"`
		check := func(name, want string) {
			t.Helper()
			if got := visibleCovers(s); got != want {
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
			return `{"id":"` + id(n) + `","image_url":"/a.jpg","title":"` + title + `"` + more + `}`
		}
		write("POST", "cover_images", row(1, "A", ""))
		write("POST", "cover_images", row(2, "B", `,"visible_from":`+future))
		write("POST", "cover_images", row(3, "C", `,"visible_until":`+past))
		write("POST", "cover_images", row(4, "D", `,"visible_from":`+past+`,"visible_until":`+future))
		write("POST", "cover_images", row(5, "E", `,"visible_from":`+past+`,"visible_until":`+now))
		write("POST", "cover_images", row(6, "F", `,"is_active":false,"visible_from":`+past+`,"visible_until":`+future))
		write("POST", "cover_images", row(7, "G", `,"visible_from":`+now))
		check("inserted", "A D G")
		// The server decides has_begun and has_ended, whatever the caller sends.
		write("PATCH", "cover_images?id=eq."+id(2), `{"has_begun":true,"has_ended":false}`)
		write("PATCH", "cover_images?id=eq."+id(3), `{"title":"C","has_ended":false}`)
		write("PATCH", "cover_images?id=eq."+id(1), `{"title":"A","has_begun":false,"has_ended":true}`)
		check("has_begun and has_ended were sent", "A D G")
		// Each of the two times is changed alone.
		write("PATCH", "cover_images?id=eq."+id(4), `{"visible_until":`+now+`}`)
		write("PATCH", "cover_images?id=eq."+id(5), `{"visible_until":null}`)
		check("ends were changed", "A E G")
		write("PATCH", "cover_images?id=eq."+id(5), `{"visible_from":`+future+`}`)
		write("PATCH", "cover_images?id=eq."+id(2), `{"visible_from":null}`)
		check("beginnings were changed", "A B G")
		write("POST", "cover_images", row(2, "B", `,"visible_until":`+past), "Prefer: resolution=merge-duplicates")
		write("POST", "cover_images", row(1, "A", ""), "Prefer: resolution=merge-duplicates")
		check("merged", "A G")
		write("PUT", "cover_images?id=eq."+id(3), row(3, "C", `,"visible_until":null`))
		check("put", "A C G")
		s.refused("an end before the beginning", s.call(admin, "PATCH", "cover_images?id=eq."+id(5), `{"visible_until":`+past+`}`), 400, "23514")
		got := s.call(admin, "GET", "cover_images?select=visible_from,has_begun,visible_until,has_ended&id=eq."+id(5), "").body
		if got != `[{"visible_from":"2026-03-12T09:31:00+00:00","has_begun":false,"visible_until":null,"has_ended":false}]` {
			t.Error(got)
		}
		// A trigger prevents SQL from showing or hiding a cover against its times.
		for _, set := range []string{"has_begun = false, visible_from = null", "has_ended = true, visible_until = null"} {
			if _, err := s.db.Exec(t.Context(), "update cover_images set "+set); err == nil {
				t.Error("stored: " + set)
			}
		}
	})
}

// Proves T-cover-times-time.
func TestCoversAreShownAndHiddenAtTheirTimes(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		at := today.Add(time.Minute)
		now := today
		s.service.now = func() time.Time { return now }
		sent := map[string]int{}
		s.service.record = func(_ context.Context, _ *db.Tx, changes []db.RowChange) error {
			for _, c := range changes {
				var record struct{ Title string }
				if err := json.Unmarshal(c.Record, &record); err != nil {
					return err
				}
				sent[c.Type+" "+record.Title]++
			}
			return nil
		}
		stamp := func(d time.Duration) string { return `"` + db.FormatTime(at.Add(d)) + `"` }
		for _, body := range []string{
			`{"image_url":"/a","title":"A","visible_from":` + stamp(0) + `,"visible_until":` + stamp(time.Hour) + `}`,
			`{"image_url":"/a","title":"B","visible_until":` + stamp(time.Second) + `}`,
			`{"image_url":"/a","title":"C","visible_from":` + stamp(2*time.Hour) + `,"visible_until":` + stamp(3*time.Hour) + `}`,
			`{"image_url":"/a","title":"D"}`,
		} {
			if got := s.call(admin, "POST", "cover_images", body); got.status != 201 {
				t.Fatal(got.status, got.body)
			}
		}
		if got := s.call(admin, "POST", "products", `{"title":"W","published_at":`+stamp(0)+`}`); got.status != 201 {
			t.Fatal(got.status, got.body)
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
			{today, at, "", "B D"},
			{at.Add(-time.Microsecond), at, "", "B D"},
			{at, at.Add(time.Second), "UPDATE A,UPDATE W", "A B D"},
			{at.Add(time.Second), at.Add(time.Hour), "UPDATE B", "A D"},
			{at.Add(4 * time.Hour), time.Time{}, "UPDATE A,UPDATE C", "D"}, // both times of C have passed meanwhile
			{at.Add(5 * time.Hour), time.Time{}, "", "D"},
		} {
			now = step.at
			clear(sent)
			before := version()
			next, err := s.service.ApplyScheduled(t.Context())
			if got := strings.Join(slices.Sorted(maps.Keys(sent)), ","); err != nil || !next.Equal(step.next) || got != step.sent || visibleCovers(s) != step.seen {
				t.Errorf("at %s: next %s, %v, sent %v, visitors see %q", step.at, next, err, sent, visibleCovers(s))
			}
			for change, n := range sent {
				if n != 1 {
					t.Errorf("at %s: %s was sent %d times", step.at, change, n)
				}
			}
			if raised := version() > before; raised != (step.sent != "") {
				t.Errorf("at %s: the content version was raised: %t", step.at, raised)
			}
		}
		for _, query := range []string{"select count(*) from row_history", "select count(*) from activity where action = 'update'", "select count(*) from cover_images where updated_at <> created_at"} {
			if n, err := db.One[int](t.Context(), s.db, query); err != nil || n != 0 {
				t.Errorf("%s: %d %v", query, n, err)
			}
		}
	})
}
