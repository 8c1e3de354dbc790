package tables

import (
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// TestPagesComeFromAnIndex checks the query plans of both engines for the site's pages of many rows: they must not sort all
// rows.
func TestPagesComeFromAnIndex(t *testing.T) {
	const rows = 5000
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		fill := `insert into products (id, title, artwork_type, created_at) select gen_random_uuid(), 'T', (array['digital','mural','oil'])[n % 3 + 1], timestamptz '2020-01-01' + n * interval '1 hour' from generate_series(1, $1) as n`
		explain := "explain "
		if d.Dialect == db.SQLite {
			fill = `with recursive numbers(n) as (select 1 union all select n + 1 from numbers where n < $1)
				insert into products (id, title, artwork_type, created_at) select printf('00000000-0000-4000-8000-%012d', n), 'T', case n % 3 when 0 then 'digital' when 1 then 'mural' else 'oil' end, strftime('%Y-%m-%dT%H:%M:%S+00:00', 1577836800 + n * 3600, 'unixepoch') from numbers`
			explain = "explain query plan "
		}
		for _, statement := range []struct {
			sql  string
			args []any
		}{{fill, []any{rows}}, {"analyze products", nil}} {
			if _, err := d.Exec(t.Context(), statement.sql, statement.args...); err != nil {
				t.Fatal(err)
			}
		}
		for _, query := range []string{
			"select=*&order=created_at.desc&limit=24",
			"select=*&artwork_type=eq.mural&order=created_at.desc&limit=24",
			"select=*&limit=24&offset=48",
			"select=title::text,tags->0&id=eq." + id(1),
		} {
			q, err := parseQuery(schema["products"], query)
			if err != nil {
				t.Fatal(err)
			}
			limit := int64(24)
			st := renderRead(d.Dialect, q, limit, q.Offset, false)
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
			text := strings.ToLower(strings.Join(plan, "\n"))
			if !strings.Contains(text, "index") || strings.Contains(text, "seq scan") || (strings.Contains(text, "sort") && !strings.Contains(text, "pkey")) || // one row may be sorted
				strings.Contains(text, "temp b-tree") {
				t.Errorf("%s:\n%s", query, strings.Join(plan, "\n"))
			}
		}
	})
}
