package tables

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/url"
	"strings"
	"testing"
	"time"
	"unicode"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// twin has a site on each engine. It sends each request to both and requires byte-identical responses.
type twin struct {
	t     *testing.T
	sites [2]*site
}

// newTwin returns two sites, one on each database engine.
func newTwin(t *testing.T) *twin {
	t.Helper()
	return &twin{t, [2]*site{newSite(t, dbtest.Open(t, db.SQLite)), newSite(t, dbtest.Open(t, db.Postgres))}}
}

// call sends a request to both sites, whose responses must be equal.
func (w *twin) call(who, method, path, body string, headers ...string) reply {
	w.t.Helper()
	lite, postgres := w.sites[0].call(who, method, path, body, headers...), w.sites[1].call(who, method, path, body, headers...)
	if lite.status != postgres.status || lite.body != postgres.body || fmt.Sprint(lite.header) != fmt.Sprint(postgres.header) {
		w.t.Errorf("%s %s %s %v:\nSQLite     %d %s\n           %v\nPostgreSQL %d %s\n           %v", method, path, body, headers, lite.status, lite.body, lite.header, postgres.status, postgres.body, postgres.header)
	}
	return lite
}

// chance generates random values that are likely to reveal a difference between the engines.
type chance struct{ *rand.Rand }

// pick returns one of the values.
func pick[T any](c chance, values ...T) T { return values[c.IntN(len(values))] }

var letters = []rune("aAbBzZ éÉãÃçÇñÑßẞÿŸłŁĳαΑΣςσжЖ%_*\\\"'`,.(){}[]:;|&+-=/<>!?#0123456789\t\n\r\b\f\x01\x1f\x7f\u0080\u00a0\u2028\u2029\ufeff\ufffd😀🎨")

func (c chance) text(n int) string {
	out := make([]rune, c.IntN(n+1))
	for i := range out {
		out[i] = letters[c.IntN(len(letters))]
		if c.IntN(20) == 0 {
			out[i] = rune(1 + c.IntN(0x2fff))
		}
	}
	return string(out)
}

func (c chance) moment() time.Time {
	return today.Add(time.Duration(c.IntN(5))*time.Hour + time.Duration(pick(c, 0, 0, 1, 10, 100000, 999999))*time.Microsecond)
}

func (c chance) date() any {
	if c.IntN(3) == 0 {
		return nil
	}
	return fmt.Sprintf("20%02d-%02d-%02d", c.IntN(3)+24, c.IntN(12)+1, c.IntN(28)+1)
}

func (c chance) list() []string {
	out := make([]string, c.IntN(4))
	for i := range out {
		out[i] = pick(c, "a", "b", "A", "", "null", c.text(6))
	}
	return out
}

func (c chance) maybe(s string) any { return pick[any](c, s, s, s, nil) }

func (c chance) product(n int) map[string]any {
	return map[string]any{
		"id": id(n), "title": "t" + c.text(12), "description": c.maybe(c.text(40)), "artwork_type": pick[any](c, "digital", "watercolour", "mural", "oil", "acrylic", nil),
		"image_url": c.maybe(c.text(10)), "image_gallery": c.list(), "video_gallery": c.list(), "is_featured": c.IntN(2) == 0, "in_stock": c.IntN(2) == 0,
		"dimensions": c.maybe(pick(c, "a", "A", "b", "é", "")), "medium": c.maybe(c.text(3)), "creation_date": c.date(), "tags": c.list(), "is_customizable": c.IntN(2) == 0,
		"seo_meta_title": nil, "seo_meta_desc": c.maybe(""), "price": c.IntN(3), "created_at": c.moment(),
		"title_pt": c.maybe(c.text(12)), "alt_texts": pick[any](c, nil, map[string]any{}, map[string]any{"/" + c.text(6): map[string]any{"en": c.text(9), "pt": c.text(9)}, "/b": map[string]any{"pt": "<é>"}}),
	}
}

// quoted is a text for a position where commas and parentheses would end it.
func quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func braces(items []string) string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = quoted(item)
	}
	return "{" + strings.Join(out, ",") + "}"
}

// condition returns a random "column.operator.value" for a group; wrap quotes its value.
func (c chance) condition(p map[string]any, wrap func(string) string) (column, rest string) {
	known := func(name string) string {
		if s, ok := p[name].(string); ok && c.IntN(3) > 0 {
			return s
		}
		return c.text(4)
	}
	not := pick(c, "", "", "not.")
	compare := pick(c, "eq", "neq", "gt", "gte", "lt", "lte", "isdistinct")
	switch c.IntN(12) {
	case 8:
		column = pick(c, "title", "medium", "dimensions", "description", "tags->>0", "tags->>-1")
		return column, not + pick(c, "match", "imatch") + "." + wrap(c.pattern(known(column), 2))
	case 9:
		column = pick(c, "tags->>0", "tags->>-1", "tags->>1", "tags->>7", "title->>0", "is_featured->>-1", "created_at->>0", "medium->>a", "tags->0->>0", "creation_date->>0", "price->>0")
		return column, not + pick(c, compare+"."+wrap(pick(c, "a", "b", "true", "2026-03-12T09:30:00.25+00:00", "0", c.text(2))), "is.null", "in.(a,b,true)", "like."+wrap(pick(c, "a*", "*", "*true*")), "ilike."+wrap(pick(c, "A*", "*É*")))
	case 10:
		column = pick(c, "title", "medium", "dimensions")
		list := braces([]string{known(column), c.text(2)})
		return column, not + pick(c, "eq", "gt", "gte", "lt", "lte") + pick(c, "(any)", "(all)") + "." + wrap(list)
	case 11:
		column = pick(c, "title", "medium", "description")
		list := braces([]string{"*" + strings.TrimRight(c.text(1), "\\") + "*", "a*", "*"})
		return column, not + pick(c, "like", "ilike") + pick(c, "(any)", "(all)") + "." + wrap(list)
	case 0:
		column = pick(c, "title", "medium", "dimensions", "description")
		return column, not + compare + "." + wrap(known(column))
	case 1:
		column = pick(c, "title", "medium", "dimensions", "description")
		pattern := strings.TrimRight(known(column), `\`)
		if len(pattern) > 1 && c.IntN(2) == 0 {
			runes := []rune(pattern)
			runes[c.IntN(len(runes))] = pick(c, '*', '_', '%')
			pattern = strings.TrimRight(string(runes), `\`)
		}
		return column, not + pick(c, "like", "ilike") + "." + wrap(pick(c, "*", "")+pick(c, pattern, strings.ToUpper(pattern), strings.ToLower(pattern))+pick(c, "*", ""))
	case 2:
		column = pick(c, "is_featured", "in_stock")
		return column, not + pick(c, "is.true", "is.false", "is.null", "is.unknown", compare+".true", compare+".f", "in.(true)", "in.()")
	case 3:
		column = pick(c, "medium", "artwork_type", "creation_date", "dimensions")
		return column, not + "is.null"
	case 4:
		column = pick(c, "title", "artwork_type", "dimensions")
		return column, not + "in.(" + quoted(known(column)) + "," + quoted(c.text(3)) + ",oil,é)"
	case 5:
		column = pick(c, "tags", "image_gallery")
		items, _ := p[column].([]string)
		return column, not + pick(c, "cs", "cd", "ov", "eq", "neq", "isdistinct", "gt", "gte", "lt", "lte") + "." + wrap(braces(pick(c, items, c.list(), []string{})))
	case 6:
		return "created_at", not + compare + "." + wrap(db.FormatTime(p["created_at"].(time.Time)))
	default:
		column, value := "creation_date", "2025-06-15"
		if s, ok := p["creation_date"].(string); ok {
			value = s
		}
		return column, not + compare + "." + wrap(value)
	}
}

// pattern returns a random regular expression that both engines support, from the letters of a text.
func (c chance) pattern(text string, depth int) string {
	runes := []rune(text + "aé")
	var b strings.Builder
	literal := func() string {
		r := runes[c.IntN(len(runes))]
		if r < 0x80 && !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' {
			return `\` + string(r)
		}
		return string(r)
	}
	for range 1 + c.IntN(3) {
		switch c.IntN(10) {
		case 0:
			b.WriteString(pick(c, `\d`, `\w`, `\s`, `\D`, `\W`, `\S`))
		case 1:
			b.WriteByte('.')
		case 2:
			b.WriteString("[" + pick(c, "", "^") + literal() + pick(c, "", "a-f", "0-9", "A-Z", `\d`, `\s`) + literal() + "]")
		case 3:
			if depth > 0 {
				b.WriteString(pick(c, "(", "(?:") + c.pattern(text, depth-1) + pick(c, "", "|"+c.pattern(text, depth-1)) + ")")
				break
			}
			fallthrough
		default:
			b.WriteString(literal())
		}
		b.WriteString(pick(c, "", "", "", "", "*", "+", "?", "{2}", "{1,3}", "{0,}"))
	}
	return pick(c, "", "", "^") + b.String() + pick(c, "", "", "$")
}

// selects are forms of select, with casts and paths of every kind.
var selects = []string{
	"*", "id", "id,title,tags", "a:title,b:tags,c:created_at,d:is_featured,e:creation_date", "",
	"id::text,a:title::varchar,b:is_featured::text,c:in_stock::int,d:price::text,e:price::bigint,f:price::numeric,g:price::float8,h:price::bool,i:is_featured::bool",
	"a:created_at::text,b:created_at::timestamp,c:created_at::date,d:created_at::time,e:created_at::timestamptz,f:creation_date::text,g:creation_date::timestamp,h:creation_date::timestamptz,i:creation_date::date",
	"tags::text,image_gallery::text,video_gallery::text",
	"tags->0,a:tags->>0,b:tags->-1,c:tags->>-2,d:tags->x,e:tags->>x,f:tags->0->0,g:tags->0->>-1,h:tags->0->1,i:tags->500",
	"title->0,a:title->>0,b:title->1,c:is_featured->0,d:is_featured->>-1,e:price->0,f:price->>0,g:created_at->0,h:created_at->>0,i:creation_date->0,j:medium->a->b->>c,k:medium->>0",
	"a:tags->0::text,b:title->0::text,c:is_featured->0::text,d:price->0::jsonb,e:creation_date->0::text,f:medium->>0::varchar,g:tags->x::text,h:id->0::text",
	`"row!":title,"it's":medium,"a\"b":tags,"é 😀,(":id,"	\\":price,"$1":description`, "id,id,id::text",
	strings.Repeat("é", 40) + ":title",
}

func (c chance) group(p map[string]any, depth int) string {
	parts := make([]string, 1+c.IntN(3))
	for i := range parts {
		if depth > 0 && c.IntN(3) == 0 {
			parts[i] = pick(c, "", "not.") + pick(c, "and", "or") + c.group(p, depth-1)
			continue
		}
		column, rest := c.condition(p, quoted)
		parts[i] = column + "." + rest
	}
	return "(" + strings.Join(parts, ",") + ")"
}

// query returns a random URL.
func (c chance) query(p map[string]any) string {
	v := []string{}
	add := func(key, value string) { v = append(v, url.QueryEscape(key)+"="+url.QueryEscape(value)) }
	add("select", pick(c, selects...))
	for range c.IntN(3) {
		column, rest := c.condition(p, func(s string) string { return s })
		add(column, rest)
	}
	if c.IntN(2) == 0 {
		add(pick(c, "or", "and", "not.or", "not.and"), c.group(p, 3))
	}
	if c.IntN(3) > 0 {
		terms := make([]string, 1+c.IntN(3))
		for i := range terms {
			terms[i] = pick(c, "title", "medium", "dimensions", "creation_date", "created_at", "artwork_type", "is_featured", "price", "id", "tags", "image_gallery", "tags->>0", "tags->>-1", "title->>0", "medium->>x") + pick(c, "", ".asc", ".desc") + pick(c, "", "", ".nullsfirst", ".nullslast")
		}
		add("order", strings.Join(terms, ","))
	}
	if c.IntN(3) == 0 {
		add("limit", fmt.Sprint(c.IntN(12)))
	}
	if c.IntN(3) == 0 {
		add("offset", fmt.Sprint(c.IntN(12)))
	}
	return strings.Join(v, "&")
}

// Proves T-select-columns, T-select-twice, T-filter-like, T-order-ties.
func TestBothEnginesRespondAlike(t *testing.T) {
	seed := uint64(time.Now().UnixNano())
	if testing.Short() {
		seed = 1
	}
	t.Logf("seed %d", seed)
	c := chance{rand.New(rand.NewPCG(seed, 0))}
	w := newTwin(t)
	products := make([]map[string]any, 40)
	for i := range products {
		products[i] = c.product(i)
	}
	body, err := json.Marshal(products)
	if err != nil {
		t.Fatal(err)
	}
	if got := w.call(admin, "POST", "products?select=*", string(body), representation); got.status != 201 {
		t.Fatalf("insert: %d %s", got.status, got.body)
	}
	// The rows equal the sent ones, so that both engines cannot be wrong in the same way.
	var stored []map[string]any
	if err := json.Unmarshal([]byte(w.call(anonymous, "GET", "products?order=id", "").body), &stored); err != nil {
		t.Fatal(err)
	}
	for i, p := range products {
		for _, column := range []string{"title", "description", "medium", "tags", "image_gallery", "creation_date", "is_featured"} {
			sent, _ := json.Marshal(p[column])
			if got, _ := json.Marshal(stored[i][column]); string(got) != string(sent) {
				t.Errorf("%s: sent %s, stored %s", column, sent, got)
			}
		}
	}
	found := 0
	rounds := 800
	if testing.Short() {
		rounds = 150
	}
	for range rounds {
		query := c.query(products[c.IntN(len(products))])
		headers := []string{"Prefer: " + pick(c, "count=exact", "count=exact", "return=minimal")}
		if c.IntN(2) == 0 {
			headers = append(headers, "Accept: "+pick(c, "application/vnd.pgrst.object+json", "application/vnd.pgrst.object+json;nulls=stripped", "application/vnd.pgrst.array+json;nulls=stripped", "text/csv", "text/csv"))
		}
		if c.IntN(8) == 0 {
			headers = append(headers, "Range: "+pick(c, "0-3", "2-", "5-4", "1-1000000", "30-"))
		}
		got := w.call(anonymous, pick(c, "GET", "GET", "GET", "HEAD"), "products?"+query, "", headers...)
		switch got.status {
		case 200, 206:
			if got.body != "[]" {
				found++
			}
		case 406, 416: // more or less than one row; a range after the last row
		default:
			t.Errorf("%s: got %d %s", query, got.status, got.body)
		}
		if t.Failed() {
			return
		}
	}
	if found < rounds/4 {
		t.Errorf("only %d of %d queries found something: the test tests little", found, rounds)
	}
	// Writes with random filters, until no row is left.
	for i := 0; i < rounds/6 && !t.Failed(); i++ {
		query := c.query(products[c.IntN(len(products))])
		if !strings.Contains(query, "order=") {
			query += "&order=title"
		}
		switch c.IntN(7) {
		case 4:
			p := c.product(c.IntN(len(products)))
			row, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			w.call(admin, "PUT", "products?select="+url.QueryEscape(pick(c, selects...))+"&id=eq."+pick(c, p["id"].(string), p["id"].(string), id(0)), string(row), pick(c, representation, "Prefer: count=exact"))
		case 5:
			w.call(admin, "POST", "products?select="+url.QueryEscape(pick(c, selects...)), c.csv(), "Content-Type: text/csv", pick(c, representation, "Prefer: count=exact"), "Prefer: resolution="+pick(c, "merge-duplicates", "ignore-duplicates"), "Accept: "+pick(c, "text/csv", "application/json"))
		case 6:
			w.call(admin, pick(c, "POST", "PATCH"), "products?id=eq."+id(c.IntN(len(products))), url.Values{"id": {id(c.IntN(40))}, "title": {c.text(9)}, "tags": {braces(c.list())}, "is_featured": {pick(c, "t", "off", "2")}}.Encode(), "Content-Type: application/x-www-form-urlencoded", pick(c, representation, "Prefer: count=exact"), "Prefer: handling=strict,max-affected=1")
		case 0:
			w.call(admin, "DELETE", "products?limit=2&"+query, "", pick(c, representation, "Prefer: count=exact"))
		case 1:
			p := c.product(c.IntN(len(products)))
			row, err := json.Marshal(p)
			if err != nil {
				t.Fatal(err)
			}
			w.call(admin, "POST", "products?select=*", string(row), representation, "Prefer: count=exact,resolution="+pick(c, "merge-duplicates", "ignore-duplicates"))
		default:
			p := c.product(0)
			change := map[string]any{}
			for range 1 + c.IntN(4) {
				column := pick(c, "title", "tags", "medium", "creation_date", "is_featured", "created_at", "price", "artwork_type", "description")
				change[column] = p[column]
			}
			row, err := json.Marshal(change)
			if err != nil {
				t.Fatal(err)
			}
			w.call(admin, "PATCH", "products?"+query, string(row), pick(c, representation, "Prefer: count=exact"))
		}
		w.call(anonymous, "GET", "products?order=id", "")
	}
}

// csv returns a random body for an insert.
func (c chance) csv() string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	_ = w.Write([]string{"id", "title", "tags", "creation_date", "is_featured"}) // a strings.Builder returns no error
	for range 1 + c.IntN(3) {
		_ = w.Write([]string{id(c.IntN(40)), "t" + strings.ReplaceAll(c.text(8), "\r", ""), braces(c.list()), pick(c, "NULL", "2026-03-12", "NULL", "soon"), pick(c, "true", "f")})
	}
	w.Flush()
	return b.String()
}

// TestBothEnginesRespondAlikeToTheSite sends the site's queries, as every caller, on rows with equal times, equal numbers and nulls.
func TestBothEnginesRespondAlikeToTheSite(t *testing.T) {
	w := newTwin(t)
	for _, s := range w.sites {
		s.fill()
	}
	for _, who := range everyone {
		for _, path := range []string{
			"cover_images?select=*&is_active=eq.true&order=display_order.asc",
			"products?select=*&is_featured=eq.true&order=created_at.desc",
			"reviews?select=*&is_active=eq.true&order=display_order.asc",
			"products?select=*&artwork_type=not.in.(oil,acrylic)&order=created_at.desc",
			"products?select=*&artwork_type=neq.oil&artwork_type=neq.acrylic&order=created_at.desc",
			"products?select=*&artwork_type=eq.digital&order=created_at.desc",
			"products?select=*&artwork_type=eq.mural&order=created_at.desc",
			"products?select=*&artwork_type=eq.watercolour&order=created_at.desc",
			"products?select=*&id=eq." + id(2),
			"user_roles?select=role&user_id=eq." + adminID,
			"products?select=*&order=created_at.desc",
			"reviews?select=*&order=display_order.asc,created_at.desc",
			"cover_images?select=*&order=display_order.asc",
			"contact_submissions?select=*&order=created_at.desc",
			"products", "reviews", "cover_images", "contact_submissions", "user_roles", "paintings",
		} {
			for _, method := range []string{"GET", "HEAD"} {
				for _, header := range []string{"Accept: */*", "Accept: application/vnd.pgrst.object+json", "Prefer: count=exact", "Range: 0-1"} {
					w.call(who, method, path, "", header, "Accept-Profile: public")
				}
			}
		}
	}
	for _, c := range []struct{ method, path, body string }{
		{"POST", "reviews", `{"id":"` + id(20) + `","client_name":"A","location":"Porto","message":"M","image_url":null,"is_active":true}`},
		{"POST", "rpc/reorder_reviews", `{"ids":["` + id(2) + `","` + id(20) + `"]}`},
		{"GET", "reviews?order=display_order", ""},
		{"PATCH", "cover_images?id=eq." + id(1), `{"title":"T","display_order":3}`},
		{"PATCH", "cover_images?id=eq." + id(1), `{"display_order":0}`},
		{"PATCH", "contact_submissions?id=eq." + id(1), `{"status":"read"}`},
		{"DELETE", "contact_submissions?id=eq." + id(2), ""},
		{"POST", "products", `{"id":"` + id(1) + `","title":"Twice"}`},
		{"DELETE", "products?id=eq." + id(1), ""},
		{"GET", "rpc/get_user_role?user_id=" + adminID, ""},
	} {
		w.call(admin, c.method, c.path, c.body, representation)
	}
}
