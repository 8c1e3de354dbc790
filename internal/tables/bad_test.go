package tables

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
)

// injections are texts that would do harm if they became part of a statement's SQL.
var injections = []string{
	"' or '1'='1", "'; drop table products; --", `"; drop table products; --`, "1) or (1=1", "x' union select encrypted_password from auth_users --",
	`\'; drop table products; --`, "$1", "$$", "?", ":id", "/* */", "--", "%' or '%'='", "`", "]", `{"$ne":null}`, "row!", `"row!"`, "' || (select 1) || '",
}

// Proves T-select-cast-other, T-filter-match-not, T-filter-ranges, T-filter-unknown, T-order-other, T-limits-named,
// T-limits.
func TestBadQueries(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		deep := func(n int) string { return strings.Repeat("and(", n) + "title.eq.x" + strings.Repeat(")", n) }
		for _, c := range []struct {
			query  string
			status int
			code   string
		}{
			// Unknown columns and resources.
			{"colour=eq.red", 400, "42703"},
			{"select=title,colour", 400, "42703"},
			{"select=c:colour", 400, "42703"},
			{"order=colour", 400, "42703"},
			{"or=(colour.eq.red,title.eq.x)", 400, "42703"},
			{"on_conflict=colour", 400, "42703"},
			{"columns=colour", 400, "PGRST204"},
			{"select=auth_users(email)", 400, "PGRST200"},
			{"select=title,reviews!inner(*)", 400, "PGRST200"},
			{"select=...reviews(message)", 400, "PGRST200"},
			{"auth_users.email=eq.x", 400, "PGRST108"},
			{"reviews.or=(message.eq.x)", 400, "PGRST108"},
			{"reviews.limit=1", 400, "PGRST108"},
			{"order=reviews(message)", 400, "PGRST108"},
			{"select=count()", 400, "PGRST123"},
			{"select=price.sum()", 400, "PGRST123"},
			// Casts and JSON paths.
			{"select=title::foo", 400, "42704"},
			{"select=title::integer", 400, "42846"},
			{"select=title::json", 400, "42846"},
			{"select=id::int", 400, "42846"},
			{"select=id::uuid;drop", 400, "PGRST100"},
			{"select=is_featured::bigint", 400, "42846"},
			{"select=price::uuid", 400, "42846"},
			{"select=creation_date::time", 400, "42846"},
			{"select=created_at::int4", 400, "42846"},
			{"select=tags::text[]", 400, "PGRST100"},
			{"select=tags::uuid", 400, "42846"},
			{"select=tags->0::int", 400, "42846"},
			{"select=title::", 400, "PGRST100"},
			{"select=colour::text", 400, "42703"},
			{"select=tags->>0->1", 404, "42883"},
			{"select=tags->>a->>b", 404, "42883"},
			{"select=tags->", 400, "PGRST100"},
			{"select=tags->0(x)", 400, "PGRST100"},
			{"select=tags->99999999999", 400, "22003"},
			{"select=colour->0", 400, "42703"},
			{"select=tags" + strings.Repeat("->0", maxSteps+1), 400, "PGRST100"},
			{"order=tags->0", 400, "0A000"},
			{"order=tags->>0->a", 404, "42883"},
			{"order=colour->0", 400, "42703"},
			{"tags->0=eq.x", 400, "0A000"},
			{"or=(tags->0.eq.x)", 400, "0A000"},
			{"tags->>0=cs.{a}", 404, "42883"},
			{`select="":title`, 400, "42601"},
			{`select="a""b":title`, 400, "42703"},
			// Syntax errors.
			{"foo=bar", 400, "PGRST100"},
			{"title", 400, "PGRST100"},
			{"title=", 400, "PGRST100"},
			{"title=Oil", 400, "PGRST100"},
			{"title=eq", 400, "PGRST100"},
			{"title=eq()x", 400, "PGRST100"},
			{"title=EQ.x", 400, "PGRST100"},
			{"title=not.not.eq.x", 400, "PGRST100"},
			{"title=in.x", 400, "PGRST100"},
			{"title=in.(x", 400, "PGRST100"},
			{"title=in.(x)y", 400, "PGRST100"},
			{"title=in(any).(x)", 400, "PGRST100"},
			{"title=neq(any).{x}", 400, "PGRST100"},
			{"title=eq(any)(all).{x}", 400, "PGRST100"},
			{"title=eq(some).{x}", 400, "PGRST100"},
			{"title=is.nul", 400, "PGRST100"},
			{"title=is.nullx", 400, "PGRST100"},
			{"title=is.1", 400, "PGRST100"},
			{"=eq.x", 400, "PGRST100"},
			{"title;drop=eq.x", 400, "PGRST100"},
			{"or=()", 400, "PGRST100"},
			{"or=(title.eq.x", 400, "PGRST100"},
			{"or=(title.eq.x))", 400, "PGRST100"},
			{"or=title.eq.x", 400, "PGRST100"},
			{"or=(title)", 400, "PGRST100"},
			{"or=(title.eq.x,)", 400, "PGRST100"},
			{"or=(xor(title.eq.x))", 400, "PGRST100"},
			{"or=(,)", 400, "PGRST100"},
			{`or=(title.eq."x"y,title.eq.z"`, 400, "PGRST100"},
			{"order=", 400, "PGRST100"},
			{"order=title.up", 400, "PGRST100"},
			{"order=title.asc.nulls", 400, "PGRST100"},
			{"order=title.nullsfirst.asc", 400, "PGRST100"},
			{"order=title,,id", 400, "PGRST100"},
			{"order=title;id", 400, "PGRST100"},
			{"select=title,,id", 400, "PGRST100"},
			{"select=title;id", 400, "PGRST100"},
			{"select=*x", 400, "PGRST100"},
			{`select="title`, 400, "PGRST100"},
			{"columns=", 400, "PGRST100"},
			{"on_conflict=id,", 400, "PGRST100"},
			{"limit=ten", 400, "PGRST100"},
			{"limit=", 400, "PGRST100"},
			{"limit=1.5", 400, "PGRST100"},
			{"limit=99999999999999999999", 400, "PGRST100"},
			{"offset=x", 400, "PGRST100"},
			{"limit=-1", 416, "PGRST103"},
			// Values and operators of another type than the column.
			{"id=eq.x", 400, "22P02"},
			{"id=eq.", 400, "22P02"},
			{"id=in.(" + id(1) + ",x)", 400, "22P02"},
			{"id=eq.urn:uuid:" + id(1), 400, "22P02"},
			{"price=eq.x", 400, "22P02"},
			{"price=eq.0.5", 400, "22P02"},
			{"price=eq.1e3", 400, "22P02"},
			{"price=eq.", 400, "22P02"},
			{"price=eq.2147483648", 400, "22003"},
			{"price=gt.-99999999999999999999", 400, "22003"},
			{"is_featured=eq.maybe", 400, "22P02"},
			{"is_featured=eq.o", 400, "22P02"},
			{"is_featured=eq.", 400, "22P02"},
			{"created_at=gt.yesterday", 400, "22007"},
			{"created_at=gt.2026-3-1", 400, "22007"},
			{"created_at=gt.2026-13-01T00:00:00Z", 400, "22008"},
			{"created_at=gt.0000-01-01T00:00:00Z", 400, "22008"},
			{"created_at=gt.9999-12-31T23:59:59-01:00", 400, "22008"},
			{"created_at=eq.infinity", 400, "22007"},
			{"creation_date=eq.2026-02-30", 400, "22008"},
			{"creation_date=eq.soon", 400, "22007"},
			{"tags=eq.a", 400, "22P02"},
			{"tags=cs.a", 400, "22P02"},
			{"tags=cs.{a", 400, "22P02"},
			{"tags=cs.{a,}", 400, "22P02"},
			{"tags=cs.{,a}", 400, "22P02"},
			{"tags=cs.{{a}}", 400, "22P02"},
			{`tags=cs.{"a}`, 400, "22P02"},
			{`tags=cs.{"a"b}`, 400, "22P02"},
			{`tags=cs.{a\}`, 400, "22P02"},
			{"tags=eq.{null}", 400, "22P02"},
			{"title=eq(any).x", 400, "22P02"},
			{"price=eq(any).{1,x}", 400, "22P02"},
			{"title=is.true", 400, "42804"},
			{"price=is.unknown", 400, "42804"},
			{"id=like.x", 404, "42883"},
			{"price=ilike.1", 404, "42883"},
			{"title=cs.{x}", 404, "42883"},
			{"price=ov.{1}", 404, "42883"},
			{"tags=gt.a", 400, "22P02"},
			{"tags=in.({a})", 400, "42704"},
			{"title=fts.x", 400, "0A000"},
			{"title=wfts(english).x", 400, "0A000"},
			{"title=plfts(por.x", 400, "PGRST100"},
			{"price=fts.x", 404, "42883"},
			{"price=sl.1", 400, "42804"},
			{"price=adj.[1,2]", 404, "42883"},
			{"title=sr.x", 404, "42883"},
			{"tags=nxl.{x}", 404, "42883"},
			{"created_at=nxr.[x]", 404, "42883"},
			{"id=match.x", 404, "42883"},
			{"tags=imatch.x", 404, "42883"},
			{"title=match(some).{x}", 400, "PGRST100"},
			// Regular expressions that PostgreSQL refuses too, and those that only one engine supports.
			{"title=match.(", 400, "2201B"},
			{"title=match.a)", 400, "2201B"},
			{"title=match.*a", 400, "2201B"},
			{"title=match.a**", 400, "2201B"},
			{"title=match.^*", 400, "2201B"},
			{"title=match.[a", 400, "2201B"},
			{"title=match.[b-a]", 400, "2201B"},
			{"title=match.a{2,1}", 400, "2201B"},
			{"title=match.a{101}", 400, "2201B"},
			{"title=match.a{x}", 400, "2201B"},
			{`title=match.a\`, 400, "2201B"},
			{"title=match.((((((((((((a))))))))))))", 400, "2201B"},
			{"title=match.(((a{50}){50}){50}){50}", 400, "2201B"},
			{"title=match." + strings.Repeat("a", maxPattern+1), 400, "PGRST100"},
			{"title=match(any).{a,*}", 400, "2201B"},
			{"title=match.a|", 400, "0A000"},
			{"title=match.()", 400, "0A000"},
			{"title=match.(?=a)", 400, "0A000"},
			{"title=match.a*?", 400, "0A000"},
			{"title=match.}", 400, "0A000"},
			{"title=match.[[:alpha:]]", 400, "0A000"},
			{`title=match.(a)\1`, 400, "0A000"},
			{`title=match.\ya`, 400, "0A000"},
			{`title=match.[\D]`, 400, "0A000"},
			{"title=imatch.[À-ÿ]", 400, "0A000"},
			{strings.Repeat("title=imatch.éàãçíóúêôõâñüöäëïÿøåæœš&", 9), 400, "PGRST100"},
			{`title=like.x\`, 400, "22025"},
			{`title=ilike.x\\\`, 400, "22025"},
			// More than one query may ask for.
			{"or=(" + deep(maxDepth) + ")", 400, "PGRST100"},
			{"or=(" + deep(5000) + ")", 400, "PGRST100"},
			{"or=" + strings.Repeat("(", 5000), 400, "PGRST100"},
			{"or=(" + strings.Repeat("title.eq.x,", maxConditions) + "title.eq.x)", 400, "PGRST100"},
			{strings.Repeat("title=eq.x&", maxConditions+1), 400, "PGRST100"},
			{"title=eq(any).{" + strings.Repeat("x,", maxConditions) + "x}", 400, "PGRST100"},
			{"title=in.(" + strings.Repeat("x,", maxInValues) + "x)", 400, "PGRST100"},
			{"select=" + strings.Repeat("title,", maxFields) + "title", 400, "PGRST100"},
			{"select=*,*,*,*", 400, "PGRST100"},
			{"select=" + strings.Repeat("title,", maxSameColumn) + "title", 400, "PGRST100"},
			{"select=" + strings.Repeat("a:title::text,", maxSameColumn) + "b:title->>0", 400, "PGRST100"},
			{"select=" + strings.Repeat("media,", maxSameColumn) + "m:media", 400, "PGRST100"},
			{"order=" + strings.Repeat("title,", maxTerms) + "title", 400, "PGRST100"},
			{"title=eq." + strings.Repeat("x", maxQueryBytes), 400, "PGRST100"},
			{"title=like." + strings.Repeat("x", maxLike+1), 400, "PGRST100"},
			{"title=ilike." + strings.Repeat("x", maxLike+1), 400, "PGRST100"},
		} {
			name := truncate(c.query)
			e := s.refused(name, s.call(anonymous, "GET", "products?"+escape(c.query), ""), c.status, c.code)
			if len(e.Message) > 1000 {
				t.Errorf("%s: the message has %d bytes", name, len(e.Message))
			}
			if got := s.call(anonymous, "HEAD", "products?"+escape(c.query), ""); got.status != c.status {
				t.Errorf("HEAD %s: got %d", name, got.status)
			}
			// A write with such a query is refused before anything is written.
			if got := s.call(admin, "DELETE", "products?"+escape(c.query), ""); got.status != c.status {
				t.Errorf("DELETE %s: got %d %s", name, got.status, got.body)
			}
		}
		for raw, code := range map[string]string{
			"title=eq.%00": "22021", "title=eq.a%00b": "22021", "%00=eq.x": "22021", "title=eq.%FF": "22021", "title=in.(%C3)": "22021", "select=%ED%A0%80": "22021",
			"title=eq.%zz": "PGRST100", "title=eq.%": "PGRST100", "%zz=eq.x": "PGRST100",
		} {
			s.refused(raw, s.call(anonymous, "GET", "products?"+raw, ""), 400, code)
		}
		if n := s.count("products"); n != 8 {
			t.Errorf("%d products are left", n)
		}
	})
}

// Proves T-limits-named, T-limits.
func TestQueriesAtTheLimitsAreAccepted(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for _, query := range []string{
			"or=(" + strings.Repeat("and(", maxDepth-1) + "title.eq.Oil" + strings.Repeat(")", maxDepth-1) + ")",
			"or=(" + strings.Repeat("title.eq.x,", maxConditions-1) + "title.eq.Oil)",
			strings.Repeat("title=eq.Oil&", maxConditions),
			"title=in.(" + strings.Repeat("x,", maxInValues-1) + "Oil)",
			"title=eq.Oil&select=*,*,id,title,medium,tags,price,seo_meta_desc",
			"title=eq.Oil&select=" + strings.Repeat("tags->0,", maxFields-1) + "tags->>1",
			"title=eq.Oil&select=" + strings.Repeat("title,", maxSameColumn-1) + "title",
			"or=(title.eq.Oil" + strings.Repeat(",title.ilike.*x*", maxScans) + ")",
			"title=eq.Oil&order=" + strings.Repeat("title,", maxTerms-1) + "id",
			"title=not.eq." + strings.Repeat("x", maxQueryBytes-50) + "&title=eq.Oil",
			"title=ilike.*" + strings.Repeat("i*", 10000) + "&or=(title.eq.x)",
			"title=not.like." + strings.Repeat("x", maxLike) + "&title=eq.Oil",
			"title=not.ilike." + strings.Repeat("x", maxLike) + "&title=eq.Oil",
			"apikey=" + strings.Repeat("x", 1000) + "&title=eq.Oil",
			"&&title=eq.Oil&",
		} {
			if got := s.call(anonymous, "GET", "products?"+query, ""); got.status != 200 {
				t.Errorf("%s: got %d %s", truncate(query), got.status, truncate(got.body))
			}
		}
	})
}

// Proves T-insert-bad.
func TestBadBodies(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		long := func(n int) string { return strings.Repeat("é", n) }
		list := func(n int) string { return "[" + strings.TrimSuffix(strings.Repeat(`"x",`, n), ",") + "]" }
		for _, c := range []struct {
			name, table, body string
			status            int
			code              string
		}{
			{"empty", "products", " ", 400, "PGRST102"},
			{"not JSON", "products", "title=A", 400, "PGRST102"},
			{"cut off", "products", `{"title":"A"`, 400, "PGRST102"},
			{"two values", "products", `{"title":"A"}{"title":"B"}`, 400, "PGRST102"},
			{"a comma too many", "products", `{"title":"A",}`, 400, "PGRST102"},
			{"a text", "products", `"title"`, 400, "PGRST102"},
			{"null", "products", `null`, 400, "PGRST102"},
			{"an array of texts", "products", `["title"]`, 400, "PGRST102"},
			{"an array of arrays", "products", `[[{"title":"A"}]]`, 400, "PGRST102"},
			{"unequal keys", "products", `[{"title":"A"},{"title":"B","medium":"oil"}]`, 400, "PGRST102"},
			{"other keys", "products", `[{"title":"A"},{"medium":"oil"}]`, 400, "PGRST102"},
			{"an unknown column", "products", `{"title":"A","colour":"red"}`, 400, "PGRST204"},
			{"a column of another table", "reviews", `{"client_name":"A","message":"B","title":"C"}`, 400, "PGRST204"},
			{"a column with an injection", "products", `{"title":"A","id) values ('x'); --":"x"}`, 400, "PGRST204"},
			{"a column in upper case", "products", `{"Title":"A"}`, 400, "PGRST204"},
			{"no title", "products", `{}`, 400, "23502"},
			{"a null title", "products", `{"title":null}`, 400, "23502"},
			{"a null flag", "products", `{"title":"A","in_stock":null}`, 400, "23502"},
			{"a null list", "products", `{"title":"A","tags":null}`, 400, "23502"},
			{"a null key", "products", `{"id":null,"title":"A"}`, 400, "23502"},
			{"an empty title", "products", `{"title":""}`, 400, "23514"},
			{"an object for a text", "products", `{"title":{"a":1}}`, 400, "22P02"},
			{"a list for a text", "products", `{"title":["A"]}`, 400, "22P02"},
			{"a text for a list", "products", `{"title":"A","tags":"a,b"}`, 400, "22P02"},
			{"a number for a list", "products", `{"title":"A","tags":5}`, 400, "22P02"},
			{"objects in a list", "products", `{"title":"A","tags":[{"a":1}]}`, 400, "22P02"},
			{"null in a list", "products", `{"title":"A","tags":[null]}`, 400, "22P02"},
			{"a word for a flag", "products", `{"title":"A","is_featured":"perhaps"}`, 400, "22P02"},
			{"two for a flag", "products", `{"title":"A","is_featured":2}`, 400, "22P02"},
			{"a word for a number", "reviews", `{"client_name":"A","message":"B","display_order":"first"}`, 400, "22P02"},
			{"a fraction for a number", "reviews", `{"client_name":"A","message":"B","display_order":1.5}`, 400, "22P02"},
			{"a number too large", "reviews", `{"client_name":"A","message":"B","display_order":2147483648}`, 400, "22003"},
			{"a wrong price", "products", `{"title":"A","price":"free"}`, 400, "22P02"},
			{"a wrong id", "products", `{"title":"A","id":"1"}`, 400, "22P02"},
			{"a wrong date", "products", `{"title":"A","creation_date":"31/01/2026"}`, 400, "22007"},
			{"an empty date", "products", `{"title":"A","creation_date":""}`, 400, "22007"},
			{"no such date", "products", `{"title":"A","creation_date":"2026-02-30"}`, 400, "22008"},
			{"a type that is none", "products", `{"title":"A","artwork_type":"sculpture"}`, 400, "23514"},
			{"an empty type", "products", `{"title":"A","artwork_type":""}`, 400, "23514"},
			{"order 0 of a cover", "cover_images", `{"image_url":"/a","display_order":0}`, 400, "23514"},
			{"a cover that ends before it begins", "cover_images", `{"image_url":"/a","visible_from":"2026-03-12T10:00:00Z","visible_until":"2026-03-12T09:59:59.999999Z"}`, 400, "23514"},
			{"a cover that ends when it begins", "cover_images", `{"image_url":"/a","visible_from":"2026-03-12T10:00:00Z","visible_until":"2026-03-12T11:00:00+01:00"}`, 400, "23514"},
			{"a cover without media", "cover_images", `{"title":"A"}`, 400, "23502"},
			{"a long title", "products", `{"title":"` + long(maxTitle+1) + `"}`, 400, "22001"},
			{"a long message", "reviews", `{"client_name":"A","message":"` + long(maxMessage+1) + `"}`, 400, "22001"},
			{"a long address", "cover_images", `{"image_url":"` + long(maxAddress+1) + `"}`, 400, "22001"},
			{"a long tag", "products", `{"title":"A","tags":["` + long(maxTag+1) + `"]}`, 400, "22001"},
			{"many tags", "products", `{"title":"A","tags":` + list(maxTags+1) + `}`, 400, "22001"},
			{"a NUL in a text", "products", `{"title":"A\u0000B"}`, 400, "22021"},
			{"a NUL in a list", "products", `{"title":"A","tags":["\u0000"]}`, 400, "22021"},
			{"a NUL byte", "products", "{\"title\":\"A\x00\"}", 400, "PGRST102"},
			{"broken UTF-8", "products", "{\"title\":\"\xff\"}", 400, "PGRST102"},
			{"broken UTF-8 behind", "products", "{\"title\":\"A\"}\xc3", 400, "PGRST102"},
			{"deep", "products", `{"title":` + strings.Repeat("[", 200000) + strings.Repeat("]", 200000) + `}`, 400, "PGRST102"},
			{"not so deep", "products", `{"title":` + strings.Repeat("[", 500) + strings.Repeat("]", 500) + `}`, 400, "22P02"},
			{"large", "products", `{"title":"` + strings.Repeat("x", maxBody) + `"}`, 413, "54000"},
			{"many rows", "products", "[" + strings.Repeat(`{"title":"A"},`, maxInsertRows) + `{"title":"A"}]`, 413, "54000"},
			{"an unknown table", "paintings", `{}`, 404, "PGRST205"},
			{"a hidden table", "auth_users", `{}`, 404, "PGRST205"},
			{"the quarantine", "contact_quarantine", `{}`, 404, "PGRST205"},
			{"a table with an injection", "products;drop", `{}`, 404, "PGRST205"},
		} {
			before := s.count("products") + s.count("reviews") + s.count("cover_images")
			got := s.call(admin, "POST", c.table, c.body)
			if c.status == 413 || c.name == "deep" {
				got.body = truncate(got.body)
			}
			s.refused(c.name, got, c.status, c.code)
			if after := s.count("products") + s.count("reviews") + s.count("cover_images"); after != before || len(s.changed) > 0 {
				t.Errorf("%s: %d rows instead of %d", c.name, after, before)
			}
		}
		for _, media := range []string{"text/plain", "application/xml", "multipart/form-data", "application/octet-stream", "a/b/c"} {
			s.refused(media, s.call(admin, "PATCH", "products", `{"title":"A"}`, "Content-Type: "+media), 400, "PGRST102")
		}
		s.refused("a role for nobody", s.call(service, "POST", "user_roles", `{"user_id":"`+id(77)+`","role":"admin"}`), 409, "23503")
		s.refused("a second role", s.call(service, "POST", "user_roles", `{"user_id":"`+adminID+`","role":"x"}`), 409, "23505")
		s.refused("a role without a user", s.call(service, "POST", "user_roles", `{"role":"admin"}`), 400, "23502")
		for _, method := range []string{"GET", "PATCH", "DELETE"} {
			s.refused(method+" of an unknown table", s.call(admin, method, "paintings", ""), 404, "PGRST205")
		}
	})
}

func TestTextLimitsCountCharacters(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		title := strings.Repeat("😀", maxTitle)
		s.want("a title as long as may be", s.call(admin, "POST", "products?select=title", `{"title":"`+title+`"}`, representation), 201, `[{"title":"`+title+`"}]`)
		message := strings.Repeat("é", maxMessage)
		s.want("a message as long as may be", s.call(admin, "POST", "reviews?select=message", `{"client_name":"A","message":"`+message+`"}`, representation), 201, `[{"message":"`+message+`"}]`)
	})
}

// Proves T-address-hostile.
//
// TestInjections sends malicious text in every part of a request. The text is found and stored as text, or refused.
func TestInjections(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.exec("update auth_users set encrypted_password = 'a secret'")
		for i, text := range injections {
			e := url.QueryEscape(text)
			s.exec("delete from products")
			body := fmt.Sprintf(`{"id":%q,"title":%q,"tags":[%q]}`, id(i), text, text)
			if got := s.call(admin, "POST", "products", body); got.status != 201 {
				t.Errorf("%s: insert got %d %s", text, got.status, got.body)
			}
			quoted := url.QueryEscape(`"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(text) + `"`)
			for _, query := range []string{"title=eq." + e, "title=in.(" + quoted + ")", "or=(title.eq." + quoted + ")", "tags=cs.{" + quoted + "}", "tags=eq.{" + quoted + "}", "title=eq(any).{" + quoted + "}"} {
				if got := s.call(anonymous, "GET", "products?select=title&"+query, ""); got.status != 200 || got.body != fmt.Sprintf(`[{"title":%s}]`, jsonText(text)) {
					t.Errorf("%s: %s got %d %s", text, query, got.status, got.body)
				}
			}
			for _, query := range []string{
				"title=neq." + e, "title=like." + e, "title=ilike." + e, "title=" + e, e + "=eq.x", "select=" + e, "select=" + e + ":title", "select=title:" + e, "order=" + e, "order=title." + e,
				"limit=" + e, "offset=" + e, "columns=" + e, "on_conflict=" + e, "or=" + e, "or=(" + e + ")", "or=(title." + e + ")", "id=eq." + e, "price=eq." + e, "created_at=gt." + e, "is_featured=is." + e, "tags=cs." + e, "title=in." + e,
			} {
				if got := s.call(anonymous, "GET", "products?"+query, ""); got.status >= 500 || (got.status == 200 && strings.Contains(got.body, "a secret")) {
					t.Errorf("%s: %s got %d %s", text, query, got.status, got.body)
				}
			}
			s.call(anonymous, "GET", url.PathEscape(text), "")
			s.call(admin, "POST", "rpc/"+url.PathEscape(text), "{}")
			s.want(text+": update", s.call(admin, "PATCH", "products?select=title&title=eq."+e, fmt.Sprintf(`{"title":%q}`, text+"!"), representation), 200, fmt.Sprintf(`[{"title":%s}]`, jsonText(text+"!")))
			s.want(text+": delete", s.call(admin, "DELETE", "products?title=eq."+e, "", "Prefer: count=exact"), 204, "")
			if n := s.count("products"); n != 1 {
				t.Errorf("%s: a delete by another title left %d rows", text, n)
			}
		}
	})
}
