package tables

import (
	"context"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"atelie/internal/apperr"
	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// clear4xx fails the test if err is an error other than a 4xx with a code and a message.
func clear4xx(t *testing.T, input string, err error) {
	t.Helper()
	if e := apperr.From(err); err != nil && (e.Status < 400 || e.Status >= 500 || e.Code == "" || e.Message == "") {
		t.Fatalf("%q: refused with %v", input, err)
	}
}

// Proves T-address-hostile.
//
// FuzzSelect passes any text to the parser of select. If the parser accepts it, SQLite must run the resulting SQL, and the
// response must have the requested names.
func FuzzSelect(f *testing.F) {
	for _, text := range append(injections, selects...) {
		f.Add(text)
	}
	d := dbtest.Open(f, db.SQLite)
	if _, err := d.Exec(context.Background(), "insert into products (id, title, tags, created_at) values ($1, 'A', '[\"a\"]', $2)", id(1), today); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if checkText("", text) != nil {
			return
		}
		table := schema["products"]
		fields, err := parseSelect(table, text)
		if clear4xx(t, text, err); err != nil {
			return
		}
		st := renderRead(db.SQLite, &Query{Table: table, Select: fields}, 1, 0, false)
		var row string
		if err := d.QueryRow(t.Context(), st.sql, st.args...).Scan(&row); err != nil {
			t.Fatalf("%q: %s: %v", text, st.sql, err)
		}
		all, err := splitMembers(row)
		if err != nil || len(all) != len(fields) {
			t.Fatalf("%q: %s: %v", text, row, err)
		}
		for i, m := range all {
			if m.key != fields[i].Name {
				t.Fatalf("%q: member %d is called %q instead of %q", text, i, m.key, fields[i].Name)
			}
		}
		if _, err := encodeCSV([]string{row}, fields); err != nil {
			t.Fatalf("%q: %s: %v", text, row, err)
		}
		if _, err := removeNulls([]string{row}); err != nil {
			t.Fatalf("%q: %s: %v", text, row, err)
		}
	})
}

// Proves T-order-other.
//
// FuzzOrder passes any text to the parser of order. If the parser accepts it, all names in it are columns.
func FuzzOrder(f *testing.F) {
	for _, text := range append(injections, "title", "title.desc.nullslast,id", "tags->>0.asc", "tags.nullsfirst", "title.asc.desc", " id , title ") {
		f.Add(text)
	}
	steps := regexp.MustCompile(`^(?:[a-z_.0-9() "C>\[\]',$#-]|null)+$`)
	f.Fuzz(func(t *testing.T, text string) {
		table := schema["products"]
		terms, err := parseOrder(table, text)
		if clear4xx(t, text, err); err != nil {
			return
		}
		for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
			b := &builder{dialect: dialect, table: table}
			if sql := b.orderBySQL(terms); !strings.HasSuffix(sql, "products.id") && !strings.Contains(sql, "products.id") || !steps.MatchString(strings.NewReplacer("::", "", "collate", "").Replace(sql)) {
				t.Fatalf("%q became %s", text, sql)
			}
		}
	})
}

// Proves T-prefer-handling.
//
// FuzzPrefer passes any header to the parser of Prefer. It is accepted, or refused if it requests strict handling.
func FuzzPrefer(f *testing.F) {
	for _, text := range []string{"return=representation,count=exact", "handling=strict, max-affected=3", "handling=strict,x", "max-affected=-1", "timezone=UTC", ",,=,", "resolution=merge-duplicates;q=1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parsePrefer(http.Header{"Prefer": {text}})
		clear4xx(t, text, err)
		if err != nil && p.handling != "strict" {
			t.Fatalf("%q: refused without being requested to: %v", text, err)
		}
		for part := range strings.SplitSeq(p.applied("resolution", "missing", "return", "count", "handling", "timezone", "max-affected"), ", ") {
			if name, _, _ := strings.Cut(part, "="); !strings.Contains(text, name) {
				t.Fatalf("%q: %s was never requested", text, part)
			}
		}
	})
}

// Proves T-address-hostile.
//
// FuzzAccept passes any header to the parser of Accept.
func FuzzAccept(f *testing.F) {
	for _, text := range []string{"*/*", "text/csv", "application/vnd.pgrst.object+json;nulls=stripped", "application/json;q=0.5,text/csv;q=NaN", ";;", "a/b;q=-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		form, err := negotiate(http.Header{"Accept": {text}})
		if clear4xx(t, text, err); err != nil {
			return
		}
		if form.csv && (form.single || form.stripNulls) || form.media() == "" {
			t.Fatalf("%q: %+v", text, form)
		}
	})
}

// Proves T-insert-csv.
//
// FuzzCSV passes any body to the parsers of CSV and forms. They return rows of texts, or an error that names the mistake.
func FuzzCSV(f *testing.F) {
	for _, text := range []string{"id,title\n1,A", "title\n\"A\"\"b\nc\"", "a,a\nNULL,", "\ufefftitle\r\nA\r\n", "\"", "a\nb,c", "title=A&tags=%7B%7D&%zz"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		objects, err := parseCSV([]byte(text))
		clear4xx(t, text, err)
		if err == nil {
			_, err = newPayload(schema["products"], objects, nil)
			clear4xx(t, text, err)
		}
		object, err := parseForm([]byte(text))
		if clear4xx(t, text, err); err == nil {
			_, err = newPayload(schema["products"], []map[string]any{object}, nil)
			clear4xx(t, text, err)
		}
	})
}

// Proves T-range-header.
//
// FuzzRange combines any Range header with any limit and offset. The result is never negative, and never more rows than the setting allows.
func FuzzRange(f *testing.F) {
	f.Add("0-9", int64(5), int64(0))
	f.Add("9-", int64(-1), int64(3))
	f.Add("99999999999999999999-1", int64(math.MaxInt64), int64(math.MaxInt64))
	f.Add("bytes=0-1", int64(0), int64(0))
	f.Fuzz(func(t *testing.T, header string, limit, offset int64) {
		r := httptest.NewRequest(http.MethodGet, "/", nil)
		r.Header["Range"] = []string{header}
		q := &Query{Offset: max(0, offset)}
		if limit >= 0 {
			q.Limit = &limit
		}
		n, from, err := rowRange(q, r, 1000)
		if clear4xx(t, header, err); err != nil {
			return
		}
		if n < 0 || n > 1000 || from < 0 || (limit >= 0 && n > limit) || (n > 0 && from < q.Offset) {
			t.Fatalf("%q, limit %d, offset %d: %d rows from %d", header, limit, offset, n, from)
		}
	})
}

// Proves T-filter-match-not.
//
// FuzzPattern passes any text to the parser of regular expressions. Go must accept each accepted pattern, and the pattern must stay small.
func FuzzPattern(f *testing.F) {
	for _, text := range []string{"^a|b$", `[^\]a-z\d]{2,3}`, `(?:\w+\s)*\.`, "((a{9}){9}){9}", `\`, "[", "(?i)a", "a{1,", "é[à-ü]", "[a-", "a|*"} {
		f.Add(text, false)
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, fold bool) {
		if checkText("", text) != nil {
			return
		}
		p, err := convertPattern(text, fold)
		if clear4xx(t, text, err); err != nil {
			return
		}
		re, err := regexp.Compile("(?s)" + p)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, p, err)
		}
		re.MatchString(strings.Repeat(text, 20))
		if again, err := convertPattern(p, fold); len(p) <= maxPattern && (err != nil || again != p) {
			t.Fatalf("%q became %q, and that %q: %v", text, p, again, err)
		}
	})
}
