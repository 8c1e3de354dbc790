package db_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// TestReleasedMigrationsDoNotChange compares the migrations with the SQL text that was stored at each release: databases exist that a released
// migration has changed already, so it must stay as it is. A test run with RELEASED=write stores the text of a release that was added to
// dbtest.Releases.
func TestReleasedMigrationsDoNotChange(t *testing.T) {
	for _, r := range dbtest.Releases {
		for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
			current, err := db.SchemaScript(dialect, r.Schema)
			if err != nil {
				t.Fatal(err)
			}
			if os.Getenv("RELEASED") == "write" {
				if err := os.WriteFile("dbtest/released/"+r.Version+"."+string(dialect)+".sql", []byte(current), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if released, err := r.Script(dialect); err != nil || released != current {
				t.Errorf("%s, %s: a migration up to %d differs from the released one (%v): put it back, and change the schema in a new migration", r.Version, dialect, r.Schema, err)
			}
		}
	}
}

// eachRelease runs fn for each release and each database engine, with an empty database of the release.
func eachRelease(t *testing.T, fn func(t *testing.T, d *db.DB)) {
	for _, r := range dbtest.Releases {
		for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
			t.Run(r.Version+"/"+string(dialect), func(t *testing.T) {
				within(t, r.CreateDatabase(t, dialect, t.TempDir()), func(d *db.DB) { fn(t, d) })
			})
		}
	}
}

// Proves H-schema-older.
func TestReleasedSchemasAreUpgradedWithTheirContent(t *testing.T) {
	eachRelease(t, func(t *testing.T, d *db.DB) {
		columns := columnsOf(t, d)
		fillColumns(t, d, columns, 7)
		names := map[string][]string{}
		for table, of := range columns {
			for _, c := range of {
				names[table] = append(names[table], c.name)
			}
		}
		before, err := d.DumpColumns(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := d.MatchesCatalogue(t.Context()); err != nil {
			t.Errorf("the schema after the upgrade: %v", err)
		}
		after, err := d.DumpColumns(t.Context(), names)
		if err != nil {
			t.Fatal(err)
		}
		same(t, after, before)
	})
}

// releasedColumn is a column that a released schema has.
type releasedColumn struct {
	name, kind string
	required   bool
}

// columnsOf reads the columns of a database by table. A column that the current migrations do not know is an error: a migration that
// removes a column must say in this test what becomes of its content.
func columnsOf(t *testing.T, d *db.DB) map[string][]releasedColumn {
	t.Helper()
	kinds, err := db.Columns()
	if err != nil {
		t.Fatal(err)
	}
	query := "select m.name, c.name, c.\"notnull\" or c.pk > 0 from sqlite_schema m, pragma_table_info(m.name) c where m.type = 'table' and m.name not like 'sqlite_%' order by m.name, c.cid"
	if d.Dialect == db.Postgres {
		query = "select table_name::text, column_name::text, is_nullable = 'NO' from information_schema.columns where table_schema = 'public' order by table_name, ordinal_position"
	}
	rows, err := d.Query(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	out := map[string][]releasedColumn{}
	for rows.Next() {
		var (
			table string
			c     releasedColumn
		)
		if err := rows.Scan(&table, &c.name, &c.required); err != nil {
			t.Fatal(err)
		}
		if slices.Contains(db.OwnTables, table) || table+"."+c.name == "realtime_outbox.xact" { // the latter is on PostgreSQL alone, which sets it
			continue
		}
		i := slices.IndexFunc(kinds[table], func(k [2]string) bool { return k[0] == c.name })
		if i < 0 {
			t.Fatalf("a migration removes %s.%s", table, c.name)
		}
		c.kind = kinds[table][i][1]
		out[table] = append(out[table], c)
	}
	if err := rows.Err(); err != nil || len(out) < 25 {
		t.Fatalf("%d tables, %v", len(out), err)
	}
	return out
}

// fillColumns inserts n rows into every table, or one row where only one is allowed.
func fillColumns(t *testing.T, d *db.DB, columns map[string][]releasedColumn, n int) {
	t.Helper()
	overriding := ""
	if d.Dialect == db.Postgres {
		overriding = " overriding system value" // for identity columns of PostgreSQL
	}
	if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
		for _, table := range db.TableOrder() {
			if _, ok := columns[table]; !ok {
				continue
			}
			if _, err := tx.Exec(t.Context(), "delete from "+table); err != nil {
				return err
			}
			for i := range n {
				if i > 0 && (table == "storage_quota_lock" || table == "auth_sso_keys") {
					break
				}
				var names, marks []string
				var args []any
				for _, c := range columns[table] {
					if !c.required && i%3 == 2 {
						continue
					}
					value := sample(table, c.name, c.kind, i)
					if c.kind == "list" && d.Dialect == db.Postgres {
						var list []string
						if err := json.Unmarshal([]byte(fmt.Sprint(value)), &list); err != nil {
							return err
						}
						value = list
					}
					names, args = append(names, c.name), append(args, value)
					marks = append(marks, fmt.Sprintf("$%d", len(args)))
				}
				if _, err := tx.Exec(t.Context(), "insert into "+table+" ("+strings.Join(names, ", ")+")"+overriding+" values ("+strings.Join(marks, ", ")+")", args...); err != nil {
					return fmt.Errorf("%s: %w", table, err)
				}
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
