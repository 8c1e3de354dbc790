package db

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// table is what the migrations make, engine-independent: kinds are the migrations' own words.
type table struct {
	name    string
	columns []column
	key     []int // places of the primary key's columns, in its order
	parents []string
	seeded  bool // the migrations put rows in
}

type column struct {
	name string
	kind kind
}

func (t *table) names() []string {
	names := make([]string, len(t.columns))
	for i, c := range t.columns {
		names[i] = c.name
	}
	return names
}

// keyKinds sort alike on both engines.
var keyKinds = []kind{"uuid", "text", "int", "bigint", "serial"}

// catalogue runs the migrations on an empty SQLite in memory, with the words for types left as they are, and reads what
// came of it: a new table or column is in it without being named anywhere. Tables come after those they refer to.
var catalogue = sync.OnceValues(func() (_ []*table, err error) {
	words := wordsOf(SQLite)
	for name := range kinds {
		words[string(name)] = string(name)
	}
	words["serial"] = "serial primary key not null"
	words["strict"] = "" // strict tables know SQLite's own types only
	scripts, err := renderMigrations(words)
	if err != nil {
		return nil, err
	}
	conn, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	conn.SetMaxOpenConns(1)
	ctx := context.Background()
	for _, s := range scripts {
		if _, err := conn.ExecContext(ctx, s.text); err != nil {
			return nil, fmt.Errorf("read migration %d: %w", s.version, err)
		}
	}
	return readCatalogue(ctx, stdQuerier{conn})
})

func readCatalogue(ctx context.Context, q Querier) ([]*table, error) {
	found, err := collectTexts(q.Query(ctx, "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name"))
	if err != nil {
		return nil, err
	}
	waiting := map[string]*table{}
	for _, name := range found {
		if slices.Contains(ownTables, name) {
			continue
		}
		t, err := readTable(ctx, q, name)
		if err != nil {
			return nil, err
		}
		waiting[name] = t
	}
	var ordered []*table
	for len(waiting) > 0 {
		before := len(waiting)
		for _, name := range slices.Sorted(maps.Keys(waiting)) {
			if !slices.ContainsFunc(waiting[name].parents, func(p string) bool { return waiting[p] != nil && p != name }) {
				ordered = append(ordered, waiting[name])
				delete(waiting, name)
			}
		}
		if len(waiting) == before {
			return nil, errors.New("tables refer to each other in a circle")
		}
	}
	return ordered, nil
}

func readTable(ctx context.Context, q Querier, name string) (_ *table, err error) {
	t := &table{name: name}
	if err := q.QueryRow(ctx, "select exists (select 1 from "+name+")").Scan(&t.seeded); err != nil {
		return nil, err
	}
	if t.parents, err = collectTexts(q.Query(ctx, `select "table" from pragma_foreign_key_list($1)`, name)); err != nil {
		return nil, err
	}
	rows, err := q.Query(ctx, "select name, lower(type), pk from pragma_table_info($1) order by cid", name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	places := map[int]int{}
	for rows.Next() {
		var (
			c     column
			place int
		)
		if err := rows.Scan(&c.name, &c.kind, &place); err != nil {
			return nil, err
		}
		if kinds[c.kind].read == nil {
			return nil, fmt.Errorf("%s.%s: no rule for how to copy the type %q", name, c.name, c.kind)
		}
		if place > 0 && !slices.Contains(keyKinds, c.kind) {
			return nil, fmt.Errorf("%s.%s: a %s in a primary key cannot be kept as a copy's place", name, c.name, c.kind)
		}
		if place > 0 {
			places[place] = len(t.columns)
		}
		t.columns = append(t.columns, c)
	}
	for place := 1; place <= len(places); place++ {
		t.key = append(t.key, places[place])
	}
	if len(t.key) == 0 {
		return nil, fmt.Errorf("%s has no primary key: its rows have no order", name)
	}
	return t, rows.Err()
}

func collectTexts(rows Rows, err error) (out []string, _ error) {
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		out = append(out, s)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

// engineColumns are columns that one engine alone has and fills by itself.
var engineColumns = map[string]Dialect{"realtime_outbox.xact": Postgres}

// ownTables are not content: goose's note of the schema's version, the state of a copy, and each database's count of its
// own changes.
var ownTables = []string{"goose_db_version", copyState, "content_version"}

// tables lists what stands in the database.
func (d *DB) tables(ctx context.Context) ([]string, error) { return tablesOf(ctx, d, d.Dialect) }

func tablesOf(ctx context.Context, q Querier, dialect Dialect) ([]string, error) {
	query := "select name from sqlite_master where type = 'table' and name not like 'sqlite\\_%' escape '\\' order by name"
	if dialect == Postgres {
		query = "select relname::text from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace order by relname"
	}
	return collectTexts(q.Query(ctx, query))
}

// matchesCatalogue refuses a database that holds more or less than the migrations make: nothing may be left out unseen.
func matchesCatalogue(ctx context.Context, q Querier, dialect Dialect, tables []*table) error {
	query := "select m.name || '.' || c.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and m.name not like 'sqlite\\_%' escape '\\'"
	if dialect == Postgres {
		query = `select c.relname || '.' || a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
			where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace and a.attnum > 0 and not a.attisdropped`
	}
	found, err := collectTexts(q.Query(ctx, query))
	if err != nil {
		return err
	}
	expected := map[string]bool{}
	for _, t := range tables {
		for _, c := range t.columns {
			expected[t.name+"."+c.name] = true
		}
	}
	for _, name := range found {
		of, _, _ := strings.Cut(name, ".")
		if !expected[name] && engineColumns[name] != dialect && !slices.Contains(ownTables, of) {
			return fmt.Errorf("%s is not known to this program", name)
		}
		delete(expected, name)
	}
	if len(expected) > 0 {
		return fmt.Errorf("missing: %s", strings.Join(slices.Sorted(maps.Keys(expected)), ", "))
	}
	return nil
}
