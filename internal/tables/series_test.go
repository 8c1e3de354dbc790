package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"atelie/internal/db"
)

// fillSeries stores works 1 to 4 (a mural, a watercolour, a draft mural, an oil) and series 5 (published) and 6 (hidden), which both have
// the works 1 to 4 in this order. Pair 16*s+w has work w of series s.
func (s *site) fillSeries() {
	s.t.Helper()
	for n, more := range []string{`"artwork_type":"mural"`, `"artwork_type":"watercolour"`, `"artwork_type":"mural","published_at":null`, `"artwork_type":"oil"`} {
		s.write("POST", "products", fmt.Sprintf(`{"id":"%s","title":"W","image_url":"/%d.jpg",%s}`, id(n+1), n+1, more))
	}
	s.write("POST", "series", `{"id":"`+id(5)+`","slug":"light","title":"Light"}`)
	s.write("POST", "series", `{"id":"`+id(6)+`","slug":"dark","title":"Dark","is_published":false}`)
	for _, series := range []int{5, 6} {
		var pairs []string
		for work := range 4 {
			pairs = append(pairs, fmt.Sprintf(`{"id":"%s","series_id":"%s","product_id":"%s"}`, id(16*series+work+1), id(series), id(work+1)))
		}
		s.write("POST", "series_works", "["+strings.Join(pairs, ",")+"]")
	}
	s.changed = nil
}

func (s *site) write(method, path, body string) {
	s.t.Helper()
	if got := s.call(admin, method, path, body); got.status >= 300 {
		s.t.Fatalf("%s %s %s: %d %s", method, path, body, got.status, got.body)
	}
}

// worksOf returns the last digits of the works of a series that a caller sees, in their order.
func (s *site) worksOf(who string, series int, more string) string {
	s.t.Helper()
	var rows []struct {
		ProductID string `json:"product_id"`
	}
	if err := json.Unmarshal([]byte(s.call(who, "GET", "series_works?select=product_id&series_id=eq."+id(series)+"&order=position"+more, "").body), &rows); err != nil {
		s.t.Fatal(err)
	}
	found := ""
	for _, row := range rows {
		found += row.ProductID[len(row.ProductID)-1:]
	}
	return found
}

// Proves T-series-visible.
func TestVisitorsSeeWorksOfASeriesWhenBothArePublished(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		check := func(name, light, dark, series string) {
			t.Helper()
			for _, who := range []string{anonymous, signedIn} {
				if a, b := s.worksOf(who, 5, ""), s.worksOf(who, 6, ""); a != light || b != dark {
					t.Errorf("%s: %s sees %q and %q, want %q and %q", name, who, a, b, light, dark)
				}
			}
			if a, b := s.worksOf(admin, 5, ""), s.worksOf(admin, 6, ""); a != "1234" || b != "1234" {
				t.Errorf("%s: the owner sees %q and %q", name, a, b)
			}
			if got := s.call(anonymous, "GET", "series?select=slug,types,image_url&order=position", "").body; got != series {
				t.Errorf("%s: %s, want %s", name, got, series)
			}
		}
		light := `{"slug":"light","types":["mural","oil","watercolour"],"image_url":"/1.jpg"}`
		check("at first", "124", "", "["+light+"]")
		s.write("PATCH", "series?id=eq."+id(6), `{"is_published":true}`)
		check("a series that is published", "124", "124", "["+light+","+strings.Replace(light, "light", "dark", 1)+"]")
		s.write("PATCH", "series?id=eq."+id(6), `{"is_published":false}`)
		s.write("PATCH", "products?id=eq."+id(3), `{"published_at":"2026-03-12T09:30:00Z"}`)
		check("a work that is published", "1234", "", "["+light+"]")
		s.write("PATCH", "products?id=eq."+id(1), `{"published_at":null}`)
		check("a cover that is hidden", "234", "", `[{"slug":"light","types":["mural","oil","watercolour"],"image_url":"/2.jpg"}]`)
		s.write("PATCH", "products?id=eq."+id(3), `{"artwork_type":"digital"}`)
		check("another type", "234", "", `[{"slug":"light","types":["digital","oil","watercolour"],"image_url":"/2.jpg"}]`)
		if got := s.worksOf(anonymous, 5, "&artwork_type=eq.digital"); got != "3" {
			t.Errorf("by type: %q", got)
		}
		s.write("PATCH", "series?id=eq."+id(5), `{"cover_id":"`+id(4)+`","types":["mural"],"image_url":"/forged.jpg"}`)
		check("a chosen cover", "234", "", `[{"slug":"light","types":["digital","oil","watercolour"],"image_url":"/4.jpg"}]`)
		s.write("PATCH", "products?id=eq."+id(4), `{"image_url":"/5.jpg"}`)
		check("a cover with another picture", "234", "", `[{"slug":"light","types":["digital","oil","watercolour"],"image_url":"/5.jpg"}]`)
		s.write("PATCH", "series_works?id=eq."+id(16*5+1), `{"is_visible":true,"is_published":true,"artwork_type":"oil"}`)
		check("what triggers keep cannot be written", "234", "", `[{"slug":"light","types":["digital","oil","watercolour"],"image_url":"/5.jpg"}]`)
		s.exec("update products set published_at = '2026-03-12T09:00:00Z', is_published = $1 where id = $2", true, id(1)) // as PublishScheduled does
		check("a scheduled time that has come", "1234", "", `[{"slug":"light","types":["digital","mural","oil","watercolour"],"image_url":"/5.jpg"}]`)
		s.exec("delete from products where id = $1", id(4))
		if got := s.call(anonymous, "GET", "series?select=types,image_url", "").body; got != `[{"types":["digital","mural","watercolour"],"image_url":"/1.jpg"}]` || s.worksOf(admin, 6, "") != "123" {
			t.Errorf("a deleted work: %s", got)
		}
	})
}

// Proves T-series-names.
func TestSeriesHaveNamesOfTheirOwn(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		for _, slug := range []string{"", "Light", "light ", "a--b", "-a", "a-", "luz de cal", "água", "a/b", strings.Repeat("a", 101)} {
			body, err := json.Marshal(map[string]string{"slug": slug, "title": "A"})
			if err != nil {
				t.Fatal(err)
			}
			code := "23514"
			if len(slug) > 100 {
				code = "22001"
			}
			s.refused(slug, s.call(admin, "POST", "series", string(body)), http.StatusBadRequest, code)
		}
		e := s.refused("taken", s.call(admin, "POST", "series", `{"slug":"light","title":"A"}`), http.StatusConflict, db.UniqueViolation)
		if e.Details == nil || *e.Details != "A row with this id or slug already exists." {
			t.Errorf("%+v", e)
		}
		s.refused("a work twice", s.call(admin, "POST", "series_works", `{"series_id":"`+id(5)+`","product_id":"`+id(1)+`"}`), http.StatusConflict, db.UniqueViolation)
		s.refused("no such work", s.call(admin, "POST", "series_works", `{"series_id":"`+id(5)+`","product_id":"`+id(9)+`"}`), http.StatusConflict, db.ForeignKeyViolation)
	})
}

// Proves T-series-order.
func TestWorksOfASeriesAreMoved(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		pairs := func(ns ...int) string {
			keys := make([]int, len(ns))
			for i, n := range ns {
				keys[i] = 16*5 + n
			}
			return list(keys...)
		}
		target := func(n int) string { return `"` + id(16*5+n) + `"` }
		for _, c := range []struct{ name, ids, place, target, want string }{
			{"last", pairs(1), "last", "null", "2341"},
			{"first", pairs(1), "first", "null", "1234"},
			{"before", pairs(4), "before", target(2), "1423"},
			{"after", pairs(1, 4), "after", target(3), "2314"},
			{"several to the end", pairs(3, 2), "last", "null", "1432"},
			{"several to the beginning", pairs(2, 3), "first", "null", "2314"},
			{"after the last", pairs(2), "after", target(4), "3142"},
		} {
			s.want(c.name, s.call(admin, "POST", "rpc/move_series_work", moved(c.ids, c.place, c.target)), 204, "")
			if got := s.worksOf(admin, 5, ""); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
			if got := s.worksOf(admin, 6, ""); got != "1234" {
				t.Errorf("%s: the other series is in the order %s", c.name, got)
			}
		}
		s.write("POST", "products", `{"id":"`+id(7)+`","title":"W"}`)
		s.write("POST", "series_works", `{"series_id":"`+id(5)+`","product_id":"`+id(7)+`","created_at":"2027-01-01T00:00:00Z"}`)
		if got := s.worksOf(admin, 5, ""); got != "31427" {
			t.Errorf("a new work comes last: %s", got)
		}
		order := func() string { return ids(t, s.call(admin, "GET", "series?select=id&order=position", "").body) }
		s.want("a series", s.call(admin, "POST", "rpc/move_series", moved(list(6), "first", "null")), 204, "")
		if got := order(); got != "65" {
			t.Errorf("moved: %s", got)
		}
		s.write("POST", "series", `{"id":"`+id(8)+`","slug":"new","title":"New","created_at":"2027-01-01T00:00:00Z"}`)
		if got := order(); got != "658" {
			t.Errorf("a new series comes last: %s", got)
		}
		if !slices.Contains(s.changed, "series") || !slices.Contains(s.changed, "series_works") {
			t.Errorf("nobody was told: %v", s.changed)
		}
		// Rows of another program have no keys. They are in their order by time, and a move numbers them.
		s.exec("update series_works set position = ''")
		s.want("without keys", s.call(admin, "POST", "rpc/move_series_work", moved(pairs(4), "first", "null")), 204, "")
		if got := s.worksOf(admin, 5, ""); got[0] != '4' || len(got) != 5 {
			t.Errorf("renumbered: %s", got)
		}
	})
}

// TestManyMovesToOnePlace: between the same two works there is always room.
func TestManyMovesToOnePlaceOfASeries(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		for n := range 40 {
			s.want("before", s.call(admin, "POST", "rpc/move_series_work", moved(list(16*5+1+n%2), "before", `"`+id(16*5+3)+`"`)), 204, "")
			want := "2134"
			if n%2 == 1 {
				want = "1234"
			}
			if got := s.worksOf(admin, 5, ""); got != want {
				t.Fatalf("move %d: %s, want %s", n, got, want)
			}
		}
	})
}

// Proves T-series-deleted.
//
// TestDeletionsTakePairsAlong: live clients are told of each pair, and one revision has them all, under the id of the deleted row.
func TestDeletionsTakePairsAlong(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		var told []string
		s.service.record = func(_ context.Context, _ *db.Tx, changes []db.RowChange) error {
			for _, c := range changes {
				var old struct{ ID string }
				if err := json.Unmarshal(c.Old, &old); err != nil {
					return err
				}
				told = append(told, c.Table+" "+c.Type+" "+old.ID[len(old.ID)-2:])
			}
			return nil
		}
		kept := func(of int) (found []string) {
			t.Helper()
			rows, err := db.Collect(t.Context(), s.db, db.ScanOne[string], "select cast(row_before as text) from row_history where table_name = 'series_works' and row_id = $1", id(of))
			if err != nil {
				t.Fatal(err)
			}
			for _, row := range rows {
				var before struct {
					Pairs []struct{ ID, Position string }
				}
				if err := json.Unmarshal([]byte(row), &before); err != nil {
					t.Fatal(err)
				}
				for _, p := range before.Pairs {
					if p.Position == "" {
						t.Errorf("no position: %s", row)
					}
					found = append(found, p.ID[len(p.ID)-2:])
				}
			}
			slices.Sort(found)
			return found
		}
		s.write("DELETE", "products?id=eq."+id(2), "")
		slices.Sort(told)
		if want := []string{"products DELETE 02", "series_works DELETE 52", "series_works DELETE 62"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if got := kept(2); !slices.Equal(got, []string{"52", "62"}) {
			t.Errorf("pairs of the work: %q", got)
		}
		told = nil
		s.write("DELETE", "series?id=eq."+id(5), "")
		slices.Sort(told)
		if want := []string{"series DELETE 05", "series_works DELETE 51", "series_works DELETE 53", "series_works DELETE 54"}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
		if got := kept(5); !slices.Equal(got, []string{"51", "53", "54"}) {
			t.Errorf("pairs of the series: %q", got)
		}
		s.write("DELETE", "series_works?id=eq."+id(16*6+1), "")
		s.write("DELETE", "products?id=eq."+id(1), "")
		if got := kept(1); got != nil {
			t.Errorf("a work without series left %q", got)
		}
	})
}
