package tables

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// FuzzQuery removes aliases from SQL, because they are the only texts of a caller that may be part of it. The rest must match plainSQL: names
// of the schema, SQL words, signs and placeholders.
var (
	plainSQL    = regexp.MustCompile(`^[a-z_0-9 .,()<>=$>@&|*:\[\]"'\\!+CTO~#-]*$`)
	placeholder = regexp.MustCompile(`\$[0-9]+`)
	aliases     = regexp.MustCompile(` as "(?:[^"]|"")+"|'(?:[^']|'')+', |row_to_json\("row!+"\)`)
)

// Proves T-address-hostile.
//
// FuzzQuery passes any query string to the parser. The parser must refuse it with a 4xx, or return a query. SQLite must run
// the SQL of that query, and the SQL must contain texts of the caller only as arguments.
func FuzzQuery(f *testing.F) {
	for _, request := range goldenReads {
		table, query, _ := strings.Cut(request, "?")
		f.Add(table, query)
	}
	for _, text := range injections {
		f.Add("products", "title=eq."+text)
		f.Add("products", "select="+text+":title&order="+text)
		f.Add("reviews", "or=(message.eq."+text+")&"+text+"=eq.x")
	}
	f.Add("products", "tags=cs.%7B%22a%5C%22%22%2Cb%7D&title=ilike(any).%7Ba*,*B%7D&limit=3&offset=2")
	d := dbtest.Open(f, db.SQLite)
	f.Fuzz(func(t *testing.T, name, raw string) {
		table := schema[name]
		if table == nil {
			table = schema["products"]
		}
		q, err := parseQuery(table, raw)
		if err != nil {
			if e := apperr.From(err); e.Status < 400 || e.Status >= 500 || e.Message == "" {
				t.Fatalf("%q: refused with %v", raw, err)
			}
			return
		}
		for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
			for _, st := range []statement{renderRead(dialect, q, 5, q.Offset, true), renderCount(dialect, table, q.Where), renderKeys(dialect, q), renderUpdate(dialect, q, row{table.Key: id(1)})} {
				sql := aliases.ReplaceAllString(st.sql, " ")
				if !plainSQL.MatchString(sql) {
					t.Fatalf("%q became %s", raw, st.sql)
				}
				if n := len(placeholder.FindAllString(sql, -1)); n != len(st.args) {
					t.Fatalf("%q: %d placeholders for %d arguments in %s", raw, n, len(st.args), st.sql)
				}
				for i := range st.args {
					if !strings.Contains(sql, "$"+strconv.Itoa(i+1)) {
						t.Fatalf("%q: no $%d in %s", raw, i+1, st.sql)
					}
				}
			}
		}
		for _, st := range []statement{renderRead(db.SQLite, q, 5, q.Offset, true), renderKeys(db.SQLite, q)} {
			rows, err := d.Query(t.Context(), st.sql, st.args...)
			if err != nil {
				t.Fatalf("%q: %s: %v", raw, st.sql, err)
			}
			for rows.Next() {
			}
			if err := rows.Err(); err != nil {
				t.Fatalf("%q: %s: %v", raw, st.sql, err)
			}
			_ = rows.Close()
		}
	})
}

// Proves T-address-hostile.
//
// FuzzBody sends any body and any columns to the insert. It is stored, or refused with a 4xx.
func FuzzBody(f *testing.F) {
	for _, body := range []string{`{"title":"A"}`, `[{"title":"A","tags":["x"]},{"title":"B","tags":[]}]`, `{"title":{"a":[1]}}`, `{"id":"` + id(1) + `","title":"A","created_at":"2026-03-12"}`,
		`{"title":"A","tags":"{a,b}","is_featured":"yes","creation_date":"2026-03-12","price":5}`, `[]`, `[[]]`, `null`, `{"title":"\u0000"}`, `{"title":"\ud800"}`} {
		f.Add(body, "")
		f.Add(body, "title,tags")
	}
	s := newSite(f, dbtest.Open(f, db.SQLite))
	f.Fuzz(func(t *testing.T, body, columns string) {
		q := &Query{Table: schema["products"], Select: everyField(schema["products"])}
		if columns != "" {
			var err error
			if q.Columns, err = parseColumns(q.Table, "columns parameter", columns, errUnknownField); err != nil {
				return
			}
		}
		wr := &tableRequest{query: q, prefer: preferences{result: "representation", resolution: mergeDuplicates}}
		wr.caller.Role = "service_role"
		objects, err := parseJSON([]byte(body))
		if err == nil {
			var p *payload
			if p, err = newPayload(q.Table, objects, q.Columns); err == nil {
				_, err = s.service.insert(t.Context(), wr, p)
			}
		}
		if err != nil {
			if e := apperr.From(err); e.Status < 400 || e.Status >= 500 {
				t.Fatalf("%q: %v", body, err)
			}
		}
	})
}
