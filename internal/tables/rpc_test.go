package tables

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

func TestGetUserRole(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		for _, c := range []struct {
			name   string
			got    reply
			status int
			body   string
		}{
			{"a role", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":"`+adminID+`"}`), 200, `"admin"`},
			{"no role", s.call(signedIn, "POST", "rpc/get_user_role", `{"user_id":"`+userID+`"}`), 200, "null"},
			{"an unknown account", s.call(service, "POST", "rpc/get_user_role", `{"user_id":"`+id(77)+`"}`), 200, "null"},
			{"as a parameter of the URL", s.call(admin, "GET", "rpc/get_user_role?user_id="+adminID, ""), 200, `"admin"`},
			{"in upper case", s.call(admin, "GET", "rpc/get_user_role?user_id="+strings.ToUpper(adminID), ""), 200, `"admin"`},
			{"head", s.call(admin, "HEAD", "rpc/get_user_role?user_id="+adminID, ""), 200, ""},
			{"as one object", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":"`+adminID+`"}`, "Accept: application/vnd.pgrst.object+json"), 200, `"admin"`},
		} {
			s.want(c.name, c.got, c.status, c.body)
			if h := c.got.header; !strings.HasPrefix(h.Get("Content-Type"), "application/") || h.Get("Content-Range") != "0-0/*" {
				t.Errorf("%s: headers %v", c.name, h)
			}
		}
		for _, c := range []struct {
			name   string
			got    reply
			status int
			code   string
		}{
			{"not a uuid", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":"me"}`), 400, "22P02"},
			{"null", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":null}`), 400, "22P02"},
			{"an object", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":{}}`), 400, "22P02"},
			{"no argument", s.call(admin, "POST", "rpc/get_user_role", `{}`), 404, "PGRST202"},
			{"no body", s.call(admin, "POST", "rpc/get_user_role", ""), 404, "PGRST202"},
			{"another argument", s.call(admin, "GET", "rpc/get_user_role?id="+adminID, ""), 404, "PGRST202"},
			{"one argument too many", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":"`+adminID+`","x":1}`), 404, "PGRST202"},
			{"not an object", s.call(admin, "POST", "rpc/get_user_role", `["`+adminID+`"]`), 400, "PGRST102"},
			{"not JSON", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":`), 400, "PGRST102"},
			{"too large", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":"`+strings.Repeat("x", maxBody)+`"}`), 413, "54000"},
			{"an injection", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":"' or 1=1 --"}`), 400, "22P02"},
			{"a visitor, with any argument", s.call(anonymous, "POST", "rpc/get_user_role", `{"user_id":"me"}`), 401, "42501"},
			{"unknown function", s.call(admin, "POST", "rpc/pg_sleep", `{"seconds":9}`), 404, "PGRST202"},
			{"unknown function without arguments", s.call(anonymous, "POST", "rpc/version", ""), 404, "PGRST202"},
			{"a plan", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":"`+adminID+`"}`, "Accept: application/vnd.pgrst.plan+json"), 406, "PGRST107"},
			{"a body as CSV", s.call(admin, "POST", "rpc/get_user_role", "user_id\n"+adminID, "Content-Type: text/csv"), 400, "PGRST102"},
			{"strict handling of an unknown preference", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":"`+adminID+`"}`, "Prefer: handling=strict, timezone=Mars"), 400, "PGRST122"},
			{"PUT", s.call(admin, "PUT", "rpc/get_user_role", `{}`), 405, "PGRST101"},
			{"DELETE", s.call(admin, "DELETE", "rpc/get_user_role", ""), 405, "PGRST101"},
			{"OPTIONS of an unknown function", s.call(admin, "OPTIONS", "rpc/version", ""), 404, "PGRST202"},
			{"a foreign schema", s.call(admin, "POST", "rpc/get_user_role", `{"user_id":"`+adminID+`"}`, "Content-Profile: auth"), 406, "PGRST106"},
		} {
			s.refused(c.name, c.got, c.status, c.code)
		}
	})
}

// Proves A-cov-12, T-rpc-writes.
func TestReorderCovers(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		numbers := "cover_images?select=display_order&order=display_order"
		s.want("by hand, a number twice", s.call(admin, "PATCH", "cover_images", `{"display_order":2}`), 204, "")
		s.want("reorder", s.call(admin, "POST", "rpc/reorder_covers", `{"ids":["`+id(3)+`","`+id(1)+`"]}`), 204, "")
		if got := ids(t, s.call(admin, "GET", "cover_images?select=id&order=display_order&limit=2", "").body); got != "31" {
			t.Errorf("order %s", got)
		}
		var rows []struct {
			DisplayOrder int `json:"display_order"`
		}
		s.want("the others follow", s.call(admin, "POST", "rpc/reorder_covers", `{"ids":[]}`), 204, "")
		if err := json.Unmarshal([]byte(s.call(admin, "GET", numbers, "").body), &rows); err != nil {
			t.Fatal(err)
		}
		for n, row := range rows {
			if row.DisplayOrder != n+1 {
				t.Errorf("numbers %v", rows)
			}
		}
		before := s.snapshot("cover_images")
		s.refused("an unknown cover", s.call(admin, "POST", "rpc/reorder_covers", `{"ids":["`+id(1)+`","`+id(99)+`"]}`), 400, "22023")
		if s.snapshot("cover_images") != before {
			t.Error("something moved")
		}
	})
}

func TestReorderReviews(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		list := func(ns ...int) string {
			keys := make([]string, len(ns))
			for i, n := range ns {
				keys[i] = `"` + id(n) + `"`
			}
			return `{"ids":[` + strings.Join(keys, ",") + `]}`
		}
		order := func() string {
			return ids(t, s.call(admin, "GET", "reviews?select=id&order=display_order", "").body)
		}
		for _, c := range []struct{ name, body, want string }{
			{"all", list(4, 3, 2, 1), "4321"},
			{"some; the rest keep their order", list(1, 4), "1432"[:2] + "32"},
			{"none: the numbers become 1 to n", list(), "3214"},
			{"the order that they have", list(3, 2, 1, 4), "3214"},
		} {
			s.clear()
			s.fill()
			got := s.call(admin, "POST", "rpc/reorder_reviews", c.body)
			s.want(c.name, got, 204, "")
			if order() != c.want {
				t.Errorf("%s: got %s, want %s", c.name, order(), c.want)
			}
			s.want(c.name+": numbers", s.call(admin, "GET", "reviews?select=display_order&order=display_order", ""), 200, `[{"display_order":1},{"display_order":2},{"display_order":3},{"display_order":4}]`)
			if !slices.Equal(s.changed, []string{"reviews"}) {
				t.Errorf("%s: announced %v", c.name, s.changed)
			}
		}
		s.changed = nil
		s.want("again", s.call(admin, "POST", "rpc/reorder_reviews", list(3, 2, 1, 4)), 204, "")
		if len(s.changed) > 0 {
			t.Errorf("an unchanged row was recorded: %v", s.changed)
		}
		before := s.snapshot("reviews")
		for _, c := range []struct {
			name, body string
			status     int
			code       string
		}{
			{"an unknown review", list(1, 2, 99), 400, "22023"},
			{"a review twice", list(1, 2, 1), 400, "22023"},
			{"twice in two spellings", `{"ids":["` + id(10) + `","` + strings.ToUpper(id(10)) + `"]}`, 400, "22023"},
			{"not a uuid", `{"ids":["first"]}`, 400, "22P02"},
			{"a null", `{"ids":["` + id(1) + `",null]}`, 400, "22P02"},
			{"null", `{"ids":null}`, 400, "22P02"},
			{"not a list", `{"ids":"` + id(1) + `"}`, 400, "22P02"},
			{"a list of lists", `{"ids":[["` + id(1) + `"]]}`, 400, "22P02"},
			{"an object", `{"ids":{"0":"` + id(1) + `"}}`, 400, "22P02"},
			{"nothing", `{}`, 404, "PGRST202"},
		} {
			s.refused(c.name, s.call(admin, "POST", "rpc/reorder_reviews", c.body), c.status, c.code)
			if s.snapshot("reviews") != before {
				t.Errorf("%s: something moved", c.name)
			}
		}
		s.refused("by GET", s.call(admin, "GET", "rpc/reorder_reviews?ids={"+id(1)+"}", ""), 405, "25006")
		s.want("a list as PostgreSQL writes it", s.call(admin, "POST", "rpc/reorder_reviews", `{"ids":"{`+id(4)+`}"}`), 204, "")
		if order() != "4321" {
			t.Errorf("got %s", order())
		}
	})
}
