package auth

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Proves S7-admin-8.
func TestAdminListUsersInPages(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		var ids []any
		for i := range 5 {
			name := fmt.Sprintf("u%d@example.pt", i)
			ids = append(ids, h.mustCreateID(map[string]any{"email": name, "user_metadata": map[string]any{"full_name": fmt.Sprintf("Ána %d_%%", i)}}))
			h.clock.advance(time.Second)
		}
		h.exec("insert into auth_factors (id, user_id, factor_type, status, created_at, updated_at) values ($1, $2, 'totp', 'verified', $3, $3)", newID(), ids[2], h.clock.now())
		list := func(query string) (reply, []any) {
			r := h.asService("GET", "/admin/users"+query, nil)
			if r.status != 200 || r.body["aud"] != "authenticated" || keysOf(r.body) != "aud users" {
				t.Fatalf("%s: %d %s", query, r.status, r.raw)
			}
			got := []any{}
			for _, u := range r.body["users"].([]any) {
				got = append(got, u.(map[string]any)["id"])
			}
			return r, got
		}
		long := strings.Repeat("x", 50_001) // longer than SQLite's patterns
		for _, c := range []struct {
			query string
			want  []any
			total string // X-Total-Count
			link  string // Link
		}{
			{"", []any{ids[4], ids[3], ids[2], ids[1], ids[0]}, "5", `</auth/v1/admin/users?page=1>; rel="last"`},
			{"?page=&per_page=", []any{ids[4], ids[3], ids[2], ids[1], ids[0]}, "5", `</auth/v1/admin/users?page=1&per_page=>; rel="last"`},
			{"?page=1&per_page=2", []any{ids[4], ids[3]}, "5", `</auth/v1/admin/users?page=2&per_page=2>; rel="next", </auth/v1/admin/users?page=3&per_page=2>; rel="last"`},
			{"?per_page=2&page=3", []any{ids[0]}, "5", `</auth/v1/admin/users?page=3&per_page=2>; rel="last"`},
			{"?per_page=2&page=4", []any{}, "5", `</auth/v1/admin/users?page=3&per_page=2>; rel="last"`},
			{"?sort=created_at+asc&per_page=1", []any{ids[0]}, "5", `</auth/v1/admin/users?page=2&per_page=1&sort=created_at+asc>; rel="next", </auth/v1/admin/users?page=5&per_page=1&sort=created_at+asc>; rel="last"`},
			{"?filter=U3@", []any{ids[3]}, "1", `</auth/v1/admin/users?page=1&filter=U3%40>; rel="last"`},
			{"?filter=%C3%A1NA+1_%25", []any{ids[1]}, "1", `</auth/v1/admin/users?page=1&filter=%C3%A1NA+1_%25>; rel="last"`},
			{"?filter=%25", []any{ids[4], ids[3], ids[2], ids[1], ids[0]}, "5", `</auth/v1/admin/users?page=1&filter=%25>; rel="last"`},
			{"?filter=nobody", []any{}, "0", `</auth/v1/admin/users?page=0&filter=nobody>; rel="last"`},
			{"?filter=" + long, []any{}, "0", `</auth/v1/admin/users?page=0&filter=` + long + `>; rel="last"`},
		} {
			r, got := list(c.query)
			if fmt.Sprint(got) != fmt.Sprint(c.want) || r.header.Get("X-Total-Count") != c.total || r.header.Get("Link") != c.link {
				t.Errorf("%s: got %v, %s, %s", c.query, got, r.header.Get("X-Total-Count"), r.header.Get("Link"))
			}
		}
		r, _ := list("?per_page=3")
		for i, u := range r.body["users"].([]any) {
			single := h.asService("GET", "/admin/users/"+ids[4-i].(string), nil)
			if fmt.Sprint(u) != fmt.Sprint(single.body) {
				t.Errorf("listed %v, alone %s", u, single.raw)
			}
		}
		h.expect("deleted", h.asService("DELETE", "/admin/users/"+ids[1].(string), map[string]any{"should_soft_delete": true}), 200, "")
		if _, got := list(""); len(got) != 5 {
			t.Errorf("a deleted account is listed until it is gone: %v", got)
		}
	})
}

func TestAdminListUsersBoundsThePage(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		h := newFixture(t, d)
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			for range maxUsersPerPage + 1 {
				if _, err := insertUser(t.Context(), tx, insertUserParams{}, h.clock.now()); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		r := h.asService("GET", "/admin/users?per_page=5000", nil)
		if n := len(r.body["users"].([]any)); n != maxUsersPerPage || r.header.Get("Link") != `</auth/v1/admin/users?page=2&per_page=5000>; rel="next", </auth/v1/admin/users?page=2&per_page=5000>; rel="last"` {
			t.Errorf("%d users, %s", n, r.header.Get("Link"))
		}
		if n := len(h.asService("GET", "/admin/users?per_page=5000&page=2", nil).body["users"].([]any)); n != 1 {
			t.Errorf("%d users on the second page", n)
		}
	})
}
