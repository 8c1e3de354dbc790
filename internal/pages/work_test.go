package pages

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves P-found-gone, P-found-home.
//
// The URL of a deleted work gets 410, and that of a work that never existed 404. The URL of a work that belongs to another page redirects to that
// page.
func TestURLsOfMissingWorks(t *testing.T) {
	const deleted, unknown = "0b5e9dc4-2f4e-4c55-9d2d-00000000dead", "0b5e9dc4-2f4e-4c55-9d2d-00000000beef"
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		_, h, _ := newCountingService(t, d, time.Now)
		for _, sql := range []string{"insert into products (id, title, created_at) values ($1, 'A', '2026-01-02T00:00:00Z')", "delete from products where id = $1"} {
			if _, err := d.Exec(t.Context(), sql, deleted); err != nil {
				t.Fatal(err)
			}
		}
		for target, want := range map[string]int{
			"/gallery/all?art=" + testWork: 200, "/gallery/mural?art=" + testWork: 200, "/gallery/nonsense?art=" + testWork: 200, "/gallery/nonsense": 200,
			"/gallery/all?art=" + deleted: 410, "/gallery/mural?lang=pt&art=" + strings.ToUpper(deleted): 410, "/gallery?art=" + deleted: 410,
			"/gallery/all?art=" + unknown: 404, "/gallery/digital?art=" + unknown: 404, "/gallery/all?art=x": 404, "/gallery/all?art=": 200,
			"/?art=x": 200, "/politica-privacidade?art=" + deleted: 200,
		} {
			for range 2 { // made by the first request, then cached
				rec := sendRequest(h, target)
				if rec.Code != want {
					t.Errorf("%s: %d, not %d", target, rec.Code, want)
				}
				if noWork := strings.Contains(rec.Body.String(), `"noWork":true`); noWork != (want >= 400) {
					t.Errorf("%s: noWork is %v", target, noWork)
				}
			}
		}
		for target, want := range map[string]string{
			"/gallery/digital?lang=pt&art=" + testWork: "/gallery/mural?art=" + testWork + "&lang=pt", // the page of the work's type
			"/?art=" + deleted:                         "/gallery/all?art=" + deleted,
			"/?lang=pt&art=" + unknown:                 "/gallery/all?art=" + unknown + "&lang=pt",
		} {
			if rec := sendRequest(h, target); rec.Code != http.StatusFound || rec.Header().Get("Location") != want {
				t.Errorf("%s: %d %q, not %q", target, rec.Code, rec.Header().Get("Location"), want)
			}
		}
	})
}

// Proves P-found-gone.
//
// An owner deletes a work when a request for its URL has found it, but has not made the page.
func TestTheURLOfAWorkThatIsDeletedDuringARequest(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s, h, _ := newCountingService(t, d, time.Now)
		if _, err := d.Exec(t.Context(), "insert into products (id, title, created_at) values ($1, 'A', '2026-01-02T00:00:00Z')", testWork); err != nil {
			t.Fatal(err)
		}
		readRows, deleted := s.cfg.Content.Rows, false
		s.cfg.Content.Rows = func(ctx context.Context, table, query string) ([]string, error) {
			if deleted && table == "products" {
				return nil, nil
			}
			found, err := readRows(ctx, table, query)
			if table == "products" && strings.Contains(query, "id=eq."+testWork) {
				deleted = true
				if _, err := d.Exec(ctx, "delete from products where id = $1", testWork); err != nil {
					return nil, err
				}
			}
			return found, err
		}
		target := "/gallery/mural?art=" + testWork
		sendRequest(h, target)
		if rec := sendRequest(h, target); !deleted || rec.Code != http.StatusGone {
			t.Errorf("deleted: %v, got %d", deleted, rec.Code)
		}
	})
}
