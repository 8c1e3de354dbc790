package tables

import (
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/internal/identity"
)

// TestSitePagesUseAnIndex checks the query plans of both engines for the site's queries of many rows: they must not sort all rows.
func TestSitePagesUseAnIndex(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		fillWorks(t, d, 5000)
		for _, query := range []string{
			"select=*&order=created_at.desc&limit=24",
			"select=*&artwork_type=eq.mural&order=created_at.desc&limit=24",
			"select=*&order=position.asc&limit=24",
			"select=*&artwork_type=eq.mural&order=position.asc&limit=24",
			"select=*&artwork_type=not.in.(digital,mural)&order=position.asc&limit=24",
			"select=*&limit=24&offset=48",
			"select=title::text,tags->0&id=eq." + id(1),
		} {
			q, err := parseQuery(schema["products"], query)
			if err != nil {
				t.Fatal(err)
			}
			limit := int64(24)
			st := renderRead(d.Dialect, q, limit, q.Offset, false)
			plan := explained(t, d, st)
			text := strings.ToLower(plan)
			if !strings.Contains(text, "index") || strings.Contains(text, "seq scan") || (strings.Contains(text, "sort") && !strings.Contains(text, "pkey")) || // sorting a single row is allowed
				strings.Contains(text, "temp b-tree") {
				t.Errorf("%s:\n%s", query, plan)
			}
		}
	})
}

// TestCountsOfVisitorsComeFromAnIndex checks that the counts of the home page and the gallery read no rows on SQLite. PostgreSQL
// decides by its visibility map.
func TestCountsOfVisitorsComeFromAnIndex(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	fillWorks(t, d, 5000)
	for _, query := range []string{"select=*", "select=*&artwork_type=not.in.(oil,acrylic)", "select=*&artwork_type=eq.mural", "select=*&is_featured=eq.true"} {
		q, err := visibleQuery(identity.Caller{Role: identity.Anon}, "products", query)
		if err != nil {
			t.Fatal(err)
		}
		if plan := explained(t, d, renderCount(d.Dialect, q.Table, q.Where)); !strings.Contains(plan, "COVERING INDEX") {
			t.Errorf("%s:\n%s", query, plan)
		}
	}
}

// TestWrittenRowIsReadByItsKey checks that a new row is read back by its key on a small site too. PostgreSQL keeps the plan that it
// has made for a small table.
func TestWrittenRowIsReadByItsKey(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		fillWorks(t, d, 200)
		products := schema["products"]
		plan := explained(t, d, renderKeyed(d.Dialect, products, changeFields(products), []string{id(1)}, nil, always))
		if text := strings.ToLower(plan); !strings.Contains(text, "index") || strings.Contains(text, "seq scan") {
			t.Error(plan)
		}
	})
}

// fillWorks inserts works of a kilobyte each, and updates the database's statistics.
func fillWorks(t *testing.T, d *db.DB, rows int) {
	t.Helper()
	fill := `insert into products (id, title, description, artwork_type, created_at) select gen_random_uuid(), 'T', repeat('x', 1000), (array['digital','mural','oil'])[n % 3 + 1], timestamptz '2020-01-01' + n * interval '1 hour' from generate_series(1, $1) as n`
	if d.Dialect == db.SQLite {
		fill = `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < $1)
			insert into products (id, title, description, artwork_type, created_at) select printf('00000000-0000-4000-8000-%012d', n), 'T', hex(zeroblob(500)), case n % 3 when 0 then 'digital' when 1 then 'mural' else 'oil' end, strftime('%Y-%m-%dT%H:%M:%S+00:00', 1577836800 + n * 3600, 'unixepoch') from numbers`
	}
	if _, err := d.Exec(t.Context(), fill, rows); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Exec(t.Context(), "analyze products"); err != nil {
		t.Fatal(err)
	}
}

// explained returns the query plan of a statement.
func explained(t testing.TB, d *db.DB, st statement) string {
	t.Helper()
	explain := "explain "
	if d.Dialect == db.SQLite {
		explain = "explain query plan "
	}
	found, err := d.Query(t.Context(), explain+st.sql, st.args...)
	if err != nil {
		t.Fatal(err)
	}
	var plan []string
	for found.Next() {
		var line string
		dest := []any{&line}
		if d.Dialect == db.SQLite {
			var number, parent, unused int
			dest = []any{&number, &parent, &unused, &line}
		}
		if err := found.Scan(dest...); err != nil {
			t.Fatal(err)
		}
		plan = append(plan, line)
	}
	if err := found.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(plan, "\n")
}
