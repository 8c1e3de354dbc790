package tables

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"atelie/internal/apperr"
	"atelie/internal/imported"
)

func TestImportedRowsAreCheckedAndCompared(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		relative := func(u string) string { return strings.Replace(u, "https://old.example", "", 1) }
		work := map[string]any{
			"id": id(90), "title": "Mural", "image_url": "https://old.example/a.jpg", "image_gallery": `["https://old.example/b.jpg"]`, "video_gallery": nil, "tags": []any{"a"},
			"is_featured": nil, "price": json.Number("0.00"), "creation_date": "2024-01-02", "created_at": "2024-01-02 03:04:05.678901+00", "updated_at": "x", "note": nil,
		}
		run := func(table string, write bool, rows ...map[string]any) []imported.RowResult {
			t.Helper()
			results, err := s.service.ImportRows(t.Context(), table, rows, relative, write)
			if err != nil || len(results) != len(rows) {
				t.Fatalf("got %v, error %v", results, err)
			}
			return results
		}
		for n, write := range []bool{false, true, true} {
			if r := run("products", write, work)[0]; r.Key != id(90) || r.Added != (n < 2) || r.Err != nil || r.LeftOut != nil {
				t.Errorf("run %d: %+v", n, r)
			}
			if got := s.count("products"); got != min(n, 1) {
				t.Errorf("run %d: %d rows", n, got)
			}
		}
		changed := map[string]any{"id": id(90), "title": "Wall", "image_url": "/a.jpg", "price": "12.50", "note": "x"}
		results := run("products", true, changed, map[string]any{"title": "no id"}, map[string]any{"id": id(91), "title": "", "price": json.Number("3")}, map[string]any{"id": "x", "title": "bad"},
			map[string]any{"id": id(92), "title": "Good"}, map[string]any{"id": id(92), "title": "Twice"})
		for n, want := range []string{"other values (title)", "no key", "must not be empty", "invalid input syntax", "", "other values (title)"} {
			if err := results[n].Err; (want == "") != (err == nil) || err != nil && !strings.Contains(err.Message+err.Details, want) {
				t.Errorf("row %d: %v", n, err)
			}
		}
		if !slices.Equal(results[0].LeftOut, []string{"note", "price"}) || !results[4].Added || results[5].Added || s.count("products") != 2 {
			t.Errorf("got %+v", results)
		}
		// A row that the database refuses does not affect the other rows.
		results = run("user_roles", true, map[string]any{"user_id": id(93), "role": "admin", "id": id(1), "created_at": "x"}, map[string]any{"user_id": id(94), "role": "admin"})
		if results[0].Err == nil || results[0].LeftOut != nil || results[1].Err == nil {
			t.Errorf("got %+v", results)
		}
		// Rows without a position are numbered once.
		review := map[string]any{"id": id(95), "client_name": "Rui", "message": "Olá", "display_order": nil}
		for n := range 2 {
			if r := run("reviews", true, review)[0]; r.Err != nil || r.Added != (n == 0) {
				t.Errorf("review: %+v", r)
			}
		}
		// The source does not say when a work was published, so the import takes the time at which it was created.
		run("products", true, map[string]any{"id": id(96), "title": "Future", "created_at": "2027-01-01T00:00:00Z"},
			map[string]any{"id": id(97), "title": "Draft", "created_at": "2024-01-02T00:00:00Z", "published_at": nil})
		s.want("times", s.call(admin, "GET", "products?select=title,published_at,is_published&order=id", ""), 200,
			`[{"title":"Mural","published_at":"2024-01-02T03:04:05.678901+00:00","is_published":true},`+
				`{"title":"Good","published_at":"2026-03-12T09:30:00.25+00:00","is_published":true},`+
				`{"title":"Future","published_at":"2026-03-12T09:30:00.25+00:00","is_published":true},`+
				`{"title":"Draft","published_at":null,"is_published":false}]`)
		// A source may be an earlier site of this program, with alternative texts.
		described := map[string]any{"id": id(99), "title": "Described", "alt_texts": `{"/a.jpg":{"en":"A boat","pt":"Um barco"}}`}
		for n := range 2 {
			if r := run("products", true, described)[0]; r.Err != nil || r.Added != (n == 0) {
				t.Errorf("alternative texts: %+v", r)
			}
		}
		if r := run("products", true, work)[0]; r.Added || r.Err != nil {
			t.Errorf("a repeated import: %+v", r)
		}
		if _, err := s.service.ImportRows(t.Context(), "nothing", nil, relative, true); apperr.From(err).Code != "PGRST205" {
			t.Error(err)
		}
	})
}
