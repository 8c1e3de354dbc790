package tables

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// cell is a cell of the matrix of rights (docs/product.md, Roles and keys): what a caller may do with a table. Each table of the fixture has
// two rows: 1 is visible to all, and 2 is hidden from visitors. In user_roles they are the roles of the user and of the admin.
type cell struct {
	sees   []string // keys that a read shows
	insert bool
	update string // "" if updates are rejected, "all", or the only column that may change
	delete bool
}

var rowKeys = []string{id(1), id(2)}

// matrix lists the cells by table and caller.
var matrix = map[string]map[string]cell{
	"products": {
		anonymous: {sees: rowKeys[:1]}, signedIn: {sees: rowKeys[:1]},
		admin:   {sees: rowKeys, insert: true, update: "all", delete: true},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"reviews": {
		anonymous: {sees: rowKeys[:1]}, signedIn: {sees: rowKeys[:1]},
		admin:   {sees: rowKeys, insert: true, update: "all", delete: true},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"cover_images": {
		anonymous: {sees: rowKeys[:1]}, signedIn: {sees: rowKeys[:1]},
		admin:   {sees: rowKeys, insert: true, update: "all", delete: true},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"series": {
		anonymous: {sees: rowKeys[:1]}, signedIn: {sees: rowKeys[:1]},
		admin:   {sees: rowKeys, insert: true, update: "all", delete: true},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"series_works": {
		anonymous: {sees: rowKeys[:1]}, signedIn: {sees: rowKeys[:1]},
		admin:   {sees: rowKeys, insert: true, update: "all", delete: true},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"contact_submissions": {
		anonymous: {}, signedIn: {},
		admin:   {sees: rowKeys, update: "status", delete: true},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"contact_replies": {
		anonymous: {}, signedIn: {},
		admin:   {sees: rowKeys},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"commissions": {
		anonymous: {}, signedIn: {},
		admin:   {sees: rowKeys},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"commission_offers": {
		anonymous: {}, signedIn: {},
		admin:   {sees: rowKeys},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"commission_reviews": {
		anonymous: {}, signedIn: {},
		admin:   {sees: rowKeys},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"saved_replies": {
		anonymous: {}, signedIn: {},
		admin:   {sees: rowKeys, insert: true, update: "all", delete: true},
		service: {sees: rowKeys, insert: true, update: "all", delete: true},
	},
	"user_roles": {
		anonymous: {}, signedIn: {sees: []string{userID}},
		admin:   {sees: []string{adminID}},
		service: {sees: []string{userID, adminID}, insert: true, update: "all", delete: true},
	},
}

// newRow and changes are bodies for a table. Each column is changed alone and together with the others.
var (
	newRow = map[string]string{
		"products":            `{"id":"` + id(9) + `","title":"New"}`,
		"reviews":             `{"id":"` + id(9) + `","client_name":"New","message":"New"}`,
		"cover_images":        `{"id":"` + id(9) + `","image_url":"/new.jpg"}`,
		"series":              `{"id":"` + id(9) + `","slug":"new","title":"New"}`,
		"series_works":        `{"id":"` + id(9) + `","series_id":"` + id(1) + `","product_id":"` + id(2) + `"}`,
		"contact_submissions": `{"id":"` + id(9) + `","name":"New","email":"n@example.pt","message":"A new message"}`,
		"contact_replies":     `{"id":"` + id(9) + `","message_id":"` + id(1) + `","author":"owner","text":"New"}`,
		"commissions":         `{"message_id":"` + id(3) + `","stage":"accepted"}`,
		"commission_offers":   `{"id":"` + id(3) + `","message_id":"` + id(1) + `","price_text":"300 €"}`,
		"commission_reviews":  `{"message_id":"` + id(3) + `","state":"asked"}`,
		"saved_replies":       `{"id":"` + id(9) + `","title":"New"}`,
		"user_roles":          `{"user_id":"` + id(9) + `","role":"admin"}`,
	}
	changes = map[string]map[string]string{
		"products":            {"title": `"Changed"`, "is_featured": "true", "published_at": "null"},
		"reviews":             {"message": `"Changed"`, "is_active": "false", "from_commission": "true"},
		"cover_images":        {"title": `"Changed"`, "is_active": "false", "visible_from": `"2020-01-01T00:00:00Z"`, "visible_until": `"2999-01-01T00:00:00Z"`},
		"series":              {"title": `"Changed"`, "is_published": "false"},
		"series_works":        {"position": `"5"`, "created_at": `"2026-01-01T00:00:00Z"`},
		"contact_submissions": {"status": `"replied"`, "message": `"Changed"`, "name": `"Changed"`, "answered_at": `"2026-01-01T00:00:00Z"`, "artwork_id": `"` + id(9) + `"`, "language": `"pt"`, "read_at": `"2026-01-01T00:00:00Z"`},
		"contact_replies":     {"text": `"Changed"`, "author": `"owner"`, "delivery": `"sent"`, "kind": `"progress"`},
		"commissions":         {"stage": `"declined"`, "promised_on": `"2027-01-01"`},
		"commission_offers":   {"price_text": `"Changed"`, "answer": `"accepted"`, "answered_name": `"Changed"`},
		"commission_reviews":  {"state": `"approved"`, "message": `"Changed"`, "review_id": `"` + id(9) + `"`},
		"saved_replies":       {"title": `"Changed"`, "text_en": `"Changed"`, "text_pt": `"Mudado"`},
		"user_roles":          {"role": `"changed"`},
	}
)

// twoRows fills every table with the fixture of the matrix. The hidden work is a draft, or scheduled for s.unpublished; the hidden cover
// is inactive, or active outside of its time.
func (s *site) twoRows() {
	s.t.Helper()
	for _, table := range []string{"products", "series", "reviews", "cover_images", "contact_submissions", "saved_replies", "user_roles"} {
		s.exec("delete from " + table)
	}
	s.exec("delete from auth_users where id = $1", id(9))
	s.exec("insert into auth_users (id, created_at, updated_at) values ($1, $2, $2)", id(9), today)
	for i, open := range []bool{true, false} {
		key := rowKeys[i]
		published := any(today)
		if !open {
			published = s.unpublished
		}
		s.exec("insert into products (id, title, is_featured, created_at, published_at, is_published) values ($1, 'A product', $2, $3, $4, $2)", key, open, today, published)
		s.exec("insert into series (id, slug, title, is_published, created_at) values ($1, $2, 'A series', $3, $4)", key, []string{"open", "hidden"}[i], open, today)
		s.exec("insert into series_works (id, series_id, product_id, created_at) values ($1, $1, $1, $2)", key, today)
		s.exec("insert into reviews (id, client_name, message, is_active, display_order, created_at) values ($1, 'A client', 'Lovely', $2, $3, $4)", key, open, i+1, today)
		scheduled, ended := !open && s.hidden == "scheduled", !open && s.hidden == "ended"
		var from, until any
		if scheduled {
			from = today.Add(time.Hour)
		} else if ended {
			until = today
		}
		s.exec("insert into cover_images (id, image_url, is_active, display_order, created_at, visible_from, has_begun, visible_until, has_ended) values ($1, '/a.jpg', $2, $3, $4, $5, $6, $7, $8)",
			key, open || scheduled || ended, i+1, today, from, !scheduled, until, ended)
		s.exec("insert into contact_submissions (id, name, email, message, created_at) values ($1, 'Ana', 'ana@example.pt', 'A long message', $2)", key, today)
		s.exec("insert into contact_replies (id, message_id, author, text, created_at) values ($1, $1, 'visitor', 'One more thing', $2)", key, today)
		s.exec("insert into commissions (message_id, stage, stage_at) values ($1, 'offer', $2)", key, today)
		s.exec("insert into commission_offers (id, message_id, price_text, created_at) values ($1, $1, '300 €', $2)", key, today)
		s.exec("insert into commission_reviews (message_id, state, asked_at, client_name, message) values ($1, 'waiting', $2, 'Ana', 'Lovely')", key, today)
		s.exec("insert into saved_replies (id, title, created_at) values ($1, 'Thanks', $2)", key, today)
	}
	s.exec("insert into user_roles (user_id, role) values ($1, 'reader')", userID)
	s.exec("insert into user_roles (user_id, role) values ($1, 'admin')", adminID)
	s.changed = nil
}

// snapshot returns the whole content of a table, as the service key reads it.
func (s *site) snapshot(table string) string {
	s.t.Helper()
	query := ""
	if table == "contact_submissions" {
		query = "?select=*,answered_at,artwork_id,language,read_at"
	}
	got := s.call(service, "GET", table+query, "")
	if got.status != http.StatusOK {
		s.t.Fatalf("snapshot of %s: %d %s", table, got.status, got.body)
	}
	return got.body
}

func keysOf(t testing.TB, body, key string) []string {
	t.Helper()
	var rows []map[string]any
	if err := json.Unmarshal([]byte(body), &rows); err != nil {
		t.Fatalf("%s: %v", body, err)
	}
	keys := []string{}
	for _, r := range rows {
		keys = append(keys, r[key].(string))
	}
	slices.Sort(keys)
	return keys
}

func forbidden(who string) int {
	if who == anonymous {
		return http.StatusUnauthorized
	}
	return http.StatusForbidden
}

// Proves T-published-hidden.
func TestPolicyMatrix(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for name, table := range schema {
			for _, who := range everyone {
				c, listed := matrix[name][who]
				if !listed {
					t.Fatalf("the matrix has no cell for %s and %s", name, who)
				}
				try := func(t *testing.T, unpublished any, hidden string) {
					s := &site{t: t, db: s.db, service: s.service, tokens: s.tokens, handler: s.handler, unpublished: unpublished, hidden: hidden}
					s.service.record = s.noteChanges
					s.tryRead(table, who, c)
					s.tryInsert(table, who, c)
					s.tryUpdate(table, who, c)
					s.tryDelete(table, who, c)
				}
				t.Run(name+" for "+who, func(t *testing.T) { try(t, nil, "") })
				switch name {
				case "products":
					t.Run("scheduled products for "+who, func(t *testing.T) { try(t, today.Add(time.Hour), "") })
				case "cover_images":
					for _, hidden := range []string{"scheduled", "ended"} {
						t.Run(hidden+" covers for "+who, func(t *testing.T) { try(t, nil, hidden) })
					}
				}
			}
		}
	})
}

func (s *site) tryRead(table *Table, who string, c cell) {
	s.twoRows()
	got := s.call(who, "GET", table.Name, "", "Prefer: count=exact")
	if got.status != http.StatusOK || !slices.Equal(keysOf(s.t, got.body, table.Key.Name), slices.Sorted(slices.Values(c.sees))) {
		s.t.Errorf("read: got %d %s, want %v", got.status, got.body, c.sees)
	}
	n := len(c.sees)
	want := fmt.Sprintf("0-%d/%d", n-1, n)
	if n == 0 {
		want = "*/0"
		s.want("nothing is an empty list", got, http.StatusOK, "[]")
	}
	for _, method := range []string{"GET", "HEAD"} {
		for _, query := range []string{"", "?select=" + table.Key.Name} {
			if got := s.call(who, method, table.Name+query, "", "Prefer: count=exact").header.Get("Content-Range"); got != want {
				s.t.Errorf("%s%s: count %s, want %s", method, query, got, want)
			}
		}
	}
	// Filters, alone and negated, never reveal rows that the policy hides.
	for _, key := range []string{id(1), id(2), userID, adminID} {
		found := s.call(who, "GET", table.Name+"?"+table.Key.Name+"=eq."+key, "")
		if (found.body != "[]") != slices.Contains(c.sees, key) {
			s.t.Errorf("row %s by its key: %s", key, found.body)
		}
	}
	for _, query := range []string{"not.and=(%s.is.null,%s.not.is.null)", "or=(%s.is.null,%s.not.is.null)", "or=(%s.not.is.null,and(%s.is.null))"} {
		query = strings.ReplaceAll(query, "%s", table.Key.Name)
		if got := keysOf(s.t, s.call(who, "GET", table.Name+"?"+query, "").body, table.Key.Name); !slices.Equal(got, slices.Sorted(slices.Values(c.sees))) {
			s.t.Errorf("%s shows %v", query, got)
		}
	}
	if table.Name == "products" { // neither filters on the columns that hide a work nor an order, an offset or a range reveal hidden rows
		for _, query := range []string{
			"or=(is_published.is.false,is_published.is.true)", "or=(published_at.is.null,published_at.not.is.null)", "order=published_at.desc.nullsfirst,title", "order=is_published.asc", "offset=0&limit=9", "select=id,published_at,is_published,media",
			"or=(published_at.is.null,published_at.gt.2000-01-01)", "not.or=(is_published.is.unknown)",
		} {
			if got := keysOf(s.t, s.call(who, "GET", "products?"+query, "").body, "id"); !slices.Equal(got, c.sees) {
				s.t.Errorf("%s shows %v", query, got)
			}
		}
		if got := s.call(who, "GET", fmt.Sprintf("products?offset=%d", n), "").body; got != "[]" {
			s.t.Errorf("after the last row: %s", got)
		}
		for _, query := range []string{"published_at=is.null", "published_at=gt.2026-03-12T09:31:00Z", "is_published=is.false", "is_published=not.is.true"} {
			if got := keysOf(s.t, s.call(who, "GET", "products?"+query, "").body, "id"); slices.Contains(got, rowKeys[1]) && !slices.Contains(c.sees, rowKeys[1]) {
				s.t.Errorf("%s shows %v", query, got)
			}
		}
	}
	if table.Name == "cover_images" { // the same for the columns that hide a cover
		for _, query := range []string{
			"or=(has_begun.is.false,has_begun.is.true)", "or=(has_ended.is.false,has_ended.is.true)", "or=(visible_from.is.null,visible_from.not.is.null)", "order=visible_from.desc.nullslast,id", "order=has_ended.desc",
			"select=id,visible_from,visible_until,has_begun,has_ended,media", "not.or=(has_begun.is.unknown)",
		} {
			if got := keysOf(s.t, s.call(who, "GET", "cover_images?"+query, "").body, "id"); !slices.Equal(got, c.sees) {
				s.t.Errorf("%s shows %v", query, got)
			}
		}
		for _, query := range []string{"visible_from=gt.2000-01-01", "visible_until=lt.2999-01-01", "has_begun=is.false", "has_ended=is.true", "has_ended=not.is.false"} {
			if got := keysOf(s.t, s.call(who, "GET", "cover_images?"+query, "").body, "id"); slices.Contains(got, rowKeys[1]) && !slices.Contains(c.sees, rowKeys[1]) {
				s.t.Errorf("%s shows %v", query, got)
			}
		}
	}
	single := s.call(who, "GET", table.Name, "", "Accept: application/vnd.pgrst.object+json")
	if n == 1 {
		if single.status != http.StatusOK {
			s.t.Errorf("one row: got %d %s", single.status, single.body)
		}
	} else if e := s.refused("one row of many or none", single, http.StatusNotAcceptable, "PGRST116"); e.Details == nil || *e.Details != fmt.Sprintf("The result contains %d rows", n) {
		s.t.Errorf("one row of %d: %s", n, single.body)
	}
}

// rowsForInsert fills the tables with twoRows. It also adds the rows to which a new row of a table must refer.
func (s *site) rowsForInsert(table *Table) {
	s.t.Helper()
	s.twoRows()
	if table.Name == "commissions" || table.Name == "commission_offers" || table.Name == "commission_reviews" {
		s.exec("insert into contact_submissions (id, name, email, message, created_at) values ($1, 'Ana', 'ana@example.pt', 'A long message', $2)", id(3), today)
		s.exec("insert into contact_replies (id, message_id, author, text, created_at, kind) values ($1, $1, 'owner', 'An offer', $2, 'offer')", id(3), today)
	}
}

func (s *site) tryInsert(table *Table, who string, c cell) {
	s.rowsForInsert(table)
	before := s.snapshot(table.Name)
	for _, prefer := range []string{"return=minimal", "return=representation", "resolution=merge-duplicates", "resolution=ignore-duplicates"} {
		got := s.call(who, "POST", table.Name, newRow[table.Name], "Prefer: "+prefer)
		if !c.insert {
			s.refused("insert with "+prefer, got, forbidden(who), "42501")
			if after := s.snapshot(table.Name); after != before {
				s.t.Errorf("a refused insert with %s changed the table to %s", prefer, after)
			}
			continue
		}
		if got.status != http.StatusCreated || s.count(table.Name) != 3 {
			s.t.Errorf("insert with %s: got %d %s", prefer, got.status, got.body)
		}
		s.rowsForInsert(table)
	}
	if !c.insert && len(s.changed) > 0 {
		s.t.Errorf("refused inserts were announced: %v", s.changed)
	}
}

func (s *site) tryUpdate(table *Table, who string, c cell) {
	var together []string
	for _, column := range slices.Sorted(maps.Keys(changes[table.Name])) {
		member := `"` + column + `":` + changes[table.Name][column]
		together = append(together, member)
		s.update(table, who, "{"+member+"}", c.update == "all" || c.update == column)
	}
	s.update(table, who, "{"+strings.Join(together, ",")+"}", c.update == "all" || (c.update != "" && len(together) == 1))
}

func (s *site) update(table *Table, who, body string, allowed bool) {
	for _, query := range []string{"", "?" + table.Key.Name + "=not.is.null", "?order=" + table.Key.Name + "&limit=2"} {
		s.twoRows()
		before := s.snapshot(table.Name)
		got := s.call(who, "PATCH", table.Name+query, body, "Prefer: count=exact")
		after := s.snapshot(table.Name)
		if allowed {
			if got.status != http.StatusNoContent || got.header.Get("Content-Range") != "0-1/2" || after == before {
				s.t.Errorf("update%s with %s: got %d %s %v", query, body, got.status, got.body, got.header)
			}
			continue
		}
		s.refused("update"+query+" with "+body, got, forbidden(who), "42501")
		if after != before || len(s.changed) > 0 {
			s.t.Errorf("a refused update with %s changed the table to %s", body, after)
		}
	}
}

func (s *site) tryDelete(table *Table, who string, c cell) {
	for _, query := range []string{"", "?" + table.Key.Name + "=not.is.null"} {
		s.twoRows()
		got := s.call(who, "DELETE", table.Name+query, "", "Prefer: count=exact")
		if c.delete {
			if got.status != http.StatusNoContent || got.header.Get("Content-Range") != "*/2" || s.count(table.Name) != 0 {
				s.t.Errorf("delete%s: got %d %s %v", query, got.status, got.body, got.header)
			}
			continue
		}
		s.refused("delete"+query, got, forbidden(who), "42501")
		if n := s.count(table.Name); n != 2 || len(s.changed) > 0 {
			s.t.Errorf("a refused delete left %d rows", n)
		}
	}
}

func TestMergingNeedsTheRightToUpdate(t *testing.T) {
	// The columns of the policy apply to a merge as to an update. Currently no caller may insert without updating, so the merge of the
	// service key is the one that succeeds.
	each(t, func(t *testing.T, s *site) {
		s.twoRows()
		body := `{"id":"` + id(1) + `","name":"Changed","email":"x@example.pt","message":"Changed"}`
		s.refused("admin", s.call(admin, "POST", "contact_submissions", body, "Prefer: resolution=merge-duplicates"), 403, "42501")
		s.want("service", s.call(service, "POST", "contact_submissions?select=name,status", body, "Prefer: resolution=merge-duplicates,return=representation"), 200, `[{"name":"Changed","status":"new"}]`)
	})
}

func TestFunctionsMatrix(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.twoRows()
		order := `{"ids":["` + id(2) + `","` + id(1) + `"]}`
		for _, who := range everyone {
			own, other := s.call(who, "POST", "rpc/get_user_role", `{"user_id":"`+userID+`"}`), s.call(who, "POST", "rpc/get_user_role", `{"user_id":"`+adminID+`"}`)
			move := s.call(who, "POST", "rpc/move_work", moveBody(list(2), "first", "null"))
			moves := []reply{move, s.call(who, "POST", "rpc/move_series", moveBody(list(2), "first", "null")), s.call(who, "POST", "rpc/move_series_work", moveBody(list(2), "first", "null")),
				s.call(who, "POST", "rpc/move_saved_reply", moveBody(list(2), "first", "null"))}
			for _, move := range moves {
				if who == admin || who == service {
					s.want(who+": move", move, 204, "")
				} else {
					s.refused("move", move, forbidden(who), "42501")
				}
			}
			reorder, covers := s.call(who, "POST", "rpc/reorder_reviews", order), s.call(who, "POST", "rpc/reorder_covers", order)
			switch who {
			case anonymous:
				s.refused("own role", own, 401, "42501")
				s.refused("another's role", other, 401, "42501")
				s.refused("reorder", reorder, 401, "42501")
				s.refused("reorder covers", covers, 401, "42501")
			case signedIn:
				s.want("own role", own, 200, `"reader"`)
				s.refused("another's role", other, 403, "42501")
				s.refused("reorder", reorder, 403, "42501")
				s.refused("reorder covers", covers, 403, "42501")
			default:
				s.want(who+": a role", own, 200, `"reader"`)
				s.want(who+": another role", other, 200, `"admin"`)
				s.want(who+": reorder", reorder, 204, "")
				s.want(who+": reorder covers", covers, 204, "")
			}
		}
	})
}

func TestInvalidTokensAreRefused(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for _, call := range []struct{ method, path, body string }{
			{"GET", "products", ""}, {"HEAD", "products", ""}, {"POST", "products", `{"title":"A"}`}, {"PATCH", "products", `{"title":"A"}`}, {"DELETE", "products", ""}, {"POST", "rpc/get_user_role", "{}"},
		} {
			for name, c := range map[string]struct{ header, code string }{
				"none":      {"X-Nothing: 1", "PGRST302"},
				"forged":    {"Authorization: Bearer " + forge(s.token(service)), "PGRST301"},
				"unsigned":  {"Authorization: Bearer eyJhbGciOiJub25lIn0.eyJyb2xlIjoic2VydmljZV9yb2xlIiwiZXhwIjo0MTAyNDQ0ODAwfQ.", "PGRST301"},
				"expired":   {"Authorization: Bearer " + s.expired(), "PGRST303"},
				"not a JWT": {"Authorization: Bearer postgres", "PGRST301"},
			} {
				if call.method == "HEAD" {
					if got := s.call("", call.method, call.path, call.body, c.header); got.status != 401 {
						t.Errorf("%s token, %s: got %d", name, call.method, got.status)
					}
					continue
				}
				s.refused(name+" token, "+call.method, s.call("", call.method, call.path, call.body, c.header), 401, c.code)
			}
		}
	})
}

func TestACallerWithoutAUsableIDHasNoRows(t *testing.T) {
	roles := schema["user_roles"]
	for _, id := range []string{"", "me", "' or 1=1"} {
		c := identity.Caller{Role: identity.Authenticated, UserID: id}
		if st := renderCount(db.SQLite, roles, visible(c, roles)); st.sql != "select count(*) from user_roles where false" {
			t.Errorf("%q sees %s %v", id, st.sql, st.args)
		}
	}
}

// forge changes the signature of a token.
func forge(token string) string { return token[:len(token)-8] + "AAAAAAAA" }
