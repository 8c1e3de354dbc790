package db_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

const historyRow = "11111111-1111-4111-8111-111111111111"

// historyRows has an example for each table with a history: the statement that inserts a row, a change of it, and its JSON before the change.
var historyRows = []struct{ table, insert, change, before string }{
	{"products", `insert into products (id, title, artwork_type, image_url, image_gallery, video_gallery, tags, is_featured, creation_date, created_at, updated_at, published_at) values ($1, 'Onda "á"', 'oil', 'https://a.b/x.jpg', %list, %empty, %list, true, '2024-05-20', '2026-01-02T03:04:05+00:00', '2026-01-02T03:04:05+00:00', '2026-02-03T04:05:06+00:00')`,
		"title = 'Maré'", `{"id":"` + historyRow + `","title":"Onda \"á\"","description":null,"artwork_type":"oil","image_url":"https://a.b/x.jpg","image_gallery":["a, b","c"],"video_gallery":[],"is_featured":true,"in_stock":true,"dimensions":null,"medium":null,"creation_date":"2024-05-20","tags":["a, b","c"],"is_customizable":false,"seo_meta_title":null,"seo_meta_desc":null,"price":0,"created_at":"2026-01-02T03:04:05+00:00","updated_at":"2026-01-02T03:04:05+00:00","published_at":"2026-02-03T04:05:06+00:00","is_published":true,"position":"","title_pt":null,"description_pt":null,"dimensions_pt":null,"medium_pt":null,"seo_meta_title_pt":null,"seo_meta_desc_pt":null,"alt_texts":null}`},
	{"reviews", "insert into reviews (id, client_name, message, is_active, display_order, created_at) values ($1, 'Rui', 'Gostei.', false, 3, '2026-01-02T03:04:05.25+00:00')",
		"is_active = true", `{"id":"` + historyRow + `","client_name":"Rui","location":null,"message":"Gostei.","image_url":null,"is_active":false,"display_order":3,"created_at":"2026-01-02T03:04:05.25+00:00","updated_at":null,"message_pt":null,"from_commission":false}`},
	{"cover_images", "insert into cover_images (id, image_url, created_at, visible_until) values ($1, '/a.jpg', '2026-01-02T03:04:05+00:00', '2026-02-03T04:05:06+00:00')",
		"image_url = '/b.jpg'", `{"id":"` + historyRow + `","image_url":"/a.jpg","title":null,"description":null,"media_type":null,"video_thumbnail_url":null,"is_active":true,"display_order":null,"created_at":"2026-01-02T03:04:05+00:00","updated_at":null,"visible_from":null,"has_begun":true,"visible_until":"2026-02-03T04:05:06+00:00","has_ended":false,"title_pt":null,"description_pt":null,"alt_en":null,"alt_pt":null}`},
	{"series", "insert into series (id, slug, title, text_pt, created_at) values ($1, 'luz', 'Luz', 'Cal.', '2026-01-02T03:04:05+00:00')",
		"title = 'Cal'", `{"id":"` + historyRow + `","slug":"luz","title":"Luz","title_pt":null,"text":null,"text_pt":"Cal.","cover_id":null,"position":"","is_published":true,"created_at":"2026-01-02T03:04:05+00:00","updated_at":null,"types":[],"image_url":null}`},
	{"site_settings", `insert into site_settings (key, value, updated_at) values ('site', '{"name":"Alvor","texts":{"en":{}}}', '2026-01-02T03:04:05+00:00')`,
		`value = '{"name":"Outro"}'`, `{"key":"site","value":{"name":"Alvor","texts":{"en":{}}},"updated_at":"2026-01-02T03:04:05+00:00"}`},
}

type historyRevision struct {
	action string
	actor  *string
	before string
}

// revisions returns the revisions of a table, oldest first.
func revisions(t *testing.T, d *db.DB, table string) []historyRevision {
	t.Helper()
	found, err := db.Collect(t.Context(), d, func(row db.Row) (r historyRevision, err error) {
		err = row.Scan(&r.action, &r.actor, &r.before)
		return r, err
	}, "select action, actor, row_before from row_history where table_name = $1 order by id", table)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// sameJSON reports whether two JSON values are equal, without regard to spaces and the order of members.
func sameJSON(t *testing.T, a, b string) bool {
	t.Helper()
	x, errX := db.CanonicalJSON(a)
	y, errY := db.CanonicalJSON(b)
	if err := errors.Join(errX, errY); err != nil {
		t.Fatal(err)
	}
	return x == y
}

// engineLists replaces "%list" and "%empty" in a query by lists in the form of the database.
func engineLists(d *db.DB, query string) string {
	lists := map[string]string{"%list": `'["a, b","c"]'`, "%empty": `'[]'`}
	if d.Dialect == db.Postgres {
		lists = map[string]string{"%list": `array['a, b','c']`, "%empty": `'{}'`}
	}
	for name, value := range lists {
		for i := 0; i+len(name) <= len(query); i++ {
			if query[i:i+len(name)] == name {
				query = query[:i] + value + query[i+len(name):]
			}
		}
	}
	return query
}

// Proves A-history-1.
//
// TestChangesLeaveRevisions expects the same JSON on both engines, with every column of the table, in the transaction of the change.
func TestChangesLeaveRevisions(t *testing.T) {
	const actor = "22222222-2222-4222-8222-222222222222"
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := db.WithActor(t.Context(), actor)
		columns, err := db.Columns()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range historyRows {
			insert := func(tx *db.Tx) error {
				if row.table == "site_settings" {
					return db.Exec(ctx, tx, row.insert)
				}
				return db.Exec(ctx, tx, engineLists(d, row.insert), historyRow)
			}
			change := func(tx *db.Tx) error { return db.Exec(ctx, tx, "update "+row.table+" set "+row.change) }
			if err := d.WithTx(ctx, insert); err != nil {
				t.Fatal(err)
			}
			rollback := errors.New("rolled back")
			if err := d.WithTx(ctx, func(tx *db.Tx) error { return errors.Join(change(tx), rollback) }); !errors.Is(err, rollback) {
				t.Fatal(err)
			}
			if found := revisions(t, d, row.table); len(found) != 0 {
				t.Errorf("%s: an insert and a change that was rolled back left %v", row.table, found)
			}
			for range 2 { // the second statement changes nothing
				if err := d.WithTx(ctx, change); err != nil {
					t.Fatal(err)
				}
			}
			if _, err := d.Exec(t.Context(), "delete from "+row.table); err != nil { // by a command
				t.Fatal(err)
			}
			found := revisions(t, d, row.table)
			if len(found) != 2 || found[0].action != "update" || found[0].actor == nil || *found[0].actor != actor || found[1].action != "delete" || found[1].actor != nil {
				t.Fatalf("%s: %+v", row.table, found)
			}
			if !sameJSON(t, found[0].before, row.before) {
				t.Errorf("%s was\n%s, want\n%s", row.table, found[0].before, row.before)
			}
			for _, f := range found {
				var values map[string]json.RawMessage
				if err := json.Unmarshal([]byte(f.before), &values); err != nil {
					t.Fatal(err)
				}
				var names []string
				for _, c := range columns[row.table] {
					names = append(names, c[0])
				}
				slices.Sort(names)
				if got := slices.Sorted(maps.Keys(values)); !slices.Equal(got, names) {
					t.Errorf("%s: the %s keeps %v of the columns %v", row.table, f.action, got, names)
				}
			}
		}
	})
}

// Proves A-history-1.
func TestChangesWithoutRevisions(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		for _, query := range []string{
			"insert into reviews (id, client_name, message, display_order, created_at) values ('" + historyRow + "', 'Rui', 'Gostei.', 1, '2026-01-02T03:04:05+00:00')",
			"update reviews set display_order = 2, updated_at = '2026-01-02T03:04:06+00:00'", // order alone
			"insert into products (id, title, created_at) values ('" + historyRow + "', 'A', '2026-01-02T03:04:05+00:00')",
			"update products set position = 'a'", // order alone
			"insert into site_settings (key, value, updated_at) values ('guide', '\"\"', '2026-01-02T03:04:05+00:00')",
			"update site_settings set value = '\"done\"' where key = 'guide'", // not a setting on the owner's page
			"insert into contact_submissions (id, name, email, message, created_at) values ('" + historyRow + "', 'Rui', 'rui@b.pt', 'Canary', '2026-01-02T03:04:05+00:00')",
			"update contact_submissions set status = 'read'",
			"delete from contact_submissions", // messages have no revisions
			"insert into contact_quarantine (id, name, email, message, reason, created_at) values ('" + historyRow + "', 'Rui', 'rui@b.pt', 'Canary', 'x', '2026-01-02T03:04:05+00:00')",
			"delete from contact_quarantine",
		} {
			if _, err := d.Exec(t.Context(), query); err != nil {
				t.Fatalf("%s: %v", query, err)
			}
		}
		if n, err := db.One[int](t.Context(), d, "select count(*) from row_history"); err != nil || n != 0 {
			t.Errorf("%d revisions, %v", n, err)
		}
	})
}

// TestActorEndsWithItsTransaction checks that later changes have no actor, even if the transaction failed.
func TestActorEndsWithItsTransaction(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := db.WithActor(t.Context(), "22222222-2222-4222-8222-222222222222")
		title := func(to string) func(tx *db.Tx) error {
			return func(tx *db.Tx) error { return db.Exec(t.Context(), tx, "update reviews set client_name = $1", to) }
		}
		if _, err := d.Exec(t.Context(), "insert into reviews (id, client_name, message, created_at) values ('"+historyRow+"', 'a', 'b', '2026-01-02T03:04:05+00:00')"); err != nil {
			t.Fatal(err)
		}
		failure := errors.New("failed")
		if err := d.WithTx(ctx, func(*db.Tx) error { return failure }); !errors.Is(err, failure) {
			t.Fatal(err)
		}
		if err := errors.Join(d.WithTx(t.Context(), title("1")), d.WithTx(ctx, title("2")), d.WithTx(t.Context(), title("3")), d.WithTx(db.WithActor(t.Context(), "not an id'"), title("4"))); err != nil {
			t.Fatal(err)
		}
		var named []bool
		for _, r := range revisions(t, d, "reviews") {
			named = append(named, r.actor != nil)
		}
		if !slices.Equal(named, []bool{false, true, false, false}) {
			t.Errorf("named: %v", named)
		}
	})
}
