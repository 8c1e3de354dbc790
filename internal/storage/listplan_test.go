package storage

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves F-list-v2-cost.
//
// TestListReadsOnlyTheNamesOfAPage checks query plans with 20,000 names, half of them in one folder. A page that is ordered by name must read
// only as many rows as it has entries, wherever it begins. The same holds for a page of the whole bucket that is ordered by a time. A page with a prefix
// that is ordered by a time must read only the names with the prefix.
func TestListReadsOnlyTheNamesOfAPage(t *testing.T) {
	fill := map[db.Dialect]string{
		db.SQLite: `with recursive i(n) as (select 0 union all select n + 1 from i where n < 19999)
			insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, created_at, updated_at)
			select printf('00000000-0000-4000-8000-%012d', n), 'product-images', case when n % 2 = 0 then 'folder/' else 'side-' end || printf('%05d', n) || '.png', printf('00000000-0000-4000-9000-%012d', n), 1, 'image/png', 'x', 'no-cache', $1, $1 from i`,
		db.Postgres: `insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, created_at, updated_at)
			select gen_random_uuid(), 'product-images', case when n % 2 = 0 then 'folder/' else 'side-' end || lpad(n::text, 5, '0') || '.png', gen_random_uuid(), 1, 'image/png', 'x', 'no-cache', $1, $1 from generate_series(0, 19999) n`,
	}
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		s := newSite(t, d)
		if _, err := d.Exec(t.Context(), fill[d.Dialect], s.Clock); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), "analyze storage_objects"); err != nil {
			t.Fatal(err)
		}
		for _, p := range []page{
			{}, {After: &pageEnd{Name: "folder/15000.png"}}, {Prefix: "folder/1", Descending: true}, {Descending: true, After: &pageEnd{Name: "side-10001.png"}},
			{Delimiter: true}, {Delimiter: true, After: &pageEnd{Name: "folder/", Folder: true}}, {Delimiter: true, Descending: true, After: &pageEnd{Name: "side-00003.png"}},
			{Delimiter: true, Prefix: "folder/", After: &pageEnd{Name: "folder/15000.png"}}, {Delimiter: true, Prefix: "folder/", Descending: true, After: &pageEnd{Name: "folder/15000.png"}},
			{Delimiter: true, Prefix: "folder/", Descending: true}, {Prefix: "folder/", Descending: true, After: &pageEnd{Name: "folder/15000.png"}}, {Prefix: "folder/", After: &pageEnd{Name: "folder/15000.png"}},
			{Column: "created_at"}, {Column: "updated_at", Descending: true}, {Column: "created_at", After: &pageEnd{Name: "side-10001.png", Time: &s.Clock}},
			{Column: "updated_at", Descending: true, After: &pageEnd{Name: "side-10001.png", Time: &s.Clock}}, {Column: "created_at", Prefix: "folder/1000", Descending: true}, {Column: "created_at", Prefix: "folder/1000", Descending: true, After: &pageEnd{Name: "folder/10004.png", Time: &s.Clock}},
			{Prefix: "folder/", After: &pageEnd{Name: "a made-up place"}}, {Delimiter: true, Prefix: "folder/", Descending: true, After: &pageEnd{Name: "z"}},
		} {
			p.Bucket, p.Limit = "product-images", 10
			if p.Column == "" {
				p.Column = "name"
			}
			entries, err := listPage(t.Context(), d, p)
			if err != nil || len(entries) == 0 || len(entries) > 10 {
				t.Errorf("%+v: %d entries, %v", p, len(entries), err)
			}
			for _, e := range entries {
				if !strings.HasPrefix(e.Name, p.Prefix) || p.After != nil && p.After.Name != "a made-up place" && p.After.Name != "z" && (e.Name > p.After.Name) == p.Descending {
					t.Errorf("%+v: %s", p, e.Name)
				}
			}
			query, args := pageQuery(d.Dialect, p)
			if d.Dialect == db.SQLite {
				for _, step := range explained(t, d, "explain query plan "+query, args) {
					if strings.Contains(step, "storage_objects") && !strings.Contains(step, "name>") && !strings.Contains(step, "name<") && !strings.Contains(step, "name=?") && (p.Column == "name" || p.Prefix != "" || !strings.Contains(step, "USING INDEX storage_objects_"+strings.TrimSuffix(p.Column, "_at"))) || strings.Contains(step, "TEMP B-TREE") && !p.Delimiter && (p.Column == "name" || p.Prefix == "") {
						t.Errorf("%+v: %s", p, step)
					}
				}
				continue
			}
			var plans []struct{ Plan planNode }
			if err := json.Unmarshal([]byte(strings.Join(explained(t, d, "explain (analyze, format json) "+query, args), "")), &plans); err != nil {
				t.Fatal(err)
			}
			if rows := plans[0].Plan.read(); rows > 40 { // the entries, the skipped folders and the entry after the page
				t.Errorf("%+v: %v rows were read", p, rows)
			}
		}
	})
}

// planNode is a step of a query plan in PostgreSQL's JSON.
type planNode struct {
	Relation string     `json:"Relation Name"`
	Rows     float64    `json:"Actual Rows"`
	Removed  float64    `json:"Rows Removed by Filter"`
	Loops    float64    `json:"Actual Loops"`
	Plans    []planNode `json:"Plans"`
}

// read counts the rows of tables that were read.
func (n planNode) read() (rows float64) {
	if n.Relation != "" {
		rows = (n.Rows + n.Removed) * n.Loops
	}
	for _, below := range n.Plans {
		rows += below.read()
	}
	return rows
}

func explained(t *testing.T, d *db.DB, query string, args []any) (lines []string) {
	t.Helper()
	rows, err := d.Query(t.Context(), query, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id, parent, unused any
		var line string
		to := []any{&line}
		if d.Dialect == db.SQLite {
			to = []any{&id, &parent, &unused, &line}
		}
		if err := rows.Scan(to...); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(lines) == 0 {
		t.Fatal(fmt.Errorf("no plan of %s", query))
	}
	return lines
}
