package tables

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"atelie/internal/db"
)

// list returns ids as a JSON list.
func list(ns ...int) string {
	keys := make([]string, len(ns))
	for i, n := range ns {
		keys[i] = `"` + id(n) + `"`
	}
	return "[" + strings.Join(keys, ",") + "]"
}

// handOrder returns the last digits of the ids of all works, in the owner's order.
func (s *site) handOrder() string {
	s.t.Helper()
	return ids(s.t, s.call(anonymous, "GET", "products?select=id&order=position", "").body)
}

// positions returns the order keys by the last digit of the row's id.
func (s *site) positions() map[string]string {
	s.t.Helper()
	var rows []struct{ ID, Position string }
	if err := json.Unmarshal([]byte(s.call(admin, "GET", "products?select=id,position", "").body), &rows); err != nil {
		s.t.Fatal(err)
	}
	found := map[string]string{}
	for _, row := range rows {
		found[row.ID[len(row.ID)-1:]] = row.Position
	}
	return found
}

// moveBody returns the body of a call of move_work.
func moveBody(list, place, target string) string {
	return fmt.Sprintf(`{"ids":%s,"place":%q,"target":%s}`, list, place, target)
}

// Proves T-rpc-move.
func TestMoveWork(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		s.changed = nil
		if got := s.handOrder(); got != "87652341" {
			t.Fatalf("before the first move: %s", got)
		}
		for _, c := range []struct {
			name   string
			ids    []int
			place  string
			beside int // the work before or after which they are placed; 0 for none
			want   string
		}{
			{"before", []int{1}, "before", 7, "81765234"},
			{"after", []int{8}, "after", 4, "17652348"},
			{"after the last", []int{5}, "after", 8, "17623485"},
			{"before the first", []int{3}, "before", 1, "31762485"},
			{"to where it is", []int{3}, "before", 1, "31762485"},
			{"after the one that it follows", []int{1}, "after", 3, "31762485"},
			{"first", []int{2}, "first", 0, "23176485"},
			{"last", []int{2}, "last", 0, "31764852"},
			{"several, in their order", []int{2, 4, 1}, "after", 7, "37241685"},
			{"several to the beginning", []int{5, 8}, "first", 0, "58372416"},
			{"several to the end", []int{3, 5}, "last", 0, "87241635"},
		} {
			before := s.positions()
			target := "null"
			if c.beside > 0 {
				target = `"` + id(c.beside) + `"`
			}
			s.want(c.name, s.call(admin, "POST", "rpc/move_work", moveBody(list(c.ids...), c.place, target)), 204, "")
			if got := s.handOrder(); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
			for name, key := range s.positions() {
				if named := slices.Contains(c.ids, int(name[0]-'0')); !named && key != before[name] {
					t.Errorf("%s: another row was written: %s", c.name, name)
				}
			}
		}
		if !slices.Contains(s.changed, "products") {
			t.Error("no change was recorded")
		}
		s.want("a new work", s.call(admin, "POST", "products", `{"id":"`+id(9)+`","title":"New","created_at":"2027-01-01T00:00:00Z"}`), 201, "")
		if got := s.handOrder(); got != "987241635" {
			t.Errorf("a new work comes first: %s", got)
		}
		if got := ids(t, s.call(anonymous, "GET", "products?select=id&order=created_at.desc", "").body); got != "987652341" {
			t.Errorf("newest first: %s", got)
		}
	})
}

// Proves T-rpc-move.
//
// If all works are moved at once, there is no other work before which or after which they are placed.
func TestANewWorkComesBeforeWorksThatAreAllMovedLast(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		s.want("all to the end", s.call(admin, "POST", "rpc/move_work", moveBody(list(3, 1, 2, 4, 5, 6, 7, 8), "last", "null")), 204, "")
		s.want("a new work", s.call(admin, "POST", "products", `{"id":"`+id(9)+`","title":"New","created_at":"2027-01-01T00:00:00Z"}`), 201, "")
		if got := s.handOrder(); got != "931245678" {
			t.Errorf("a new work comes first: %s", got)
		}
	})
}

// TestMigratedOrderKeys checks that the migration gives existing rows the same keys as new rows.
func TestMigratedOrderKeys(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		for n, at := range []string{"1969-12-31T23:59:59Z", "2026-03-12T10:30:00.999999Z", "2026-03-12T10:30:00.9996Z", "2026-03-12T10:30:00.000001Z", "2030-01-01T00:00:00Z"} {
			s.exec("delete from products where id = '" + id(n+1) + "'")
			s.want(at, s.call(admin, "POST", "products", `{"id":"`+id(n+1)+`","title":"A","created_at":"`+at+`"}`), 201, "")
		}
		before := s.positions()
		migration, err := os.ReadFile("../db/migrations/0034_position.sql")
		if err != nil {
			t.Fatal(err)
		}
		postgres, sqlite, _ := strings.Cut(string(migration), "{{else}}")
		part := sqlite
		if s.db.Dialect == db.Postgres {
			part = postgres
		}
		statement := part[strings.Index(part, "update products set position"):]
		statement, _, _ = strings.Cut(statement, ";")
		s.exec("update products set position = ''")
		s.exec(statement)
		for name, key := range s.positions() {
			if key != before[name] {
				t.Errorf("%s: %s, want %s", name, key, before[name])
			}
		}
	})
}

func TestMoveWithoutAFreeKeyRenumbers(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		s.exec("update products set position = ''") // as in rows that another program has written
		for _, c := range []struct{ name, body, want string }{
			{"before", moveBody(list(1), "before", `"`+id(3)+`"`), "87652134"},
			{"first", moveBody(list(4), "first", "null"), "48765213"},
		} {
			s.want(c.name, s.call(admin, "POST", "rpc/move_work", c.body), 204, "")
			if got := s.handOrder(); got != c.want {
				t.Errorf("%s: %s, want %s", c.name, got, c.want)
			}
		}
		s.exec("update products set position = 'a" + strings.Repeat("0", maxOrderKey-2) + "1' where id = '" + id(8) + "'")
		s.exec("update products set position = 'a" + strings.Repeat("0", maxOrderKey-2) + "2' where id = '" + id(7) + "'")
		order := s.handOrder()
		at := strings.Index(order, "8")
		want := strings.ReplaceAll(order[:at+1], "1", "") + "1" + strings.ReplaceAll(order[at+1:], "1", "")
		s.want("between long keys", s.call(admin, "POST", "rpc/move_work", moveBody(list(1), "after", `"`+id(8)+`"`)), 204, "")
		if got := s.handOrder(); got != want {
			t.Errorf("between long keys: %s, want %s", got, want)
		}
		for name, key := range s.positions() {
			if len(key) > 20 {
				t.Errorf("%s has the key %q", name, key)
			}
		}
	})
}

func TestInvalidMovesAreRefused(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		before := s.positions()
		many := make([]string, maxMoved+1)
		for i := range many {
			many[i] = fmt.Sprintf(`"00000000-0000-4000-8000-%012d"`, i)
		}
		for _, c := range []struct {
			name, body string
			status     int
			code       string
		}{
			{"an unknown work", moveBody(list(1, 15), "first", "null"), 400, "22023"},
			{"an unknown target", moveBody(list(1), "after", `"`+id(15)+`"`), 400, "22023"},
			{"beside itself", moveBody(list(1, 2), "after", `"`+id(2)+`"`), 400, "22023"},
			{"without a target", moveBody(list(1), "before", "null"), 400, "22023"},
			{"with one too many", moveBody(list(1), "first", `"`+id(2)+`"`), 400, "22023"},
			{"an unknown place", moveBody(list(1), "beside", `"`+id(2)+`"`), 400, "22023"},
			{"a place that is no text", `{"ids":` + list(1) + `,"place":7,"target":null}`, 400, "22023"},
			{"twice", moveBody(list(1, 1), "first", "null"), 400, "22023"},
			{"too many", moveBody("["+strings.Join(many, ",")+"]", "first", "null"), 400, "22023"},
			{"no uuid", moveBody(`["x"]`, "first", "null"), 400, "22P02"},
			{"a target that is no uuid", moveBody(list(1), "after", `"x"`), 400, "22P02"},
			{"an argument too few", `{"ids":` + list(1) + `}`, 404, "PGRST202"},
		} {
			if e := s.refused(c.name, s.call(admin, "POST", "rpc/move_work", c.body), c.status, c.code); strings.Contains(e.Message, "review") {
				t.Errorf("%s: the message is about another table: %s", c.name, e.Message)
			}
		}
		s.want("no works", s.call(admin, "POST", "rpc/move_work", moveBody("[]", "first", "null")), 204, "")
		for _, body := range []string{`{"position":"A"}`, `{"position":"a0"}`, `{"position":"a b"}`, `{"position":null}`, `{"position":"` + strings.Repeat("a", maxOrderKey+1) + `"}`} {
			if got := s.call(admin, "PATCH", "products?id=eq."+id(1), body); got.status != 400 {
				t.Errorf("%s: %d %s", body, got.status, got.body)
			}
		}
		for name, key := range s.positions() {
			if key != before[name] {
				t.Errorf("%s was moved", name)
			}
		}
	})
}

// TestConcurrentMovesGetDifferentKeys has many callers move works between the same two works.
func TestConcurrentMovesGetDifferentKeys(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		s.fill()
		var all sync.WaitGroup
		for n := 1; n <= 6; n++ {
			all.Go(func() {
				if got := s.call(admin, "POST", "rpc/move_work", moveBody(list(n), "after", `"`+id(8)+`"`)); got.status != 204 {
					t.Errorf("%d: %d %s", n, got.status, got.body)
				}
			})
		}
		all.Wait()
		seen := map[string]bool{}
		for name, key := range s.positions() {
			if seen[key] {
				t.Errorf("%s has the key of another work", name)
			}
			seen[key] = true
		}
		if got := s.handOrder(); got[0] != '8' || got[7] != '7' {
			t.Errorf("%s", got)
		}
	})
}
