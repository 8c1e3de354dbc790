package tables

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"atelie/internal/db"
	"atelie/internal/identity"
)

// Proves RT-change-1, RT-change-3, RT-node-4.
//
// TestEveryWriteIsRecordedInItsTransaction compares the recorded changes with the written rows, for each kind of write.
func TestEveryWriteIsRecordedInItsTransaction(t *testing.T) {
	each(t, func(t *testing.T, s *site) {
		var got []string
		var fail error
		s.service.record = func(_ context.Context, tx *db.Tx, changes []db.RowChange) error {
			if tx == nil {
				t.Error("a change was recorded outside of a transaction")
			}
			for _, c := range changes {
				var record, old map[string]any
				if c.Record != nil {
					if err := json.Unmarshal(c.Record, &record); err != nil {
						t.Error(err)
					}
					if len(record) != len(changeFields(schema[c.Table])) {
						t.Errorf("not the whole row: %s", c.Record)
					}
				}
				if c.Old != nil {
					if err := json.Unmarshal(c.Old, &old); err != nil {
						t.Error(err)
					}
				}
				// short returns the last digit of the id, and two more values.
				short := func(row map[string]any) string {
					id, _ := row["id"].(string)
					if id != "" {
						id = id[len(id)-1:]
					}
					return fmt.Sprint(id, " ", row["display_order"], " ", row["is_active"])
				}
				got = append(got, fmt.Sprintf("%s %s [%s] [%s]", c.Table, c.Type, short(record), short(old)))
			}
			return fail
		}
		want := func(name string, r reply, lines ...string) {
			t.Helper()
			if r.status >= 300 || !reflect.DeepEqual(got, lines) {
				t.Errorf("%s: %d %s: %q", name, r.status, r.body, got)
			}
			got = nil
		}
		id := func(n int) string { return fmt.Sprintf("00000000-0000-4000-8000-00000000000%d", n) }
		review := func(n int) string {
			return fmt.Sprintf(`{"id":%q,"client_name":"C","message":"Good work","display_order":%d}`, id(n), n)
		}
		const nothing = "[ <nil> <nil>]"
		want("insert", s.call(admin, "POST", "reviews", "["+review(2)+","+review(1)+"]"), "reviews INSERT [2 2 true] "+nothing, "reviews INSERT [1 1 true] "+nothing)
		want("upsert", s.call(admin, "POST", "reviews", "["+review(2)+","+review(3)+"]", "Prefer: resolution=merge-duplicates"), "reviews UPDATE [2 2 true] [2 <nil> <nil>]", "reviews INSERT [3 3 true] "+nothing)
		want("ignored", s.call(admin, "POST", "reviews", review(3), "Prefer: resolution=ignore-duplicates"))
		want("update", s.call(admin, "PATCH", "reviews?id=eq."+id(1), `{"is_active":false}`), "reviews UPDATE [1 1 false] [1 <nil> <nil>]")
		want("no row", s.call(admin, "PATCH", "reviews?id=eq."+id(9), `{"is_active":false}`))
		want("new key", s.call(admin, "PATCH", "reviews?id=eq."+id(1), `{"id":"`+id(4)+`"}`), "reviews UPDATE [4 1 false] [1 <nil> <nil>]")
		want("reorder", s.call(admin, "POST", "rpc/reorder_reviews", `{"ids":["`+id(4)+`","`+id(3)+`","`+id(2)+`"]}`), "reviews UPDATE [3 2 true] [3 <nil> <nil>]", "reviews UPDATE [2 3 true] [2 <nil> <nil>]")
		want("delete", s.call(admin, "DELETE", "reviews?id=eq."+id(4), ""), "reviews DELETE "+nothing+" [4 <nil> false]")
		s.call(admin, "PATCH", "products?id=eq."+id(1), `{"title":""}`) // refused
		s.call("anon", "DELETE", "reviews", "")
		want("refused", reply{})
		fail = errors.New("the outbox is full")
		before := s.count("reviews")
		err := s.service.InsertRows(t.Context(), identity.Caller{Role: identity.Service}, "reviews", []map[string]any{{"client_name": "C", "message": "Good work"}})
		if !errors.Is(err, fail) || s.count("reviews") != before {
			t.Errorf("written without a record: %v, %d of %d", err, s.count("reviews"), before)
		}
	})
}

// Proves RT-change-2.
func TestColumnTypesArePostgreSQLs(t *testing.T) {
	types := ColumnTypes()
	if len(types) != len(schema) {
		t.Errorf("%d tables", len(types))
	}
	for table, columns := range types {
		if len(columns) != len(changeFields(schema[table])) || !columns[0].Key {
			t.Errorf("%s: %+v", table, columns)
		}
		for _, c := range columns {
			if c.Type == "" {
				t.Errorf("%s.%s has no type", table, c.Name)
			}
		}
	}
}
