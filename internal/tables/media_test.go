package tables

import (
	"slices"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// atToday is the clock of services in these tests.
func atToday() time.Time { return today }

func TestMediaURLsReturnsEveryURLOfAFile(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newService(d)
		if urls, err := s.MediaURLs(t.Context()); err != nil || len(urls) != 0 {
			t.Fatalf("without rows: %q, %v", urls, err)
		}
		caller := identity.Caller{Role: identity.Service}
		for table, rows := range map[string][]map[string]any{
			"products": {
				{"title": "all", "image_url": "/p1", "image_gallery": []string{"/p2", `/p "3",`}, "video_gallery": []string{"/p4"}, "description": "/no"},
				{"title": "none"},
			},
			"reviews":      {{"client_name": "c", "message": "m", "image_url": "/r1", "is_active": false}},
			"cover_images": {{"image_url": "/c1", "video_thumbnail_url": "/c2", "is_active": false, "title": "/no"}},
		} {
			if err := s.InsertRows(t.Context(), caller, table, rows); err != nil {
				t.Fatal(err)
			}
		}
		urls, err := s.MediaURLs(t.Context())
		slices.Sort(urls)
		if want := []string{"/c1", "/c2", `/p "3",`, "/p1", "/p2", "/p4", "/r1"}; err != nil || !slices.Equal(urls, want) {
			t.Errorf("got %q, %v", urls, err)
		}
	})
}

// TestMediaURLsHasNoLimit checks that all URLs are returned. A file whose URL is omitted would be deleted.
func TestMediaURLsHasNoLimit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newService(d)
		for range 2 {
			rows := make([]map[string]any, maxRows)
			for i := range rows {
				rows[i] = map[string]any{"image_url": "/c"}
			}
			if err := s.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, "cover_images", rows); err != nil {
				t.Fatal(err)
			}
		}
		if urls, err := s.MediaURLs(t.Context()); err != nil || len(urls) != 2*maxRows {
			t.Errorf("%d URLs of %d, %v", len(urls), 2*maxRows, err)
		}
	})
}

// TestMediaColumnsAreAllColumnsWithURLs fails if a column with URLs is added to a table and not to the list.
func TestMediaColumnsAreAllColumnsWithURLs(t *testing.T) {
	for name, table := range schema {
		for _, c := range table.Columns {
			if listed := slices.Contains(mediaColumns[name], c.Name); listed != (c.MaxLen == maxAddress) {
				t.Errorf("%s.%s: in mediaColumns %t, has URLs %t", name, c.Name, listed, c.MaxLen == maxAddress)
			}
		}
	}
}

func TestMediaURLsReturnsTheDatabasesError(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	if _, err := d.Exec(t.Context(), "drop table reviews"); err != nil {
		t.Fatal(err)
	}
	if _, err := newService(d).MediaURLs(t.Context()); err == nil {
		t.Error("no error: every file would count as left behind")
	}
}
