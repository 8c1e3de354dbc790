package tables

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves T-select-cast.
func TestCasts(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for selected, want := range map[string]string{
			"id::text":                 `{"id":"` + id(1) + `"}`,
			"id::UUID":                 `{"id":"` + id(1) + `"}`,
			"title::character varying": `{"title":"Água-forte"}`,
			"is_featured::text":        `{"is_featured":"true"}`,
			"is_featured::int4":        `{"is_featured":1}`,
			"price::text,p:price::bool,n:price::numeric,b:price::int8,f:price::double precision": `{"price":"0","p":false,"n":0,"b":0,"f":0}`,
			"created_at::text":                           `{"created_at":"2026-03-12 10:30:00.25+00"}`,
			"created_at::timestamp":                      `{"created_at":"2026-03-12T10:30:00.25"}`,
			"created_at::timestamp with time zone":       `{"created_at":"2026-03-12T10:30:00.25+00:00"}`,
			"day:created_at::date,time:created_at::time": `{"day":"2026-03-12","time":"10:30:00.25"}`,
			"creation_date::timestamptz":                 `{"creation_date":"2024-02-29T00:00:00+00:00"}`,
			"creation_date::timestamp":                   `{"creation_date":"2024-02-29T00:00:00"}`,
			"creation_date::text":                        `{"creation_date":"2024-02-29"}`,
			"tags::text":                                 `{"tags":"{água,azul}"}`,
			"description::text":                          `{"description":null}`,
		} {
			got := s.call(anonymous, "GET", "products?id=eq."+id(1)+"&select="+escape(selected), "")
			s.want(selected, got, 200, "["+want+"]")
		}
		s.want("null stays null", s.call(anonymous, "GET", "reviews?select=display_order::text,b:display_order::bool&id=eq."+id(4), ""), 200, `[{"display_order":null,"b":null}]`)
		s.want("in the response to a write", s.call(admin, "PATCH", "products?select=price::text,tags->>0&id=eq."+id(1), `{"medium":"x"}`, representation), 200, `[{"price":"0","tags":"água"}]`)
	})
}

// Proves T-select-path, T-filter-path.
func TestJSONPaths(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for selected, want := range map[string]string{
			"tags->0":                 `{"tags":"água"}`,
			"tags->>1":                `{"tags":"azul"}`,
			"last:tags->-1":           `{"last":"azul"}`,
			"tags->>-3":               `{"tags":null}`,
			"tags->2147483647":        `{"tags":null}`,
			"tags->-2147483648":       `{"tags":null}`,
			"tags->first":             `{"first":null}`,
			"tags->0->>-1":            `{"tags":"água"}`,
			"tags->0->1":              `{"tags":null}`,
			"tags->x->0":              `{"x":null}`,
			`title->"a b"->>c`:        `{"c":null}`,
			"title->0,is_featured->0": `{"title":"Água-forte","is_featured":true}`,
			"is_featured->>0,p:price->>-1,created_at->>0": `{"is_featured":"true","p":"0","created_at":"2026-03-12T10:30:00.25+00:00"}`,
			"tags->0::text,p:price->0::text":              `{"tags":"\"água\"","p":"0"}`,
		} {
			s.want(selected, s.call(anonymous, "GET", "products?id=eq."+id(1)+"&select="+escape(selected), ""), 200, "["+want+"]")
		}
		for query, want := range map[string]string{
			"tags->>0=eq.a,b&order=id":                           "2",
			"tags->>0=not.is.null&order=id":                      "12",
			"or=(tags->>1.like.a*,tags->>0.eq.\"a,b\")&order=id": "12",
			"title->>0=eq.Oil":                                   "5",
			"medium->>x=is.null&limit=1&order=id":                "1",
			"medium->>0=in.(oil,Aguarela)&order=id":              "15",
			"tags->>0=not.is.null&order=tags->>0.desc":           "12",
			"tags->>0=not.is.null&order=tags->>0":                "21",
		} {
			if got := ids(t, s.call(anonymous, "GET", "products?select=id&"+escape(query), "").body); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
	})
}

// Proves T-select-alias.
func TestAwkwardNames(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		long := strings.Repeat("é", 40)
		for alias, want := range map[string]string{
			`row!`: `row!`, `it's`: `it's`, `a\"b`: `a\"b`, `back\\slash`: `back\\slash`, `(a),b:c`: `(a),b:c`, ` space `: ` space `, "tab\t": `tab\t`, "$1": "$1", ":id": ":id", "?": "?", "😀": "😀", "select": "select", "products": "products", long: strings.Repeat("é", 31),
		} {
			s.want(alias, s.call(anonymous, "GET", "products?id=eq."+id(5)+"&select="+escape(`"`+alias+`":title`), ""), 200, `[{"`+want+`":"Oil"}]`)
		}
		s.want("one name twice", s.call(anonymous, "GET", "products?id=eq."+id(5)+"&select=a:title,a:medium", ""), 200, `[{"a":"Oil","a":"oil"}]`)
	})
}

// Proves T-filter-match.
func TestRegularExpressions(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for query, want := range map[string]string{
			"title=match.^Oil$":                                 "5",
			"title=match.ural":                                  "23",
			"title=imatch.^MURAL":                               "23",
			"title=imatch.^%C3%A1gua":                           "1",
			"title=match.^%C3%A1gua":                            "",
			"title=match.^[A-Z]":                                "2578",
			"title=match.^[^A-Za-z]":                            "14",
			`title=match.^%5Cd%2B%25`:                           "4",
			`title=match.%5C(and`:                               "2",
			"title=match.(Oil|Zebra)":                           "58",
			"title=match.^.{3}$":                                "5",
			"title=not.match.[a-m]":                             "4",
			"description=match.one.Line":                        "",
			"description=imatch.ONE.LINE":                       "3",
			"description=match.one$":                            "",
			"title=match(any).{^Oil,^Zeb}":                      "58",
			"title=match(all).{^Z,a$}":                          "8",
			"or=(title.match.^Oil$,title.imatch.\"^(z|q),?e\")": "58",
			"medium=match.":                                     "158",
			`title=match.%5Cs%5Cw%2B%5CW%5Cd$`:                  "",
			"tags->>0=match.a":                                  "12",
		} {
			got := s.call(anonymous, "GET", "products?select=id&order=id&"+query, "")
			if found := ids(t, got.body); got.status != 200 || found != want {
				t.Errorf("%s: got %d %s, want %s", query, got.status, got.body, want)
			}
		}
	})
}

// Proves T-filter-compare.
func TestListsAreOrderedEntryByEntry(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for i, tags := range []string{`[]`, `[""]`, `["","z"]`, `["A"]`, `["a"]`, `["a",""]`, `["a","b"]`, `["ab"]`, `["b"]`, `["é"]`} {
			if got := s.call(admin, "POST", "products", fmt.Sprintf(`{"id":%q,"title":"T","tags":%s}`, id(i), tags)); got.status != 201 {
				t.Fatal(got.body)
			}
		}
		for query, want := range map[string]string{
			"order=tags":                       "0123456789",
			"order=tags.desc":                  "9876543210",
			"order=id&tags=gt.{a}":             "56789",
			"order=id&tags=lte.{a}":            "01234",
			"order=id&tags=gte(any).{\"{b}\"}": "89",
		} {
			if got := ids(t, s.call(anonymous, "GET", "products?select=id&"+escape(query), "").body); got != want {
				t.Errorf("%s: got %s, want %s", query, got, want)
			}
		}
	})
}

// Proves T-accept-csv.
//
// TestCSVEqualsPostgreSQLs compares the lines with PostgreSQL's text form of a record, which PostgREST sends.
func TestCSVEqualsPostgreSQLs(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.Postgres))
	c := chance{rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 0))}
	products := make([]map[string]any, 60)
	for i := range products {
		products[i] = c.product(i)
	}
	body, err := json.Marshal(products)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.call(admin, "POST", "products", string(body)); got.status != 201 {
		t.Fatal(got.body)
	}
	columns := []string{"id", "title", "description", "image_gallery", "tags", "is_featured", "creation_date", "price", "medium", "created_at"}
	lines := []string{strings.Join(columns, ",")}
	rows, err := s.db.Query(t.Context(), "select r::text from (select "+strings.Join(columns, ", ")+" from products order by id) as r")
	if err != nil {
		t.Fatal(err)
	}
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, line[1:len(line)-1])
	}
	if err := rows.Err(); err != nil || len(lines) != 61 {
		t.Fatal(len(lines), err)
	}
	got := s.call(anonymous, "GET", "products?order=id&select="+lines[0], "", "Accept: text/csv")
	s.want("CSV", got, 200, strings.Join(lines, "\n"))
	s.want("no rows", s.call(anonymous, "GET", "products?title=eq.none", "", "Accept: text/csv"), 200, "\n")
	s.want("what a write shows", s.call(admin, "DELETE", "products?id=eq."+id(3)+"&select=id,price", "", representation, "Accept: text/csv"), 200, "id,price\n"+id(3)+",0")
}

// Proves T-accept-strip.
func TestNullsStripped(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		const array, object = "Accept: application/vnd.pgrst.array+json;nulls=stripped", "Accept: application/vnd.pgrst.object+json;nulls=stripped"
		s.want("array", s.call(anonymous, "GET", `products?select="\"d\"":description,medium,title,tags&order=id&limit=2`, "", array), 200,
			`[{"medium":"Aguarela","title":"Água-forte","tags":["água","azul"]},{"title":"Mural, with \"quotes\" (and more)","tags":["a,b","c\"d","e\\f","{g}"]}]`)
		s.want("object", s.call(anonymous, "GET", "products?select=medium,description&id=eq."+id(8), "", object), 200, `{"medium":""}`)
		s.want("nothing left", s.call(anonymous, "GET", "products?select=description&id=eq."+id(8), "", object), 200, `{}`)
		s.refused("two", s.call(anonymous, "GET", "products?limit=2", "", object), 406, "PGRST116")
	})
}

// Proves T-max-rows.
func TestMaxRows(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		s.service.maxRows = 3
		for _, c := range []struct {
			method, query string
			headers       []string
			status        int
			contentRange  string
		}{
			{"GET", "", nil, 200, "0-2/*"},
			{"GET", "", []string{"Prefer: count=exact"}, 206, "0-2/8"},
			{"HEAD", "", []string{"Prefer: count=planned"}, 206, "0-2/8"},
			{"GET", "limit=100&offset=6", []string{"Prefer: count=estimated"}, 206, "6-7/8"},
			{"GET", "limit=2", nil, 200, "0-1/*"},
			{"GET", "", []string{"Range: 2-7"}, 200, "2-4/*"},
		} {
			got := s.call(anonymous, c.method, "products?select=id&"+c.query, "", c.headers...)
			if got.status != c.status || got.header.Get("Content-Range") != c.contentRange {
				t.Errorf("%s %s %v: got %d %s", c.method, c.query, c.headers, got.status, got.header.Get("Content-Range"))
			}
		}
		if got := s.call(admin, "PATCH", "products?select=id", `{"medium":"x"}`, representation); strings.Count(got.body, `"id"`) != 8 {
			t.Errorf("a write shows all that it wrote, not %s", got.body)
		}
	})
}

// Proves T-insert-csv.
func TestFormAndCSVBodies(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		const csvBody, form = "Content-Type: text/csv", "Content-Type: application/x-www-form-urlencoded; charset=utf-8"
		got := s.call(admin, "POST", "products?select=id,title,tags,medium,is_featured,creation_date", "\ufeffid,title,tags,medium,is_featured,creation_date\r\n"+id(1)+",\"A, \"\"b\"\"\nc\",\"{a,\"\"b c\"\"}\",NULL,t,2026-03-12\n"+id(2)+",B,{},,f,NULL\n", csvBody, representation)
		s.want("CSV", got, 201, `[{"id":"`+id(1)+`","title":"A, \"b\"\nc","tags":["a","b c"],"medium":null,"is_featured":true,"creation_date":"2026-03-12"},`+
			`{"id":"`+id(2)+`","title":"B","tags":[],"medium":"","is_featured":false,"creation_date":null}]`)
		s.want("columns of CSV", s.call(admin, "POST", "products?select=id,title,medium&columns=id,title", "id,title,medium\n"+id(3)+",C,oil", csvBody, representation), 201, `[{"id":"`+id(3)+`","title":"C","medium":null}]`)
		s.want("only a header", s.call(admin, "POST", "products?select=id", "id,title\n", csvBody, representation), 201, `[]`)
		s.want("update by CSV", s.call(admin, "PATCH", "products?select=title&id=eq."+id(3), "title\nD", csvBody, representation), 200, `[{"title":"D"}]`)
		s.want("form", s.call(admin, "POST", "products?select=id,title,tags", "id="+id(4)+"&title=a+b%26c&title=last&tags=%7Bx%7D", form, representation), 201, `[{"id":"`+id(4)+`","title":"last","tags":["x"]}]`)
		s.want("update by form", s.call(admin, "PATCH", "products?select=title,is_featured&id=eq."+id(4), "is_featured=on", form, representation), 200, `[{"title":"last","is_featured":true}]`)
		for name, c := range map[string]struct{ body, media, code string }{
			"an empty CSV":          {"", csvBody, "PGRST102"},
			"lines of two lengths":  {"id,title\n" + id(9), csvBody, "PGRST102"},
			"an open quote":         {"title\n\"A", csvBody, "PGRST102"},
			"a quote in the middle": {"title\nA\"B", csvBody, "PGRST102"},
			"an unknown column":     {"title,colour\nA,red", csvBody, "PGRST204"},
			"a word for a flag":     {"title,in_stock\nA,", csvBody, "22P02"},
			"no UTF-8":              {"title\n\xff", csvBody, "22021"},
			"a NUL":                 {"title\nA\x00", csvBody, "22021"},
			"a bad escape":          {"title=%zz", form, "PGRST102"},
			"a NUL in a form":       {"title=%00", form, "22021"},
			"a NUL in a name":       {"ti%00=a", form, "22021"},
			"an unknown field":      {"title=A&colour=red", form, "PGRST204"},
		} {
			s.refused(name, s.call(admin, "POST", "products", c.body, c.media), 400, c.code)
		}
		many := "title\n" + strings.Repeat("A\n", maxInsertRows+1)
		s.refused("many rows", s.call(admin, "POST", "products", many, csvBody), 413, "54000")
		if n := s.count("products"); n != 4 {
			t.Errorf("%d products", n)
		}
	})
}

// Proves T-put.
func TestPut(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		path := "products?select=id,title,medium&id=eq." + id(1)
		s.want("a new row", s.call(admin, "PUT", path, `{"id":"`+id(1)+`","title":"A","medium":"oil"}`, representation), 201, `[{"id":"`+id(1)+`","title":"A","medium":"oil"}]`)
		s.want("an old row", s.call(admin, "PUT", path, `{"id":"`+id(1)+`","title":"B"}`, representation), 200, `[{"id":"`+id(1)+`","title":"B","medium":"oil"}]`)
		s.want("as one object", s.call(admin, "PUT", path, `[{"id":"`+id(1)+`","title":"C"}]`, representation, "Accept: application/vnd.pgrst.object+json"), 200, `{"id":"`+id(1)+`","title":"C","medium":"oil"}`)
		s.want("by CSV", s.call(admin, "PUT", path, "id,title\n"+id(1)+",D", "Content-Type: text/csv", representation), 200, `[{"id":"`+id(1)+`","title":"D","medium":"oil"}]`)
		if got := s.call(admin, "PUT", path, `{"id":"`+id(1)+`","title":"E"}`, "Prefer: return=minimal, count=exact"); got.status != 204 || got.body != "" || got.header.Get("Preference-Applied") != "return=minimal, count=exact" {
			t.Errorf("minimal: %d %s %v", got.status, got.body, got.header)
		}
		s.changed = nil
		for _, c := range []struct {
			name, who, query, body string
			status                 int
			code                   string
		}{
			{"without a key", admin, "", `{"id":"` + id(1) + `","title":"X"}`, 405, "PGRST105"},
			{"by another column", admin, "title=eq.E", `{"id":"` + id(1) + `","title":"X"}`, 405, "PGRST105"},
			{"by another operator", admin, "id=neq." + id(1), `{"id":"` + id(1) + `","title":"X"}`, 405, "PGRST105"},
			{"by more than the key", admin, "id=eq." + id(1) + "&title=eq.E", `{"id":"` + id(1) + `","title":"X"}`, 405, "PGRST105"},
			{"by a group", admin, "or=(id.eq." + id(1) + ")", `{"id":"` + id(1) + `","title":"X"}`, 405, "PGRST105"},
			{"with a limit", admin, "limit=1&id=eq." + id(1), `{"id":"` + id(1) + `","title":"X"}`, 400, "PGRST114"},
			{"with an offset", admin, "offset=1&id=eq." + id(1), `{"id":"` + id(1) + `","title":"X"}`, 400, "PGRST114"},
			{"another key in the body", admin, "id=eq." + id(1), `{"id":"` + id(2) + `","title":"X"}`, 400, "PGRST115"},
			{"no key in the body", admin, "id=eq." + id(1), `{"title":"X"}`, 400, "PGRST115"},
			{"two rows", admin, "id=eq." + id(1), `[{"id":"` + id(1) + `","title":"X"},{"id":"` + id(1) + `","title":"X"}]`, 400, "PGRST115"},
			{"no row", admin, "id=eq." + id(1), `[]`, 400, "PGRST115"},
			{"no title", admin, "id=eq." + id(1), `{"id":"` + id(1) + `"}`, 400, "23502"},
			{"an unknown column", admin, "id=eq." + id(1), `{"id":"` + id(1) + `","colour":"X"}`, 400, "PGRST204"},
			{"a visitor", anonymous, "id=eq." + id(1), `{"id":"` + id(1) + `","title":"X"}`, 401, "42501"},
			{"no admin", signedIn, "id=eq." + id(1), `{"id":"` + id(1) + `","title":"X"}`, 403, "42501"},
		} {
			s.refused(c.name, s.call(c.who, "PUT", "products?"+c.query, c.body), c.status, c.code)
		}
		s.want("nothing else happened", s.call(anonymous, "GET", "products?select=title", ""), 200, `[{"title":"E"}]`)
		if len(s.changed) > 0 {
			t.Errorf("announced %v", s.changed)
		}
		s.refused("messages are not for replacing", s.call(admin, "PUT", "contact_submissions?id=eq."+id(1), `{"id":"`+id(1)+`","status":"read"}`), 403, "42501")
	})
}

// Proves T-rpc-body, T-method-other.
func TestMethods(t *testing.T) {
	s := newSite(t, dbtest.Open(t, db.SQLite))
	for path, allowed := range map[string]string{
		"products": "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE", "rpc/get_user_role": "OPTIONS,GET,HEAD,POST", "rpc/reorder_reviews": "OPTIONS,POST", "rpc/reorder_covers": "OPTIONS,POST", "": "OPTIONS,GET,HEAD",
	} {
		if got := s.call(anonymous, "OPTIONS", path, ""); got.status != 200 || got.header.Get("Allow") != allowed || got.body != "" {
			t.Errorf("OPTIONS %s: %d %v %s", path, got.status, got.header, got.body)
		}
	}
	s.refused("the root", s.call(anonymous, "GET", "", ""), 404, "PGRST126")
	s.refused("the root by POST", s.call(anonymous, "POST", "", "{}"), 405, "PGRST117")
	s.refused("OPTIONS of no table", s.call(anonymous, "OPTIONS", "paintings", ""), 404, "PGRST205")
	for _, method := range []string{"TRACE", "COPY", "LINK"} {
		s.refused(method, s.call(admin, method, "products", ""), 405, "PGRST117")
		s.refused(method+" of a function", s.call(admin, method, "rpc/get_user_role", ""), 405, "PGRST101")
		for path, allowed := range map[string]string{"": "OPTIONS,GET,HEAD", "products": "OPTIONS,GET,HEAD,POST,PUT,PATCH,DELETE", "rpc/reorder_reviews": "OPTIONS,POST"} {
			if got := s.call(admin, method, path, "").header.Get("Allow"); got != allowed {
				t.Errorf("%s %q: Allow %q", method, path, got)
			}
		}
	}
	s.refused("PUT of no table", s.call(admin, "PUT", "paintings", "{}"), 404, "PGRST205")
	got := s.call(admin, "GET", "rpc/get_user_role?limit=1&select=x&user_id="+adminID, "", "Accept: text/csv", "Prefer: count=exact")
	s.want("a function's value as CSV", got, 200, "pgrst_scalar\nadmin")
	if got.header.Get("Content-Range") != "0-0/1" {
		t.Errorf("Content-Range %s", got.header.Get("Content-Range"))
	}
	s.want("arguments as a form", s.call(admin, "POST", "rpc/get_user_role", "user_id="+adminID, "Content-Type: application/x-www-form-urlencoded"), 200, `"admin"`)
	s.want("HEAD", s.call(admin, "HEAD", "rpc/get_user_role?user_id="+adminID, ""), 200, "")
}

// Proves T-filter-match.
//
// TestRandomPatternsMatchAsInPostgreSQL compares the results of accepted random regular expressions with those of PostgreSQL.
func TestRandomPatternsMatchAsInPostgreSQL(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	c := chance{rand.New(rand.NewPCG(uint64(time.Now().UnixNano()), 1))}
	for range 400 {
		text := c.text(8)
		for _, fold := range []bool{false, true} {
			raw := c.pattern(text, 3)
			p, err := convertPattern(raw, fold)
			if err != nil {
				continue // a case-insensitive range of letters outside ASCII
			}
			subject := text
			if fold {
				subject = db.Fold(text)
			}
			var want bool
			if err := d.QueryRow(context.Background(), `select $1::text collate "C" ~ $2`, subject, p).Scan(&want); err != nil {
				t.Fatalf("%q became %q: %v", raw, p, err)
			}
			if got := regexp.MustCompile("(?s)" + p).MatchString(subject); got != want {
				t.Errorf("%q on %q: here %v, PostgreSQL %v", p, subject, got, want)
			}
		}
	}
}

func TestContractErrorMapsCodesOfOtherPackages(t *testing.T) {
	for code, want := range map[string]string{"not_found": "PGRST125", "unexpected_failure": "PGRSTX00"} {
		if got := contractError(errUnsupported("x").Because(nil)); got.Code != "0A000" {
			t.Errorf("0A000 became %s", got.Code)
		}
		e := *errRootDisabled
		e.Code, e.Status = code, http.StatusNotFound
		if got := contractError(&e); got.Code != want {
			t.Errorf("%s became %s", code, got.Code)
		}
	}
}
