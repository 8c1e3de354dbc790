package tables

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"atelie/internal/db"
)

// Proves A-history-series.
func TestChangesOfTheWorksOfASeriesCreateRevisions(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		// revisions returns the works of each revision of series 5, the oldest revision first, and deletes the history.
		revisions := func() (all []string) {
			t.Helper()
			rows, err := db.Collect(t.Context(), s.db, db.ScanOne[string], "select cast(row_before as text) from row_history where table_name = 'series_works' and row_id = $1 and action = 'update' order by id", id(5))
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				var before struct {
					Pairs []struct {
						ProductID string `json:"product_id"`
						SeriesID  string `json:"series_id"`
						Position  string
						CreatedAt string `json:"created_at"`
					}
				}
				if err := json.Unmarshal([]byte(row), &before); err != nil {
					t.Fatal(err)
				}
				works := ""
				for _, p := range before.Pairs {
					works += p.ProductID[len(p.ProductID)-1:]
					if p.Position == "" || p.CreatedAt == "" || p.SeriesID != id(5) {
						t.Errorf("an incomplete pair: %s", row)
					}
				}
				all = append(all, works)
			}
			s.exec("delete from row_history")
			return all
		}
		pair := func(work int) string { return id(16*5 + work) }
		later := func() { s.exec("update row_history set changed_at = $1", today) } // makes the revisions so old that the next change adds one
		want := func(what string, works ...string) {
			t.Helper()
			if got := revisions(); !slices.Equal(got, works) {
				t.Errorf("%s: %q, want %q", what, got, works)
			}
		}
		want("four works added at once", "")
		s.write("POST", "rpc/move_series_work", moveBody(`["`+pair(4)+`"]`, "first", "null"))
		s.write("POST", "rpc/move_series_work", moveBody(`["`+pair(3)+`"]`, "first", "null"))
		s.write("DELETE", "series_works?id=eq."+pair(1), "")
		want("three changes within ten minutes", "1234")
		s.write("POST", "series_works", fmt.Sprintf(`{"id":"%s","series_id":"%s","product_id":"%s"}`, pair(1), id(5), id(1)))
		later()
		s.write("POST", "rpc/move_series_work", moveBody(`["`+pair(2)+`"]`, "first", "null"))
		s.write("PATCH", "series?id=eq."+id(5), `{"title":"Morning"}`)
		s.write("DELETE", "series_works?series_id=eq."+id(5)+"&product_id=in.("+id(1)+","+id(2)+")", "")
		want("later, and after the row", "342", "3412", "2341")
		s.write("POST", "series_works", fmt.Sprintf(`{"id":"%s","series_id":"%s","product_id":"%s"}`, pair(3), id(5), id(3)), "Prefer: resolution=ignore-duplicates")
		s.write("PATCH", "products?id=eq."+id(3), `{"artwork_type":"oil"}`)
		want("nothing changed")
		s.write("DELETE", "products?id=eq."+id(3), "")
		s.write("DELETE", "series?id=eq."+id(5), "")
		want("what deletions take along is kept by them")
	})
}
