package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// fillSeries stores works 1 to 4 (a mural, a watercolour, a draft mural, an oil) and series 5 (published) and 6 (hidden), which both have
// the works 1 to 4 in this order. The id of the row for work w of
// series s is 16*s+w.
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

// write sends a request as the owner, which must succeed.
func (s *site) write(method, path, body string, header ...string) {
	s.t.Helper()
	if got := s.call(admin, method, path, body, header...); got.status >= 300 {
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
func TestVisitorsSeeAWorkOfASeriesIfBothArePublished(t *testing.T) {
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

// Proves T-series-visible.
//
// TestVisitorsDoNotReadTheChosenCoverOfASeries chooses a draft as the cover. For visitors the column must not exist: neither values, nor
// filters and orders that would tell its values, nor live changes.
func TestVisitorsDoNotReadTheChosenCoverOfASeries(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		var recorded []string
		s.service.record = func(_ context.Context, _ *db.Tx, changes []db.RowChange) error {
			for _, c := range changes {
				recorded = append(recorded, c.Table+" "+string(c.Record)+string(c.Old))
			}
			return nil
		}
		s.write("PATCH", "series?id=eq."+id(5), `{"cover_id":"`+id(3)+`"}`)
		if len(recorded) != 1 || !strings.HasPrefix(recorded[0], "series {") || strings.Contains(recorded[0], "cover_id") || strings.Contains(recorded[0], id(3)) {
			t.Errorf("live changes: %s", recorded)
		}
		for _, c := range ColumnTypes()["series"] {
			if c.Name == "cover_id" {
				t.Error("live clients get the column")
			}
		}
		for _, who := range []string{anonymous, signedIn} {
			for _, query := range []string{"series", "series?select=*", "series?slug=eq.light"} {
				if got := s.call(who, "GET", query, ""); got.status != http.StatusOK || !strings.Contains(got.body, `"slug":"light"`) || strings.Contains(got.body, "cover_id") || strings.Contains(got.body, id(3)) {
					t.Errorf("%s, %s: %d %s", who, query, got.status, got.body)
				}
			}
			for _, query := range []string{"select=cover_id", "select=slug,c:cover_id::text", "cover_id=eq." + id(3), "cover_id=not.is.null", "order=cover_id", "or=(cover_id.eq." + id(3) + ",slug.eq.light)", "columns=slug&order=slug,cover_id.desc"} {
				s.refused(who+" "+query, s.call(who, "GET", "series?"+query, ""), http.StatusBadRequest, "42703")
				if got := s.call(who, "HEAD", "series?"+query, "", "Prefer: count=exact"); got.status != http.StatusBadRequest {
					t.Errorf("%s, HEAD %s: %d", who, query, got.status)
				}
			}
		}
		for _, who := range []string{admin, service} {
			for _, query := range []string{"series?slug=eq.light", "series?select=slug,cover_id&cover_id=eq." + id(3) + "&order=cover_id"} {
				if got := s.call(who, "GET", query, ""); !strings.Contains(got.body, `"cover_id":"`+id(3)+`"`) {
					t.Errorf("%s, %s: %d %s", who, query, got.status, got.body)
				}
			}
		}
	})
}

// Proves T-series-names.
func TestSlugsOfSeriesAreValidAndUnique(t *testing.T) {
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
func TestMoveWorksOfASeries(t *testing.T) {
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
			s.want(c.name, s.call(admin, "POST", "rpc/move_series_work", moveBody(c.ids, c.place, c.target)), 204, "")
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
		s.want("a series", s.call(admin, "POST", "rpc/move_series", moveBody(list(6), "first", "null")), 204, "")
		if got := order(); got != "65" {
			t.Errorf("moved: %s", got)
		}
		s.write("POST", "series", `{"id":"`+id(8)+`","slug":"new","title":"New","created_at":"2027-01-01T00:00:00Z"}`)
		if got := order(); got != "658" {
			t.Errorf("a new series comes last: %s", got)
		}
		if !slices.Contains(s.changed, "series") || !slices.Contains(s.changed, "series_works") {
			t.Errorf("no change was recorded: %v", s.changed)
		}
		// Rows of another program have no keys. They are ordered by time until a move gives them keys.
		s.exec("update series_works set position = ''")
		s.want("without keys", s.call(admin, "POST", "rpc/move_series_work", moveBody(pairs(4), "first", "null")), 204, "")
		if got := s.worksOf(admin, 5, ""); got[0] != '4' || len(got) != 5 {
			t.Errorf("renumbered: %s", got)
		}
	})
}

// Between the same two works there is always another order key.
func TestManyMovesBetweenTheSameTwoWorksOfASeries(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		for n := range 40 {
			s.want("before", s.call(admin, "POST", "rpc/move_series_work", moveBody(list(16*5+1+n%2), "before", `"`+id(16*5+3)+`"`)), 204, "")
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
// TestDeletedWorkOrSeriesDeletesItsPairs also checks the live changes for each pair and for each series that loses a type, and that one revision
// has all pairs, under the id of the deleted row.
func TestDeletedWorkOrSeriesDeletesItsPairs(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		var events []string
		s.service.record = func(_ context.Context, _ *db.Tx, changes []db.RowChange) error {
			for _, c := range changes {
				var old struct{ ID string }
				if err := json.Unmarshal(c.Old, &old); err != nil {
					return err
				}
				events = append(events, c.Table+" "+c.Type+" "+old.ID[len(old.ID)-2:])
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
		slices.Sort(events)
		if want := []string{"products DELETE 02", "series UPDATE 05", "series UPDATE 06", "series_works DELETE 52", "series_works DELETE 62"}; !slices.Equal(events, want) {
			t.Errorf("recorded %q, want %q", events, want)
		}
		if got := kept(2); !slices.Equal(got, []string{"52", "62"}) {
			t.Errorf("pairs of the work: %q", got)
		}
		events = nil
		s.write("DELETE", "series?id=eq."+id(5), "")
		slices.Sort(events)
		if want := []string{"series DELETE 05", "series_works DELETE 51", "series_works DELETE 53", "series_works DELETE 54"}; !slices.Equal(events, want) {
			t.Errorf("recorded %q, want %q", events, want)
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

// Proves T-series-told.
//
// TestLiveChangesOfComputedColumns checks that a live change is sent for each pair and series whose columns triggers have changed, and for no other.
func TestLiveChangesOfComputedColumns(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fillSeries()
		now := today
		s.service.now = func() time.Time { return now }
		var events []string
		s.service.record = func(_ context.Context, _ *db.Tx, changes []db.RowChange) error {
			for _, c := range changes {
				if c.Type != db.Updated {
					continue
				}
				var record struct {
					ID      string
					Visible bool     `json:"is_visible"`
					Types   []string `json:"types"`
				}
				if err := json.Unmarshal(c.Record, &record); err != nil {
					return err
				}
				if old := `{"id":"` + record.ID + `"}`; string(c.Old) != old {
					t.Errorf("%s: %s", c.Old, old)
				}
				line := c.Table + " " + record.ID[len(record.ID)-2:]
				switch c.Table {
				case "series_works":
					line += fmt.Sprintf(" %t", record.Visible)
				case "series":
					line += " " + strings.Join(record.Types, ",")
				}
				events = append(events, line)
			}
			return nil
		}
		check := func(name string, want ...string) {
			t.Helper()
			if !slices.Equal(events, want) {
				t.Errorf("%s: %q, want %q", name, events, want)
			}
			events = nil
		}
		work := func(n int) string { return "products?id=eq." + id(n) }
		const all, noOil = "mural,oil,watercolour", "mural,watercolour"
		s.write("PATCH", work(3), `{"published_at":"2026-03-12T09:30:00Z"}`)
		check("a draft that is published", "products 03", "series_works 53 true", "series_works 63 false")
		s.write("PATCH", work(4), `{"published_at":null}`)
		check("a work that is hidden, the only oil", "products 04", "series_works 54 false", "series_works 64 false", "series 05 "+noOil, "series 06 "+noOil)
		s.write("PATCH", work(4), `{"title":"Other"}`)
		s.write("PATCH", work(4), `{"published_at":null,"artwork_type":"oil"}`)
		check("what follows is as before", "products 04", "products 04")
		s.write("PATCH", work(4), `{"published_at":"2026-03-12T09:31:00Z"}`)
		now = now.Add(time.Minute)
		if _, err := s.service.ApplyScheduled(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("a scheduled time that has come", "products 04", "products 04", "series_works 54 true", "series_works 64 false", "series 05 "+all, "series 06 "+all)
		s.write("PATCH", "series?id=eq."+id(6), `{"is_published":true}`)
		check("a series that is published", "series 06 "+all, "series_works 61 true", "series_works 62 true", "series_works 63 true", "series_works 64 true")
		s.write("DELETE", "series_works?id=eq."+id(16*6+4), "")
		check("the only oil that is taken out", "series 06 "+noOil)
		s.write("POST", "series_works", `[{"series_id":"`+id(6)+`","product_id":"`+id(4)+`","id":"`+id(16*6+4)+`"}]`)
		check("and added again", "series 06 "+all)
		s.want("a move within a series", s.call(admin, "POST", "rpc/move_series_work", moveBody(list(16*5+2), "first", "null")), 204, "")
		check("another picture comes first", "series_works 52 true", "series 05 "+all)
		s.write("POST", "products", `{"id":"`+id(4)+`","title":"W","image_url":"/4.jpg","artwork_type":"acrylic"}`, "Prefer: resolution=merge-duplicates")
		check("a work of another type, merged", "products 04", "series_works 54 true", "series_works 64 true", "series 05 acrylic,"+noOil, "series 06 acrylic,"+noOil)
		s.write("DELETE", work(4), "")
		check("a deleted work", "series 05 "+noOil, "series 06 "+noOil)
	})
}

// Proves T-series-many.
//
// TestSeriesOfAThousandWorks adds, lists, pages and moves its works. The cost of triggers for one work must not grow with their number: on
// PostgreSQL the test counts the rows that they read, on SQLite it checks their query plans.
func TestSeriesOfAThousandWorks(t *testing.T) {
	const many = 1000
	workID := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-1%011d", n) }
	pairID := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-2%011d", n) }
	each(t, func(t *testing.T, s *site) {
		now := today
		s.service.now = func() time.Time { // later requests have later times
			now = now.Add(time.Second)
			return now
		}
		s.write("POST", "series", `{"id":"`+id(1)+`","slug":"all","title":"All"}`)
		s.write("POST", "series", `{"id":"`+id(2)+`","slug":"none","title":"None"}`)
		var works, pairs []string
		for n := range many {
			published := `"2026-03-12T09:00:00Z"`
			if n < many/2 {
				published = "null"
			}
			works = append(works, fmt.Sprintf(`{"id":"%s","title":"W","image_url":"/%d.jpg","artwork_type":"mural","published_at":%s}`, workID(n), n, published))
			pairs = append(pairs, fmt.Sprintf(`{"id":"%s","series_id":"%s","product_id":"%s"}`, pairID(n), id(1), workID(n)))
		}
		for some := range slices.Chunk(works, 200) {
			s.write("POST", "products", "["+strings.Join(some, ",")+"]")
		}
		for some := range slices.Chunk(pairs, 200) { // in batches, as the site does
			s.write("POST", "series_works", "["+strings.Join(some, ",")+"]")
		}
		list := func(who, more string) []string {
			t.Helper()
			var rows []struct{ ID string }
			if err := json.Unmarshal([]byte(s.call(who, "GET", "series_works?select=id&order=position&series_id=eq."+id(1)+more, "").body), &rows); err != nil {
				t.Fatal(err)
			}
			ids := make([]string, len(rows))
			for i, row := range rows {
				ids[i] = row.ID
			}
			return ids
		}
		if all := list(admin, ""); len(all) != many || all[0] != pairID(0) || all[many-1] != pairID(many-1) {
			t.Errorf("%d works from %s", len(all), all[0])
		}
		s.want("a move", s.call(admin, "POST", "rpc/move_series_work", moveBody(`["`+pairID(many-1)+`"]`, "before", `"`+pairID(many/2)+`"`)), 204, "")
		if page := list(anonymous, "&limit=48&offset=0"); len(page) != 48 || page[0] != pairID(many-1) || page[1] != pairID(many/2) {
			t.Errorf("the first page: %v", page)
		}
		if page := list(anonymous, "&limit=48&offset=480"); len(page) != 20 || page[19] != pairID(many-2) {
			t.Errorf("the last page: %v", page)
		}
		if got := s.call(anonymous, "GET", "series?select=types,image_url&slug=eq.all", "").body; got != fmt.Sprintf(`[{"types":["mural"],"image_url":"/%d.jpg"}]`, many-1) {
			t.Error(got)
		}
		q, err := visibleQuery(identity.Caller{Role: identity.Anon}, "series_works", "select=product_id&order=position.asc&limit=48&series_id=eq."+id(1))
		if err != nil {
			t.Fatal(err)
		}
		s.exec("analyze series_works")
		if plan := explained(t, s.db, renderRead(s.db.Dialect, q, 48, 0, false)); !strings.Contains(plan, "series_works_position") && !strings.Contains(plan, "series_works_order") || strings.Contains(plan, "TEMP B-TREE") || strings.Contains(plan, "Seq Scan") {
			t.Errorf("the plan of a page:\n%s", plan)
		}
		if s.db.Dialect == db.SQLite {
			s.checkTriggersUseIndexes()
			return
		}
		// The rows that the statements read for one work, of the series with all works and of an empty series.
		reads := func(series int) (n int64) {
			t.Helper()
			undo := errors.New("undo")
			if err := s.db.WithTx(t.Context(), func(tx *db.Tx) error {
				count := func() (read int64, err error) { // includes earlier transactions of the connection
					err = tx.QueryRow(t.Context(), "select cast(sum(coalesce(seq_tup_read, 0) + coalesce(idx_tup_fetch, 0)) as bigint) from pg_stat_xact_user_tables where relname in ('products', 'series', 'series_works')").Scan(&read)
					return read, err
				}
				if err := db.Exec(t.Context(), tx, "select atelie_keep_series('"+id(series)+"')"); err != nil { // reads all works at most once in ten minutes
					return err
				}
				before, err := count()
				if err != nil {
					return err
				}
				for _, statement := range []string{
					"insert into products (id, title, artwork_type, created_at, published_at, is_published) values ('" + id(3) + "', 'W', 'oil', now(), now(), true)",
					"insert into series_works (id, series_id, product_id, created_at, position) values ('" + id(3) + "', '" + id(series) + "', '" + id(3) + "', now(), 'zz')",
					"update products set artwork_type = 'acrylic' where id = '" + id(3) + "'",
					"update series_works set position = 'zy' where id = '" + id(3) + "'",
					"delete from series_works where id = '" + id(3) + "'",
				} {
					if err := db.Exec(t.Context(), tx, statement); err != nil {
						return err
					}
				}
				n, err = count()
				n -= before
				return errors.Join(undo, err)
			}); !errors.Is(err, undo) {
				t.Fatal(err)
			}
			return n
		}
		s.exec("analyze series")
		s.exec("analyze products")
		if few, all := reads(2), reads(1); all > few+100 || all > 200 {
			t.Errorf("one work of a series of %d reads %d rows, and of an empty one %d", many, all, few)
		}
	})
}

// checkTriggersUseIndexes checks that the statements with which SQLite's triggers refresh a series read single pairs of it.
func (s *site) checkTriggersUseIndexes() {
	s.t.Helper()
	triggers, err := db.Collect(s.t.Context(), s.db, db.ScanOne[string], "select sql from sqlite_master where name in ('series_works_pair_changed', 'series_works_pair_left', 'series_works_pair_deleted')")
	if err != nil || len(triggers) != 3 {
		s.t.Fatal(len(triggers), err)
	}
	for _, trigger := range triggers {
		_, body, _ := strings.Cut(trigger, "begin")
		body = strings.TrimSuffix(strings.TrimSpace(body), "end")
		body = strings.NewReplacer("new.series_id", "'"+id(1)+"'", "old.series_id", "'"+id(1)+"'", "new.product_id", "'"+id(1)+"'").Replace(body)
		plan := explained(s.t, s.db, statement{sql: strings.TrimSuffix(strings.TrimSpace(body), ";")})
		if !strings.Contains(plan, "series_works_type (series_id=? AND artwork_type=? AND is_published=?)") || !strings.Contains(plan, "series_works_published (series_id=? AND is_published=?)") || strings.Contains(plan, "TEMP B-TREE FOR ORDER BY") && strings.Contains(plan, "SCAN series_works") {
			s.t.Errorf("the plan of a trigger:\n%s", plan)
		}
	}
}
