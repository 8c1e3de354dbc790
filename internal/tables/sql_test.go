package tables

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/policy"
)

var update = flag.Bool("update", false, "write the golden file anew")

// goldenReads are requests whose SQL for both databases is stored in testdata/golden.txt: those of the site itself, and at least one for each
// construct of the query language.
var goldenReads = []string{
	"cover_images?select=*&is_active=eq.true&order=display_order.asc",
	"products?select=*&is_featured=eq.true&order=created_at.desc",
	"reviews?select=*&is_active=eq.true&order=display_order.asc",
	"products?select=*&artwork_type=not.in.(oil,acrylic)&order=created_at.desc",
	"products?select=*&artwork_type=eq.mural&artwork_type=not.in.(oil,acrylic)&order=created_at.desc",
	"user_roles?select=role&user_id=eq." + userID,
	"reviews?select=*&order=display_order.asc,created_at.desc",
	"products?select=name:title,tags,is_featured",
	"products?select=",
	`products?select=id&or=(title.eq."a,b",and(price.gt.0,price.lte.9),not.or(in_stock.is.true,medium.is.null))`,
	"products?select=id&title=like.A*&medium=ilike.*Oil*&description=not.like.x%25",
	"products?select=id&medium=ilike.*%C3%81gua*",
	"products?select=id&tags=cs.{a,b}&image_gallery=cd.{a}&video_gallery=ov.{a}",
	"products?select=id&tags=eq.{a}&title=isdistinct.A&is_featured=in.(true,f)&price=in.(0,1)&creation_date=in.(2026-03-12)&created_at=in.(2026-03-12)",
	"products?select=id&title=eq(any).{a,b}&title=like(all).{a*,*b}&title=eq(any).{}&title=like(all).{}",
	"products?select=id&id=in.()",
	"products?select=id&created_at=gte.2026-03-12T10:00:00%2B01:00&creation_date=lt.2026-03-12",
	"products?select=id&order=creation_date,medium.desc,dimensions.asc.nullsfirst,seo_meta_title.desc.nullslast,id.desc",
	"products?select=id&limit=10&offset=20",
	"products?select=id::text,t:is_featured::text,i:is_featured::int,price::text,b:price::bool,n:price::numeric,f:price::float8,l:tags::text",
	"products?select=created_at::text,p:created_at::timestamp,d:created_at::date,t:created_at::time,creation_date::timestamptz,c:creation_date::timestamp,x:creation_date::text",
	"products?select=tags->0,last:tags->>-1,title->>0,is_featured->0,price->-1,none:medium->a->>b,x:tags->0::text,y:price->0::text,z:title->>a",
	`products?select="row!":title,"it's":title,"b\"c":medium`,
	"products?select=id&tags->>0=eq.a&medium->>0=like.a*&price->>a=is.null&order=tags->>0.desc,tags",
	"products?select=id&tags=gt.{a}&image_gallery=lte.{}&video_gallery=gte(any).{\"{a,b}\"}",
	`products?select=id&title=match.^A[0-9]{2,}(b|c)*%5C.$&medium=imatch.%C3%81g[A-Z]&description=not.match(any).{a,b}`,
}

func goldenStatements(t *testing.T, d db.Dialect) (names []string, statements []statement) {
	add := func(name string, st statement) {
		names, statements = append(names, name), append(statements, st)
	}
	parse := func(request string) *Query {
		table, raw, _ := strings.Cut(request, "?")
		q, err := parseQuery(schema[table], raw)
		if err != nil {
			t.Fatalf("%s: %v", request, err)
		}
		return q
	}
	for _, request := range goldenReads {
		q := parse(request)
		limit := int64(maxRows)
		if q.Limit != nil {
			limit = *q.Limit
		}
		add("GET "+request, renderRead(d, q, limit, q.Offset, false))
	}
	own := grantCondition(schema["user_roles"], policy.Grant{Allowed: true, Rows: policy.Rows{{Column: "user_id", Value: userID}}})
	counted := parse("products?select=title&title=gt.A&limit=5")
	counted.Where = All{always, counted.Where}
	add("GET with a count", renderRead(d, counted, 5, 0, true))
	hidden := parse("user_roles?select=role&role=eq.admin")
	hidden.Where = All{own, hidden.Where}
	add("GET behind a policy", renderRead(d, hidden, maxRows, 0, true))
	hidden.Where = All{never, hidden.Where}
	add("GET of what nobody may see", renderRead(d, hidden, maxRows, 0, false))
	add("count", renderCount(d, schema["reviews"], counted.Where.(All)[:1]))
	reviews := schema["reviews"]
	add("count of all", renderCount(d, reviews, nil))
	add("insert", renderInsert(d, reviews, "[]", nil))
	add("insert, ignoring duplicates", renderInsert(d, schema["user_roles"], "[]", &upsert{}))
	add("insert, merging duplicates", renderInsert(d, schema["products"], "[]", &upsert{merge: []*Column{schema["products"].byName["title"], schema["products"].byName["tags"]}, where: Compare{schema["products"].Key, Equal, id(1)}}))
	add("which exist", renderValue(d, reviews, reviews.Key, hasKey(reviews, rowKeys)))
	change := row{schema["products"].byName["tags"]: []string{"a"}, schema["products"].byName["title"]: "A", schema["products"].byName["creation_date"]: nil}
	add("update", renderUpdate(d, parse("products?id=eq."+id(1)), change))
	add("update of a part", renderUpdate(d, parse("products?order=title&limit=1&offset=2"), change))
	add("update from an offset", renderUpdate(d, parse("products?order=title&offset=2"), change))
	add("keys", renderKeys(d, parse("reviews?is_active=is.false&order=display_order")))
	add("written row", renderKeyed(d, reviews, []Field{{Name: "id", Column: reviews.Key}}, rowKeys[:1], nil, always))
	add("written rows", renderKeyed(d, reviews, []Field{{Name: "id", Column: reviews.Key}}, rowKeys, nil, always))
	add("written rows, ordered and behind a policy", renderKeyed(d, reviews, []Field{{Name: "id", Column: reviews.Key}}, rowKeys, parse("reviews?order=location").Order, Compare{reviews.byName["is_active"], Equal, true}))
	add("delete", renderDelete(d, reviews, rowKeys))
	add("last number", renderLast(reviews))
	add("renumber", renderRenumber(d, reviews, rowKeys))
	add("renumber one", renderRenumber(d, reviews, rowKeys[:1]))
	add("value", renderValue(d, schema["user_roles"], schema["user_roles"].byName["role"], own))
	var lock recordedExec
	if err := db.LockTable(t.Context(), &db.Tx{Querier: &lock, Dialect: d}, reviews.Name); err != nil {
		t.Fatal(err)
	}
	if lock.sql != "" {
		add("lock", lock.statement)
	}
	return names, statements
}

// recordedExec is a Querier that records a statement.
type recordedExec struct {
	db.Querier
	statement
}

func (r *recordedExec) Exec(_ context.Context, query string, args ...any) (int64, error) {
	r.statement = statement{query, args}
	return 0, nil
}

// TestGolden compares the generated SQL of both engines with testdata/golden.txt. go test -update rewrites the file.
func TestGolden(t *testing.T) {
	names, lite := goldenStatements(t, db.SQLite)
	allNames, postgres := goldenStatements(t, db.Postgres)
	var out strings.Builder
	for i, name := range allNames {
		fmt.Fprintf(&out, "# %s\n", name)
		if i < len(names) {
			fmt.Fprintf(&out, "sqlite    %s\n", lite[i].sql)
			if fmt.Sprint(lite[i].args) != fmt.Sprint(postgres[i].args) {
				t.Errorf("%s: the arguments differ: %v and %v", name, lite[i].args, postgres[i].args)
			}
		}
		fmt.Fprintf(&out, "postgres  %s\n", postgres[i].sql)
		for n, arg := range postgres[i].args {
			fmt.Fprintf(&out, "$%d        %T %v\n", n+1, arg, arg)
		}
		out.WriteByte('\n')
	}
	const file = "testdata/golden.txt"
	if *update {
		if err := os.WriteFile(file, []byte(out.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want, got := strings.Split(string(golden), "\n"), strings.Split(out.String(), "\n")
	for i := range max(len(want), len(got)) {
		var w, g string
		if i < len(want) {
			w = want[i]
		}
		if i < len(got) {
			g = got[i]
		}
		if w != g {
			t.Fatalf("line %d of %s:\n got %s\nwant %s", i+1, file, g, w)
		}
	}
}
