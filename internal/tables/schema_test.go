package tables

import (
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// kindsOf has the type that each database reports for columns of each Kind.
var kindsOf = map[db.Dialect]map[Kind]string{
	db.Postgres: {UUID: "uuid", Text: "text", Bool: "boolean", Int: "integer", Timestamp: "timestamp with time zone", Date: "date", List: "ARRAY", AltTexts: "text"},
	db.SQLite:   {UUID: "TEXT", Text: "TEXT", Bool: "INTEGER", Int: "INTEGER", Timestamp: "TEXT", Date: "TEXT", List: "TEXT", AltTexts: "TEXT"},
}

func TestSchemaAgreesWithTheDatabase(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, table := range schema {
			query := "select name, type, \"notnull\" from pragma_table_info('" + table.Name + "') order by cid"
			if d.Dialect == db.Postgres {
				query = "select column_name::text, data_type::text, case is_nullable when 'NO' then 1 else 0 end from information_schema.columns where table_name = '" + table.Name + "' order by ordinal_position"
			}
			rows, err := d.Query(t.Context(), query)
			if err != nil {
				t.Fatal(err)
			}
			i := 0
			for ; rows.Next(); i++ {
				var name, kind string
				var notNull int
				if err := rows.Scan(&name, &kind, &notNull); err != nil {
					t.Fatal(err)
				}
				if i >= len(table.Columns) {
					t.Errorf("%s.%s is missing in the schema", table.Name, name)
					continue
				}
				c := table.Columns[i]
				if c.Name != name || kindsOf[d.Dialect][c.Kind] != kind || c.NotNull != (notNull == 1) {
					t.Errorf("%s: column %d is %s %s (not null %d), the schema says %s %s (not null %v)", table.Name, i, name, kind, notNull, c.Name, c.Kind, c.NotNull)
				}
			}
			if err := rows.Err(); err != nil || rows.Close() != nil || i != len(table.Columns) {
				t.Errorf("%s: %d columns, %v", table.Name, i, err)
			}
		}
	})
}

func TestSchemaMeetsTheAssumptionsOfTheCompiler(t *testing.T) {
	for _, table := range schema {
		for _, c := range table.Columns {
			if (c.Kind == List || c.Kind == Bool) && !c.NotNull {
				t.Errorf("%s.%s: sql.go assumes that lists and booleans are never null", table.Name, c.Name)
			}
			if (c.Kind == Text || c.Kind == List) && c.OneOf == nil && c.MaxLen == 0 {
				t.Errorf("%s.%s has no maximum length", table.Name, c.Name)
			}
			if strings.Trim(c.Name, "abcdefghijklmnopqrstuvwxyz_") != "" {
				t.Errorf("%s.%s would need quotes", table.Name, c.Name)
			}
		}
		if table.Key.Kind != UUID || table.TieBreakers[len(table.TieBreakers)-1].Column != table.Key {
			t.Errorf("%s: key %s, order %v", table.Name, table.Key.Name, table.TieBreakers)
		}
	}
}
