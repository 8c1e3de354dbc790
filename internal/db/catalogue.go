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

// This file lists the tables and columns that the migrations create. atelie copy uses the list to copy every table to another
// database. The commands export and import use it for the archive of a site (a zip file).

// table describes one table that the migrations create. The description is the same for both engines.
type table struct {
	name    string
	columns []column
	key     []int    // the primary key: indices in columns, in the key's order
	parents []string // the tables to which the foreign keys of this table refer
	seeded  bool     // the migrations insert rows into the table
}

// column is one column of a table. A copy converts its values according to its kind. The engines have different types, so the migrations
// name a column's type with a placeholder such as {{.uuid}}. The name of the placeholder is the kind.
type column struct {
	name string
	kind kind // a key of the map kinds, such as uuid
}

// keyKinds are the kinds that a column of a primary key can have. A copy reads rows in the order of the key, so both engines
// must sort these kinds in the same order.
var keyKinds = []kind{"uuid", "text", "int", "bigint", "serial"}

// catalogue returns the tables that the migrations create. Each table follows the tables to which it refers. catalogue runs the migrations
// on an empty SQLite database in memory and reads the resulting schema. For this run each placeholder of a type is replaced by its own name
// ({{.uuid}} by uuid), so that the schema shows the kind of each column.
var catalogue = sync.OnceValues(func() (_ []*table, err error) {
	sqlOf := placeholderSQL(SQLite) // the SQL by which each placeholder is replaced
	for name := range kinds {
		sqlOf[string(name)] = string(name)
	}
	sqlOf["serial"] = "serial primary key not null" // {{.serial}} stands for the type and its constraint
	sqlOf["strict"] = ""                            // strict tables accept only SQLite's own types
	scripts, err := renderMigrations(sqlOf)
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

// readCatalogue reads the tables of a migrated SQLite database and sorts them as catalogue describes.
func readCatalogue(ctx context.Context, q Querier) ([]*table, error) {
	found, err := tablesOf(ctx, q, SQLite)
	if err != nil {
		return nil, err
	}
	waiting := map[string]*table{} // the tables that are not in ordered yet
	for _, name := range found {
		if slices.Contains(internalTables, name) {
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
	if t.parents, err = collectTexts(ctx, q, `select "table" from pragma_foreign_key_list($1)`, name); err != nil {
		return nil, err
	}
	t.columns, err = Collect(ctx, q, func(row Row) (c column, err error) {
		err = row.Scan(&c.name, &c.kind)
		return c, err
	}, "select name, lower(type) from pragma_table_info($1) order by cid", name)
	if err != nil {
		return nil, err
	}
	if t.key, err = Collect(ctx, q, ScanOne[int], "select cid from pragma_table_info($1) where pk > 0 order by pk", name); err != nil {
		return nil, err
	}
	for i, c := range t.columns {
		if kinds[c.kind].read == nil {
			return nil, fmt.Errorf("%s.%s: no rule for how to copy the type %q", name, c.name, c.kind)
		}
		if slices.Contains(t.key, i) && !slices.Contains(keyKinds, c.kind) {
			return nil, fmt.Errorf("%s.%s: a %s in a primary key cannot be kept as a copy's place", name, c.name, c.kind)
		}
	}
	if len(t.key) == 0 {
		return nil, fmt.Errorf("%s has no primary key: its rows have no order", name)
	}
	return t, nil
}

func collectTexts(ctx context.Context, q Querier, query string, args ...any) ([]string, error) {
	return Collect(ctx, q, ScanOne[string], query, args...)
}

// engineColumns maps the columns that only one engine has to that engine. They are not copied, because the engine fills them itself.
var engineColumns = map[string]Dialect{"realtime_outbox.xact": Postgres}

// internalTables are not copied, because each database has its own: the schema version (goose), the state of a copy, the
// content version, the account of the running transaction, and whether a copy fills it.
var internalTables = []string{"goose_db_version", copyState, "content_version", "history_actor", activityPaused}

// tables lists the names of all tables in the database.
func (d *DB) tables(ctx context.Context) ([]string, error) { return tablesOf(ctx, d, d.Dialect) }

// HasTable reports whether a table exists.
func (d *DB) HasTable(ctx context.Context, name string) (bool, error) {
	found, err := d.tables(ctx)
	return slices.Contains(found, name), err
}

// ownNames returns the SQL condition of the names of tables that neither SQLite nor litestream, which backs up the database
// (internal/backup), has made for itself.
func ownNames(column string) string {
	return column + " not like 'sqlite\\_%' escape '\\' and " + column + " not like '\\_litestream\\_%' escape '\\'"
}

func tablesOf(ctx context.Context, q Querier, dialect Dialect) ([]string, error) {
	return collectTexts(ctx, q, dialect.Choose("select name from sqlite_master where type = 'table' and "+ownNames("name")+" order by name",
		"select relname::text from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace order by relname"))
}

// checkCatalogue returns an error unless the database has exactly the columns of the migrations: a copy would silently omit
// any other column.
func checkCatalogue(ctx context.Context, q Querier, dialect Dialect, tables []*table) error {
	found, err := collectTexts(ctx, q, dialect.Choose(
		"select m.name || '.' || c.name from sqlite_master m, pragma_table_info(m.name) c where m.type = 'table' and "+ownNames("m.name"),
		`select c.relname || '.' || a.attname from pg_class c join pg_attribute a on a.attrelid = c.oid
			where c.relkind in ('r', 'p') and c.relnamespace = current_schema()::regnamespace and a.attnum > 0 and not a.attisdropped`))
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
		if !expected[name] && engineColumns[name] != dialect && !slices.Contains(internalTables, of) {
			return fmt.Errorf("%s is not known to this program", name)
		}
		delete(expected, name)
	}
	if len(expected) > 0 {
		return fmt.Errorf("missing: %s", strings.Join(slices.Sorted(maps.Keys(expected)), ", "))
	}
	return nil
}
