package hostile

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"mime/multipart"
	"net/url"
	"strings"
)

// generator generates random requests from a seed. Most are valid requests with one or more mistakes.
type generator struct {
	*rand.Rand
	keys map[string]string // caller → token; "" for none
	who  []string          // callers to choose from
	ids  []string          // of rows and accounts, also of hidden ones

	uploads []string // resumable ones of the service key
	links   *links
}

func encode(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

func pick[T any](g *generator, of ...T) T        { return of[g.IntN(len(of))] }
func (g *generator) chance(percent int) bool     { return g.IntN(100) < percent }
func (g *generator) word(parts ...string) string { return pick(g, parts...) }

// hostileTexts are texts that programs often mishandle.
var hostileTexts = []string{
	"", " ", "\x00", "a\x00b", "\xff\xfe", "\xc3\x28", "\xed\xa0\x80", "é", "İı", "😀", "\u202e", "\ufeff", "'", `"`, `\`, `\\`, "%", "_", "*", ",", ")", "(", "{}", "{", "}", "[]", "null", "NULL",
	"true", "o", "0", "-0", "-1", "+1", "1.5", "1e3", "1e999", "NaN", "Infinity", "2147483647", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "99999999999999999999999",
	"' or 1=1 --", "'; drop table products; --", "$1", "$$", "$9999", "?", ":a", "@a", "/*", "\r\nX-Injected: 1", "\n", "\t", "\v", "\x7f", "../../etc/passwd", "..", ".", "%2e%2e", "%00", "<script>", "${jndi:x}", "{{7}}",
	"0001-01-01", "9999-12-31T23:59:59Z", "2024-02-30", "10000-01-01", "-infinity", "infinity", "epoch", "now", "24:00", "2024-01-01T25:00:00+99", "00000000-0000-0000-0000-000000000000", "urn:uuid:x", "{a,b}", `{"a,b",}`, "{{a}}", "{null}",
	"is_active", "role", "admin", "service_role", "id", "constructor", "__proto__",
}

func (g *generator) text() string {
	switch g.IntN(12) {
	case 0:
		return strings.Repeat(pick(g, "a", "é", "(", "%", `\`, "*", `"`), pick(g, 64, 255, 1025, 5001))
	case 1:
		return pick(g, g.ids...)
	case 2:
		b := make([]byte, g.IntN(20))
		for i := range b {
			b[i] = byte(g.IntN(256))
		}
		return string(b)
	case 3:
		return pick(g, hostileTexts...) + pick(g, hostileTexts...)
	}
	return pick(g, hostileTexts...)
}

// escape escapes a text for a URL: correctly, partly, or wrongly.
func (g *generator) escape(s string) string {
	switch g.IntN(8) {
	case 0:
		return withoutBreaks(s)
	case 1:
		return url.QueryEscape(s) + pick(g, "%", "%zz", "%u0041", "%0", "+")
	case 2:
		return url.PathEscape(url.PathEscape(s))
	}
	return url.QueryEscape(s)
}

// withoutBreaks removes characters that would end a request line or a header.
func withoutBreaks(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == 0x7f {
			return -1
		}
		return r
	}, s)
}

// request generates what requests to all surfaces have: a caller and headers.
func (g *generator) request(method, target string) *request {
	r := &request{method: method, target: target, caller: pick(g, g.who...)}
	if g.chance(8) {
		r.method = pick(g, "GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "get", "X")
	}
	token := g.keys[r.caller]
	switch {
	case token == "":
	case g.chance(30):
		r.header("apikey", token)
	case g.chance(30):
		r.header("apikey", g.keys["anon"])
		r.header("Authorization", "Bearer "+token)
	default:
		r.header("Authorization", pick(g, "Bearer ", "bearer ", "BEARER  ")+token)
	}
	// Another address for each request: the rate limits would hide everything else.
	r.header("X-Forwarded-For", fmt.Sprintf("10.%d.%d.%d", g.IntN(256), g.IntN(256), g.IntN(256)))
	for range g.IntN(3) {
		g.oddHeader(r)
	}
	return r
}

func (g *generator) oddHeader(r *request) {
	switch g.IntN(14) {
	case 0:
		r.header("Range", g.word("0-0", "5-1", "0-", "-5", "99999999999999999999-", "bytes=0-0", "bytes=-1", "bytes=5-1", "bytes=0-0,2-3", "bytes=abc", "items=0-1", strings.Repeat("bytes=0-1,", 500)))
	case 1:
		r.header("Prefer", g.word("count=exact", "count=planned", "return=representation", "return=headers-only", "resolution=merge-duplicates", "resolution=ignore-duplicates", "missing=default", "handling=strict", "handling=strict, max-affected=0",
			"max-affected=99999999999999999999", "tx=rollback", "=", ",,,", strings.Repeat("count=exact,", 300), "count=exact;a=\"b"))
	case 2:
		r.header("Accept", g.word("*/*", "text/csv", "application/vnd.pgrst.object+json", "application/vnd.pgrst.object+json;nulls=stripped", "image/avif", "a", "/", ";;;", "application/json;q=NaN", "application/json;q=1e999", "*/*;q=-1"))
	case 3:
		r.header("Content-Type", g.word("text/plain", "application/json; charset=utf-16", "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"", "application/x-www-form-urlencoded", "a/b/c", "\xff"))
	case 4:
		r.header("Accept-Encoding", g.word("gzip", "zstd", "br", "gzip;q=0", "identity;q=0", "*;q=0", "gzip, gzip, gzip", ";;"))
	case 5:
		r.header(g.word("Accept-Profile", "Content-Profile"), g.word("public", "auth", "pg_catalog", "", "\xff"))
	case 6:
		r.header("X-Forwarded-For", g.word("1.2.3.4, ::1", "::ffff:1.2.3.4", "fe80::1%eth0", "fe80::1%\xff\xfe", "999.1.1.1", ",,,", "unknown", strings.Repeat("127.0.0.1,", 200)))
	case 7:
		r.header("User-Agent", g.word("\xff\xfe", strings.Repeat("é", 500), ""))
	case 8:
		r.header("X-Supabase-Api-Version", g.word("2024-01-01", "2023-01-01", "9999-99-99", "\xff"))
	case 9:
		r.header(g.word("If-None-Match", "If-Match", "If-Range"), g.word("*", `"x"`, "W/\"", `""`, "\xff"))
	case 10:
		r.header(g.word("If-Modified-Since", "If-Unmodified-Since"), g.word("Thu, 01 Jan 1970 00:00:00 GMT", "Fri, 31 Dec 9999 23:59:59 GMT", "yesterday"))
	case 11:
		r.header("Access-Control-Request-Method", g.word("POST", "\xff"))
		r.header("Access-Control-Request-Headers", g.word("apikey", strings.Repeat("x,", 400)))
	case 12:
		r.header("Expect", g.word("100-continue", "a miracle"))
	case 13:
		r.header("X-"+g.word("Upsert", "Metadata", "Http-Method-Override", "Original-Url"), g.word("true", "DELETE", "/rest/v1/contact_submissions", "\xff", "e30=", "bnVsbA==", "W10="))
	}
}

// framed sets the body, sometimes with a framing that does not fit.
func (g *generator) framed(r *request, body []byte) *request {
	r.body = body
	switch {
	case g.chance(10):
		r.framing = chunked
	case g.chance(3):
		r.framing = pick(g, short, long, both, broken)
	}
	return r
}

// json generates an object with the given fields, some of them wrong, and sometimes damages the text.
func (g *generator) json(fields map[string]string, order []string) []byte {
	var b strings.Builder
	b.WriteByte('{')
	for _, name := range order {
		if g.chance(15) {
			continue
		}
		if b.Len() > 1 {
			b.WriteByte(',')
		}
		value := fields[name]
		if g.chance(35) {
			value = g.value(3)
		}
		fmt.Fprintf(&b, "%q:%s", name, value)
	}
	if g.chance(8) {
		fmt.Fprintf(&b, "%s%s:%s", pick(g, "", ","), g.quoted(), g.value(2))
	}
	b.WriteByte('}')
	text := b.String()
	switch g.IntN(25) {
	case 0:
		text = text[:g.IntN(len(text))]
	case 1:
		text += pick(g, "x", "{}", "\x00", "]", " null")
	case 2:
		text = "\xef\xbb\xbf" + text
	case 3:
		text = strings.Repeat(pick(g, "[", `{"a":`), pick(g, 50, 12_000))
	case 4:
		text = pick(g, "null", "1", `""`, "[]", "[null]", "[[]]", "[{},1]", "", " ", "tru", "1e999999", strings.Repeat("[{}],", 50))
	case 5:
		text = "[" + text + "," + text + "]"
	case 6:
		damaged := []byte(text)
		damaged[g.IntN(len(damaged))] = byte(g.IntN(256))
		text = string(damaged)
	}
	return []byte(text)
}

func (g *generator) quoted() string {
	return g.word(`"\u0000"`, `"\ud800"`, `"a\u0000b"`, `"\uffff"`, "\"\xff\"", `""`, `"`+strings.Repeat("a", 6000)+`"`, `"é"`, `"2147483648"`, `"null"`, `"{a,b}"`, `"`+pick(g, g.ids...)+`"`)
}

func (g *generator) value(depth int) string {
	switch n := g.IntN(12); {
	case n == 0 && depth > 0:
		return "[" + g.value(depth-1) + "," + g.value(depth-1) + "]"
	case n == 1 && depth > 0:
		return `{"a":` + g.value(depth-1) + "}"
	case n < 4:
		return g.word("null", "true", "false", "{}", "[]", "[null]", `["a"]`)
	case n < 7:
		return g.word("0", "-1", "1.5", "1e2", "1e400", "-0", "2147483648", "9223372036854775808", "1"+strings.Repeat("0", 400), "0.0000001")
	}
	return g.quoted()
}

// The surfaces, each with the generator of its requests.
var surfaces = []struct {
	name, prefix string
	make         func(*generator) *request
}{
	{"resumable uploads", "/storage/v1/upload/", (*generator).resumable}, // first: tusd keeps each for ten seconds
	{"auth", "/auth/v1/", (*generator).auth},
	{"tables", "/rest/v1/", (*generator).tables},
	{"storage", "/storage/v1/", (*generator).storage},
	{"functions", "/functions/v1/", (*generator).functions},
	{"live changes", "/realtime/v1/", (*generator).realtime},
	{linkSurface, "/enquiry/", (*generator).enquiry},
	{"pages", "/", (*generator).pages},
}

func (g *generator) auth() *request {
	switch g.IntN(16) {
	case 8, 9:
		return g.mailLink()
	case 10:
		return g.mailRequest()
	case 11:
		return g.providerSignIn()
	case 12:
		return g.factor()
	case 13:
		return g.admin()
	case 14:
		body := g.json(map[string]string{"email": `"x@site.example"`, "password": `"short"`, "data": `{"a":1}`, "nonce": `"1"`, "phone": `"+351900000000"`}, []string{"email", "data", "nonce", "phone", "code_challenge", "code_challenge_method"})
		return g.framed(g.request("PUT", "/auth/v1/user"), body)
	case 15:
		return g.request(g.word("GET", "DELETE"), "/auth/v1/user/"+g.word("sessions", "sessions/"+pick(g, g.ids[:7]...), "sessions/"+url.PathEscape(g.text()), "identities/"+url.PathEscape(g.text()), "identities/authorize?provider="+g.escape(g.text())))
	case 0:
		return g.request("GET", "/auth/v1/"+g.word("user", "settings", "health", "user?x=%zz", "user/", "admin/users", "authorize?provider=%00"))
	case 1:
		r := g.request("POST", "/auth/v1/logout?scope="+g.escape(g.word("local", "global", "others", g.text())))
		if r.caller == "owner" { // whose session later requests need
			r.target = "/auth/v1/logout?scope=x" + g.escape(g.text())
		}
		return r
	case 2:
		r := g.request("POST", "/auth/v1/setup")
		return g.framed(r, g.json(map[string]string{"token": `"x"`, "email": `"a@b.example"`, "password": `"long enough"`}, []string{"token", "email", "password"}))
	case 3, 4, 5:
		r := g.request("POST", "/auth/v1/token?grant_type=refresh_token")
		return g.framed(r, g.json(map[string]string{"refresh_token": `"abcdefghijklmnop"`}, []string{"refresh_token"}))
	case 6:
		r := g.request("POST", "/auth/v1/token?grant_type="+g.escape(g.text()))
		return g.framed(r, []byte("{}"))
	}
	// Checking a password takes tens of milliseconds, so only few are tried.
	r := g.request("POST", "/auth/v1/token?grant_type=password")
	fields := []string{"phone", "password"}
	if g.chance(4) {
		fields = append(fields, "email")
	}
	return g.framed(r, g.json(map[string]string{"email": `"owner@site.example"`, "phone": `"123"`, "password": `"wrong"`}, fields))
}

// mailLink generates a request with an invalid code or link of a mail.
func (g *generator) mailLink() *request {
	kind := g.word("signup", "invite", "magiclink", "recovery", "email_change", "email", "sms", "phone_change", g.text())
	if g.chance(50) {
		return g.request("GET", "/auth/v1/verify?token="+g.escape(g.text())+"&type="+g.escape(kind)+"&redirect_to="+g.escape(g.word("http://site.example/admin", "//evil.example", "javascript:alert(1)", "http://site.example@evil.example", g.text())))
	}
	fields := map[string]string{"type": fmt.Sprintf("%q", kind), "token": `"123456"`, "token_hash": `"` + strings.Repeat("a", 43) + `"`, "email": `"owner@site.example"`, "phone": `"+351900000000"`}
	return g.framed(g.request("POST", "/auth/v1/verify"), g.json(fields, []string{"type", "token", "token_hash", "email", "phone"}))
}

// mailRequest rarely names a mail address: the response to such a request is delayed.
func (g *generator) mailRequest() *request {
	fields := []string{"phone", "create_user", "data", "code_challenge", "code_challenge_method", "gotrue_meta_security"}
	if g.chance(4) {
		fields = append(fields, "email")
	}
	body := g.json(map[string]string{"email": `"owner@site.example"`, "phone": `"+351900000000"`, "create_user": "true", "data": "{}", "code_challenge": `"x"`, "code_challenge_method": `"s256"`, "gotrue_meta_security": "{}"}, fields)
	return g.framed(g.request("POST", "/auth/v1/"+g.word("otp", "magiclink", "recover", "resend", "signup", "invite", "reauthenticate")+g.word("", "?redirect_to="+g.escape(g.text()))), body)
}

// providerSignIn generates requests of sign-ins through identity providers.
func (g *generator) providerSignIn() *request {
	switch g.IntN(4) {
	case 0:
		return g.request("GET", "/auth/v1/authorize?provider="+g.escape(g.word("google", "house", "", g.text()))+"&redirect_to="+g.escape(g.text())+"&scopes="+g.escape(g.text())+"&code_challenge="+g.escape(g.text()))
	case 1:
		return g.request(g.word("GET", "POST"), "/auth/v1/callback?state="+g.escape(g.text())+"&code="+g.escape(g.text())+"&error="+g.escape(g.text()))
	case 2:
		r := g.request("POST", "/auth/v1/sso/saml/acs")
		r.header("Content-Type", "application/x-www-form-urlencoded")
		return g.framed(r, []byte("SAMLResponse="+g.escape(g.word(encode("<Response/>"), encode(strings.Repeat("<a>", 5000)), encode(`<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`), g.text()))+"&RelayState="+g.escape(g.text())))
	}
	fields := map[string]string{"provider_id": `"x"`, "domain": `"site.example"`, "provider": `"google"`, "id_token": `"a.b.c"`, "nonce": `"x"`}
	return g.framed(g.request("POST", "/auth/v1/"+g.word("sso", "token?grant_type=id_token", "token?grant_type=pkce")), g.json(fields, []string{"provider_id", "domain", "provider", "id_token", "nonce"}))
}

func (g *generator) factor() *request {
	fields := map[string]string{"factor_type": `"totp"`, "friendly_name": `"x"`, "issuer": `"x"`, "phone": `"+351900000000"`, "challenge_id": `"x"`, "code": `"123456"`}
	id := g.word(pick(g, g.ids...), url.PathEscape(g.text()))
	return g.framed(g.request(g.word("POST", "POST", "DELETE", "GET"), "/auth/v1/factors"+g.word("", "/"+id, "/"+id+"/challenge", "/"+id+"/verify", "/recovery_codes", "/recovery_codes/verify")),
		g.json(fields, []string{"factor_type", "friendly_name", "issuer", "phone", "challenge_id", "code"}))
}

// admin names no existing account, whose token later requests need.
func (g *generator) admin() *request {
	id := g.word(g.ids[0], url.PathEscape(g.text()))
	fields := map[string]string{"email": `"new@site.example"`, "phone": `"+351900000000"`, "email_confirm": "true", "user_metadata": "{}", "app_metadata": `{"role":"x"}`, "ban_duration": `"1h"`, "type": `"magiclink"`, "role": `"authenticated"`}
	body := g.json(fields, []string{"email", "phone", "email_confirm", "user_metadata", "app_metadata", "ban_duration", "type", "role", "id"})
	target := "/auth/v1/admin/" + g.word("users", "users?page="+g.escape(g.text())+"&per_page="+g.escape(g.text()), "users/"+id, "users/"+id+"/factors", "users/"+id+"/factors/"+id, "generate_link", "audit?page="+g.escape(g.text()), "sso/providers", "sso/providers/"+id)
	return g.framed(g.request(g.word("GET", "POST", "PUT", "DELETE"), target), body)
}

// columns of each table.
var columns = map[string][]string{
	"products":            {"id", "title", "description", "artwork_type", "image_url", "image_gallery", "tags", "is_featured", "creation_date", "price", "created_at", "published_at", "is_published"},
	"reviews":             {"id", "client_name", "message", "image_url", "is_active", "display_order", "created_at"},
	"cover_images":        {"id", "image_url", "media_type", "is_active", "display_order", "created_at", "visible_from", "visible_until", "has_begun", "has_ended"},
	"series":              {"id", "slug", "title", "text_pt", "cover_id", "is_published", "types", "position", "created_at"},
	"series_works":        {"id", "series_id", "product_id", "artwork_type", "is_visible", "position", "created_at"},
	"contact_submissions": {"id", "name", "email", "message", "reason", "status", "created_at", "state", "done_at"},
	"saved_replies":       {"id", "title", "text_en", "text_pt", "position", "created_at"},
	"user_roles":          {"user_id", "role"},
}

var tableNames = []string{"products", "reviews", "cover_images", "series", "series_works", "contact_submissions", "saved_replies", "user_roles"}

var sample = map[string]string{
	"slug": `"a-slug"`, "is_published": "true", "is_visible": "true", "types": `["mural"]`, "position": `"a"`,
	"title": `"A title"`, "description": `"x"`, "artwork_type": `"mural"`, "image_url": `"/x.png"`, "image_gallery": `["/x.png"]`, "tags": `["a"]`, "is_featured": "true", "creation_date": `"2024-05-06"`, "price": "0",
	"created_at": `"2024-05-06T07:08:09Z"`, "client_name": `"C"`, "message": `"A message that is long"`, "is_active": "true", "display_order": "1", "media_type": `"video"`, "name": `"N"`, "email": `"a@b.example"`, "reason": `"general"`,
	"status": `"read"`, "role": `"admin"`,
}

func (g *generator) tables() *request {
	if g.chance(12) {
		return g.rpc()
	}
	table := pick(g, tableNames...)
	target := "/rest/v1/" + table
	if g.chance(4) {
		target = "/rest/v1/" + g.word("auth_users", "contact_quarantine", "storage_objects", "sqlite_master", "pg_catalog.pg_tables", "products%00", "products%2f..", "products/", "..%2fproducts", "PRODUCTS", url.PathEscape(g.text()))
	}
	var query []string
	for range g.IntN(4) {
		query = append(query, g.parameter(table))
	}
	if len(query) > 0 {
		target += "?" + strings.Join(query, "&")
	}
	method := pick(g, "GET", "GET", "GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS")
	if method == "PUT" && g.chance(80) {
		target = "/rest/v1/" + table + "?" + columns[table][0] + "=eq." + pick(g, g.ids...)
	}
	r := g.request(method, target)
	if g.chance(10) {
		r.header("Accept", g.word("text/csv", "application/vnd.pgrst.array+json;nulls=stripped", "application/vnd.pgrst.object+json;nulls=stripped", "application/vnd.pgrst.plan+json"))
	}
	if method == "POST" || method == "PATCH" || method == "PUT" {
		if g.chance(30) {
			r.header("Prefer", g.word("return=representation", "resolution=merge-duplicates,return=representation", "missing=default"))
		}
		names := columns[table]
		if g.chance(20) {
			return g.otherBody(r, names)
		}
		body := map[string]string{}
		for _, name := range names {
			body[name] = sample[name]
			if body[name] == "" {
				body[name] = `"` + pick(g, g.ids...) + `"`
			}
		}
		start := g.IntN(len(names))
		return g.framed(r, g.json(body, names[start:]))
	}
	return r
}

// otherBody sets a body of CSV or of a form.
func (g *generator) otherBody(r *request, names []string) *request {
	value := func(name string) string {
		if g.chance(40) {
			return g.text()
		}
		if s := strings.Trim(sample[name], `"`); s != "" {
			return s
		}
		return pick(g, g.ids...)
	}
	var b strings.Builder
	if g.chance(50) {
		r.header("Content-Type", "application/x-www-form-urlencoded")
		for _, name := range names {
			b.WriteString(name + "=" + g.escape(value(name)) + g.word("&", "&", "&", ";", "&&"))
		}
		return g.framed(r, []byte(b.String()))
	}
	r.header("Content-Type", "text/csv")
	b.WriteString(strings.Join(names, ",") + g.word("\n", "\r\n", "\r", ",\n"))
	for range g.IntN(4) {
		for i, name := range names {
			v := value(name)
			if g.chance(80) {
				v = `"` + strings.ReplaceAll(v, `"`, `""`) + `"`
			}
			if b.WriteString(v); i < len(names)-1 || g.chance(3) {
				b.WriteByte(',')
			}
		}
		b.WriteByte('\n')
	}
	return g.framed(r, []byte(b.String()))
}

func (g *generator) parameter(table string) string {
	column := pick(g, columns[table]...)
	if g.chance(5) {
		column = pick(g, columns[pick(g, tableNames...)]...)
	}
	switch g.IntN(9) {
	case 0:
		return "select=" + g.escape(g.word("*", "", column, "a:"+column, column+"::text", column+"::"+g.typeName(), column+g.path(), "a:"+column+g.path()+"::"+g.typeName(), "*,"+column, "user_roles(*)", "...reviews(*)", "count()", column+".sum()", strings.Repeat("*,", 40), `"`+g.text()+`":`+column, g.text()+":"+column, g.text()))
	case 1:
		return "order=" + g.escape(column+g.word("", ".asc", ".desc", ".desc.nullslast", ".nullsfirst", ".asc.desc", ".", "->x", g.path()+".desc", g.path(), strings.Repeat(","+column, 25), g.text()))
	case 2:
		return g.word("limit", "offset") + "=" + g.escape(g.word("0", "1", "5", "-1", "9223372036854775807", g.text()))
	case 3:
		return g.word("columns", "on_conflict") + "=" + g.escape(g.word(column, "id", "", column+","+column, g.text()))
	case 4:
		return g.word("or", "and", "not.or", "not.and") + "=" + g.escape(g.group(table, g.IntN(13)))
	}
	return g.word(column, column, column, column+g.escape(g.path()), g.escape(g.text())) + "=" + g.escape(g.condition())
}

func (g *generator) typeName() string {
	return g.word("text", "TEXT", "int", "bigint", "numeric", "double precision", "uuid", "date", "time", "timestamp", "timestamptz", "bool", "json", "jsonb", "smallint", "text[]", "pg_catalog.text", "regclass", "x", "", g.text())
}

// path generates the JSON path after a column.
func (g *generator) path() string {
	var b strings.Builder
	for range 1 + g.IntN(3) {
		b.WriteString(g.word("->", "->", "->>") + g.word("0", "-1", "1", "7", "2147483647", "-2147483648", "2147483648", "x", `"a b"`, "", "0x", g.text()))
	}
	return b.String()
}

// expression generates a regular expression, which may be invalid.
func (g *generator) expression() string {
	var b strings.Builder
	for range 1 + g.IntN(6) {
		b.WriteString(g.word("a", "é", "É", ".", "^", "$", "(", ")", "(a|b)", "(?:x)", "(?=x)", "[a-z]", "[^é]", "[", "]", "[[:alpha:]]", "[z-a]", `\d`, `\W`, `\s`, `\1`, `\y`, `\`, "*", "+", "?", "{2}", "{1,}", "{3,2}", "{9999}", "{", "|", "***=", "((((a{100}){100}){100}){100})", g.text()))
	}
	return b.String()
}

func (g *generator) condition() string {
	operator := g.word("eq", "neq", "gt", "gte", "lt", "lte", "like", "ilike", "in", "is", "cs", "cd", "ov", "isdistinct", "match", "match", "imatch", "fts", "wfts(english)", "plfts(", "sl", "sr", "nxr", "nxl", "adj", "match(any)", "not.eq", "not.not.eq", "like(any)", "ilike(all)", "eq(any)", "gt(all)", "in(any)", "", "xx")
	value := g.text()
	switch {
	case strings.HasSuffix(operator, "match"):
		value = g.expression()
	case strings.Contains(operator, "("):
		value = g.word("{a,b}", "{"+value+"}", "{}", `{"a`, value, "{"+strings.Repeat("é,", 250)+"x}")
	case operator == "in":
		value = g.word("(a,b)", "("+value+")", "()", `("a,b",c)`, `("`, "("+strings.Repeat("1,", 1100)+"1)")
	case operator == "is":
		value = g.word("null", "true", "false", "unknown", "NULL", value)
	case g.chance(30):
		value = g.word("true", "false", "1", pick(g, g.ids...), "*", "%%", "2024-01-01", "{a}")
	}
	return operator + "." + value
}

func (g *generator) group(table string, depth int) string {
	if depth == 0 {
		return "(" + pick(g, columns[table]...) + "." + g.condition() + ")"
	}
	return "(" + g.word("or", "and", "not.or", "not.and") + g.group(table, depth-1) + g.word("", "", "", ",", ")", ",is_active.is.false") + ")"
}

func (g *generator) rpc() *request {
	name := g.word("get_user_role", "get_user_role", "reorder_reviews", "reorder_reviews", "version", "pg_sleep", url.PathEscape(g.text()))
	if g.chance(40) {
		return g.request("GET", "/rest/v1/rpc/"+name+"?"+g.word("user_id", "ids", "x")+"="+g.escape(g.text()))
	}
	ids := `["` + pick(g, g.ids...) + `","` + pick(g, g.ids...) + `"]`
	field := g.word("user_id", "ids")
	return g.framed(g.request("POST", "/rest/v1/rpc/"+name), g.json(map[string]string{"user_id": `"` + pick(g, g.ids...) + `"`, "ids": ids}, []string{field}))
}

// pixel is a picture of one pixel.
var pixel, _ = base64.StdEncoding.DecodeString("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")

func (g *generator) bytes() []byte {
	switch g.IntN(9) {
	case 0:
		return []byte("<!doctype html><script>alert(1)</script>")
	case 1:
		return []byte(`<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>`)
	case 2:
		return []byte(pick(g, "\xff\xd8\xff", "GIF89a", "RIFF\xff\xff\xff\xffWEBPVP8X", "RIFF\x00\x00\x00\x00WEBPVP8 ", "\x00\x00\x00\x10ftypisom\x00\x00\x00\x00", "\xff\xff\xff\xffftypmp42\x00\x00\x00\x00", "\x1a\x45\xdf\xa3\xff\xff\xff\xff\xff\xff\xff\xff", "\x1a\x45\xdf\xa3\x84\x42\x82\xff\xff"))
	case 3: // a header of 2^31 - 1 by 2^31 - 1 pixels
		return []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x7f\xff\xff\xff\x7f\xff\xff\xff\x08\x06\x00\x00\x00\x00\x00\x00\x00")
	case 4:
		damaged := bytes.Clone(pixel)
		damaged[g.IntN(len(damaged))] = byte(g.IntN(256))
		return damaged[:g.IntN(len(damaged))]
	case 5:
		return bytes.Repeat([]byte{0xff, 0xd8, 0xff, 0xe0}, pick(g, 1, 1000, 70_000))
	}
	return pixel
}

func (g *generator) objectPath() string {
	bucket := g.word("product-images", "product-images", "review-images", "cover-images", "nothing", "%00", "..", url.PathEscape(g.text()))
	name := g.word("a.png", "b.png", "folder/a.png", "present.png", "%2e%2e/%2e%2e/jwt-secret", "..%2f..%2fjwt-secret", "%252e%252e%252fjwt-secret", "../../jwt-secret", "./a.png", "a//b.png", "a.html", "a.svg", "a.png%00.html", `a%5c..%5cb`, "", "%ff.png",
		strings.Repeat("a", 1100)+".png", ".env", "con.png", url.PathEscape(g.text()))
	return bucket + "/" + name
}

func (g *generator) storage() *request {
	switch g.IntN(18) {
	case 16, 17:
		query := "?" + g.word("width", "height", "quality", "resize", "format", "tile", "v", "token") + "=" + g.word("320", "0", "-1", "99999999999999999999", "cover", "0,0", "65535,65535", g.escape(g.text())) +
			g.word("", "&height=3", "&resize=fill", "&format=origin", "&resize=frame", "&quality=20", "&download="+g.escape(g.text()))
		return g.request(pick(g, "GET", "HEAD"), "/storage/v1/render/image/"+g.word("public/", "public/", "authenticated/", "sign/", "")+g.objectPath()+query)
	case 10:
		body := g.json(map[string]string{"id": `"nothing"`, "name": `"nothing"`, "public": "true", "file_size_limit": `"20MB"`, "allowed_mime_types": `["image/*"]`}, []string{"id", "name", "public", "file_size_limit", "allowed_mime_types", "type"})
		return g.framed(g.request(pick(g, "POST", "PUT", "DELETE"), "/storage/v1/bucket"+g.word("", "/nothing", "/review-images", "/nothing/empty", "/%00", "/"+url.PathEscape(g.text()))), body)
	case 11:
		body := g.json(map[string]string{"bucketId": `"product-images"`, "sourceKey": `"present.png"`, "destinationKey": `"../x"`, "destinationBucket": `"nothing"`, "metadata": `{"cacheControl":"1"}`},
			[]string{"bucketId", "sourceKey", "destinationKey", "destinationBucket", "copyMetadata", "metadata", "sourceVersionId"})
		return g.framed(g.request("POST", "/storage/v1/object/"+g.word("move", "copy")), body)
	case 12:
		body := g.json(map[string]string{"expiresIn": "60", "paths": `["present.png","../x"]`}, []string{"expiresIn", "paths", "transform", "versionId"})
		return g.framed(g.request("POST", "/storage/v1/object/"+g.word("sign/product-images", "sign/"+g.objectPath(), "upload/sign/"+g.objectPath())), body)
	case 13:
		body := g.json(map[string]string{"prefix": `"a"`, "limit": "3", "cursor": `"eyJuIjoiYSJ9"`, "with_delimiter": "true", "sortBy": `{"column":"created_at","order":"desc"}`}, []string{"prefix", "limit", "cursor", "with_delimiter", "sortBy"})
		return g.framed(g.request("POST", "/storage/v1/object/list-v2/"+g.word("product-images", "nothing", "%00", url.PathEscape(g.text()))), body)
	case 14:
		return g.request(pick(g, "GET", "HEAD"), "/storage/v1/object/"+g.word("sign/", "info/public/", "info/authenticated/")+g.objectPath()+g.word("", "?token=", "?token="+g.escape(g.text()), "?versionId=1"))
	case 15:
		return g.framed(g.request("PUT", "/storage/v1/object/upload/sign/"+g.objectPath()+g.word("", "?token=a.b.c", "?token="+g.escape(g.text()))), g.bytes())
	case 0:
		return g.request("GET", "/storage/v1/bucket"+g.word("", "/product-images", "/nothing", "/%00", "/%ff", "?limit="+g.escape(g.text()), "?offset="+g.escape(g.text()), "?sortColumn="+g.escape(g.text()), "?sortColumn=name&sortOrder="+g.escape(g.text()), "?search="+g.escape(g.text())))
	case 1, 2:
		return g.request(pick(g, "GET", "HEAD"), "/storage/v1/object/"+g.word("public/", "public/", "authenticated/", "", "sign/", "info/")+g.objectPath()+g.word("", "?download", "?download="+g.escape(g.text()), "?token=x", "?width=99999"))
	case 3, 4:
		bucket := g.word("product-images", "review-images", "nothing", url.PathEscape(g.text()))
		return g.framed(g.request("POST", "/storage/v1/object/list/"+bucket), g.json(map[string]string{"prefix": `""`, "limit": "100", "offset": "0", "search": `"a"`, "sortBy": `{"column":"name","order":"asc"}`}, []string{"prefix", "limit", "offset", "search", "sortBy"}))
	case 5:
		return g.framed(g.request("DELETE", "/storage/v1/object/"+g.word("product-images", "nothing")), g.json(map[string]string{"prefixes": `["a.png","../x","b.png"]`}, []string{"prefixes"}))
	case 6:
		return g.request("DELETE", "/storage/v1/object/"+g.objectPath())
	case 7, 8:
		r := g.request(pick(g, "POST", "PUT"), "/storage/v1/object/"+g.objectPath())
		if g.chance(30) {
			r.header("X-Metadata", g.word("", "e30=", "W10=", "bnVsbA==", "!!!", base64.StdEncoding.EncodeToString(g.json(nil, nil)), base64.StdEncoding.EncodeToString([]byte(strings.Repeat(`{"a":`, 40)+"1"+strings.Repeat("}", 40)))))
		}
		if g.chance(30) {
			r.header("Cache-Control", g.word("max-age=60", "max-age=-1", "max-age=99999999999", "no-store, no-store", "x", strings.Repeat("public,", 50)))
		}
		if g.chance(50) {
			r.header("X-Upsert", "true")
		}
		return g.framed(r, g.bytes())
	}
	return g.form(g.request("POST", "/storage/v1/object/"+g.objectPath()))
}

// form sets a multipart upload, with fields before and after the file.
func (g *generator) form(r *request) *request {
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	fields := g.IntN(3)
	if g.chance(5) {
		fields = 15
	}
	for range fields {
		_ = w.WriteField(g.word("cacheControl", "metadata", "other"), g.word("3600", "{}", "null", "-1", g.text())) // a buffer takes everything
	}
	for range g.IntN(3) {
		part, err := w.CreateFormFile("", g.word("a.png", "../../a.png", ""))
		if err == nil {
			_, _ = part.Write(g.bytes())
		}
	}
	if g.chance(30) {
		_ = w.WriteField("metadata", string(g.json(nil, nil)))
	}
	if g.chance(80) {
		_ = w.Close()
	}
	r.header("Content-Type", g.word(w.FormDataContentType(), w.FormDataContentType(), w.FormDataContentType(), "multipart/form-data; boundary=other", "multipart/form-data"))
	body := b.Bytes()
	if g.chance(10) && len(body) > 0 {
		body = body[:g.IntN(len(body))]
	}
	return g.framed(r, body)
}

func (g *generator) functions() *request {
	name := "submit-contact"
	if g.chance(8) {
		name = g.word("", "nothing", "submit-contact/", "SUBMIT-CONTACT", "submit-contact%00", "..%2fsubmit-contact", url.PathEscape(g.text()))
	}
	r := g.request("POST", "/functions/v1/"+name)
	fields := map[string]string{"name": `"Inês"`, "email": `"ines@exemplo.example"`, "message": `"A message that is long enough"`, "reason": `""`, "language": `"pt"`, "follow": `true`}
	order := []string{"name", "email", "message", "reason", "language", "follow"}
	if g.chance(25) { // functions of administrators
		r = g.request("POST", "/functions/v1/"+g.word("contact-quarantine", "contact-notices", "contact-reply", "commission", "commission-review", "commission-board", "calendar-feed", "contact-export", "address-data", "mail-test"))
		id := "00000000-0000-4000-8000-000000000007"
		fields = map[string]string{
			"action": g.word(`"list"`, `"restore"`, `"delete"`, `"reply"`, `"resend"`, `"renew"`, `"retry"`, `"send"`, `"find"`, `"export"`, `"erase"`, `"stage"`, `"promise"`, `"offer"`, `"withdraw"`, `"progress"`, `"create"`, `"replace"`, `"remove"`, `""`, `null`, `7`), "id": g.word(`"`+id+`"`, `"x"`, `null`, `{}`),
			"ids": g.word(`["`+id+`"]`, `[]`, `["x"]`, `[null]`, `"`+id+`"`), "limit": g.word(`1`, `100`, `101`, `-1`, `1.5`),
			"message_id": g.word(`"`+id+`"`, `"x"`, `null`, `["`+id+`"]`), "text": g.word(`"Answer"`, `""`, `"\u0000"`, `7`, g.quoted()),
			"stage": g.word(`"accepted"`, `"enquiry"`, `"sold"`, `null`), "from": g.word(`"offer"`, `0`, `-1`, `1e99`, `"1"`), "price": g.word(`"300 €"`, `""`, `"\n"`, g.quoted()),
			"promised_on": g.word(`"2027-01-01"`, `"-1"`, `"99999-01-01"`, g.quoted()), "expires_on": g.word(`"2999-01-01"`, `""`, `"0000-00-00"`, g.quoted()),
			"all": g.word(`["finished"]`, `[]`, `["sold"]`, `[null]`, `"offer"`), "language": g.word(`"pt"`, `"en"`, `"fr"`, `7`),
			"format": g.word(`"csv"`, `"json"`, `"xlsx"`, `[]`), "address": g.word(`"ines@exemplo.example"`, `"@"`, `"a@\u0000"`, `"'@%"`, `{}`),
		}
		return g.framed(r, g.json(fields, []string{"action", "id", "message_id", "text", "ids", "from", "limit", "format", "address", "stage", "price", "promised_on", "expires_on", "all", "language"}))
	}
	switch g.IntN(5) {
	case 0: // a form without scripts
		var b strings.Builder
		for _, field := range order {
			b.WriteString(field + "=" + g.escape(g.word(strings.Trim(fields[field], `"`), g.text())) + g.word("&", "&", "&", ";", "&&"))
		}
		r.header("Content-Type", "application/x-www-form-urlencoded")
		return g.framed(r, []byte(b.String()))
	case 1:
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for _, field := range order {
			_ = w.WriteField(field, g.word(strings.Trim(fields[field], `"`), g.text())) // a buffer takes everything
		}
		if g.chance(20) {
			if part, err := w.CreateFormFile(g.word("name", "file"), "a.png"); err == nil {
				_, _ = part.Write(g.bytes())
			}
		}
		if g.chance(80) {
			_ = w.Close()
		}
		r.header("Content-Type", g.word(w.FormDataContentType(), w.FormDataContentType(), w.FormDataContentType(), "multipart/form-data; boundary=other", "multipart/form-data"))
		return g.framed(r, b.Bytes())
	}
	return g.framed(r, g.json(fields, order))
}

// resumable generates requests of TUS: new uploads, and PATCHes of existing ones, with one or more mistakes.
func (g *generator) resumable() *request {
	const path = "/storage/v1/upload/resumable"
	number := func(good string) string {
		if g.chance(70) {
			return good
		}
		return g.word("0", "-1", "1", "70", "1048576", "1048577", "9223372036854775807", "9223372036854775808", "1e3", "", "x", "0x10", "+1", " 1")
	}
	method := g.word("POST", "POST", "POST", "PATCH", "PATCH", "PATCH", "HEAD", "HEAD", "DELETE", "OPTIONS", "GET", "PUT")
	target := path
	if method != "POST" || g.chance(5) {
		target += "/" + pick(g, g.uploads...)
		if g.chance(15) {
			target = path + g.word("", "/", "/"+url.PathEscape(g.text()), "/"+pick(g, g.ids...), "/a/b", "/..%2f..%2fobject")
		}
	}
	if method == "DELETE" && g.chance(90) { // keeps uploads for later requests
		target = path + "/" + pick(g, g.ids...)
	}
	r := g.request(method, target)
	if g.chance(95) {
		r.header("Tus-Resumable", g.word("1.0.0", "1.0.0", "1.0.0", "1.0.0", "0.2.2", "", "\xff"))
	}
	if g.chance(5) {
		r.header(g.word("Upload-Defer-Length", "Upload-Concat", "Upload-Checksum", "X-Http-Method-Override", "Upload-Incomplete", "Upload-Complete", "Upload-Draft-Interop-Version"), g.word("1", "partial", "final;/a /b", "sha1 x", "DELETE", "PATCH", "?1", "?0", "6", "\xff"))
	}
	if g.chance(30) {
		r.header("X-Upsert", g.word("true", "false", "\xff"))
	}
	if method != "POST" {
		r.header("Upload-Offset", number("0"))
		r.header("Content-Type", g.word("application/offset+octet-stream", "application/offset+octet-stream", "application/offset+octet-stream", "application/partial-upload", "text/plain"))
		if method == "PATCH" {
			return g.framed(r, g.bytes())
		}
		return r
	}
	r.header("Upload-Length", number("70"))
	var meta []string
	for _, pair := range [][2]string{{"bucketName", "product-images"}, {"objectName", g.word("t.png", "folder/t.png", "../x", "present.png", g.text())}, {"contentType", "image/png"}, {"cacheControl", "3600"}, {"metadata", "{}"}} {
		switch {
		case g.chance(7):
		case g.chance(10):
			meta = append(meta, pair[0]+" "+encode(g.text()))
		case g.chance(5):
			meta = append(meta, pair[0]+g.word("", " ", " !!!", "  e30=", " e30= e30=", ","))
		default:
			meta = append(meta, pair[0]+" "+encode(pair[1]))
		}
	}
	if g.chance(3) {
		meta = append(meta, strings.Repeat("a,", 5000))
	}
	r.header("Upload-Metadata", strings.Join(meta, g.word(",", ",", ",", ", ", ",,", ";")))
	if g.chance(50) {
		r.header("Content-Type", "application/offset+octet-stream")
		return g.framed(r, g.bytes())
	}
	return r
}

// realtime generates HTTP requests; attackSockets opens sockets.
func (g *generator) realtime() *request {
	switch g.IntN(6) {
	case 0: // an invalid handshake
		r := g.request("GET", "/realtime/v1/websocket?vsn="+g.escape(g.word("1.0.0", "2.0.0", "", "3", g.text()))+"&apikey="+g.escape(g.text()))
		if g.chance(60) {
			r.header("Upgrade", g.word("websocket", "WebSocket", "h2c", ""))
			r.header("Sec-WebSocket-Version", g.word("12", "", "x"))
			r.header("Sec-WebSocket-Key", withoutBreaks(g.word("dGhlIHNhbXBsZSBub25jZQ==", "x", "")))
		}
		return r
	case 1:
		return g.framed(g.request("POST", "/realtime/v1/api/broadcast/"+g.word("room", url.PathEscape(g.text()))+"/events/"+g.word("said", url.PathEscape(g.text()))+g.word("", "?private=true", "?private="+g.escape(g.text()))), g.json(map[string]string{"a": "1"}, []string{"a"}))
	case 2:
		return g.request(g.word("GET", "POST"), "/realtime/v1/"+g.word("", "api", "api/tenants", "api/broadcast", url.PathEscape(g.text())))
	}
	one := string(g.json(map[string]string{"topic": `"room"`, "event": `"said"`, "payload": `{"a":1}`, "private": "true"}, []string{"topic", "event", "payload", "private"}))
	return g.framed(g.request("POST", "/realtime/v1/api/broadcast"), []byte(g.word(`{"messages":[`+one+`]}`, `{"messages":[`+one+`,`+one+`]}`, `{"messages":[`+strings.Repeat(one+",", 101)+one+`]}`, one)))
}

func (g *generator) pages() *request {
	target := "/" + g.word("", "gallery", "gallery/all", "gallery/"+url.PathEscape(g.text()), "admin", "admin/auth?setup="+g.escape(g.text()), "politica-privacidade?lang=pt", "?lang="+g.escape(g.text()), "favicon.svg", "assets/", "assets/../index.html", "index.html",
		"%2e%2e/%2e%2e/etc/passwd", "..%2fjwt-secret", ".env", ".git/config", "health/live", "health/ready", "health/", "realtime/v1/websocket", "rest/v1", "rest", "//evil.example/", "/\\evil.example", "calendar", "calendar/", "calendar/AAAAAAAAAAAAAAAAAAAAAA.ics", "calendar/"+url.PathEscape(g.text())+".ics", "calendar/%00.ics", url.PathEscape(g.text()), strings.Repeat("a/", 500))
	r := g.request(pick(g, "GET", "GET", "GET", "HEAD", "POST"), target)
	if r.method == "POST" {
		return g.framed(r, []byte("a=b"))
	}
	return r
}
