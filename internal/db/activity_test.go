package db_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// entries returns the rows of the table activity, and deletes them. A row is "kind action table row title number actor", with "-" for null. A
// row about a work in a series has also " in series title".
func entries(t *testing.T, d *db.DB) []string {
	t.Helper()
	found, err := db.Collect(t.Context(), d, db.ScanOne[string], `select kind || ' ' || action || ' ' || coalesce(table_name, '-') || ' ' || coalesce(cast(row_id as text), '-')
		|| ' ' || coalesce(title, '-') || ' ' || coalesce(cast(number as text), '-') || ' ' || coalesce(cast(actor as text), '-') || coalesce(' in ' || cast(series_id as text) || ' ' || series_title, '') from activity order by id`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Exec(t.Context(), "delete from activity"); err != nil {
		t.Fatal(err)
	}
	return found
}

// Proves A-activity-1.
//
// TestChangesLeaveActivity expects one entry for each change, in its transaction, with the account that made it. Rolled back changes,
// changes of the order alone and changes without effect add none.
func TestChangesLeaveActivity(t *testing.T) {
	const (
		actor = "22222222-2222-4222-8222-222222222222"
		row   = historyRow
	)
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := db.WithActor(t.Context(), actor)
		run := func(statements ...string) {
			t.Helper()
			for _, s := range statements {
				if err := d.WithTx(ctx, func(tx *db.Tx) error { return db.Exec(ctx, tx, s) }); err != nil {
					t.Fatal(err)
				}
			}
		}
		check := func(what string, want ...string) {
			t.Helper()
			if got := entries(t, d); !slices.Equal(got, want) {
				t.Errorf("%s:\n%q, want\n%q", what, got, want)
			}
		}
		check("a new database")

		run("insert into products (id, title, artwork_type, created_at) values ('"+row+"', 'Onda', 'oil', '2026-01-02T03:04:05+00:00')",
			"update products set title = 'Maré'", "update products set title = 'Maré'", "delete from products")
		check("a work", "change insert products "+row+" Onda - "+actor, "change update products "+row+" Maré - "+actor, "change delete products "+row+" Maré - "+actor)

		run("insert into reviews (id, client_name, message, created_at) values ('"+row+"', 'Rui', 'Gostei.', '2026-01-02T03:04:05+00:00')",
			"update reviews set display_order = 7", "update reviews set message = 'Gostei muito.'", "delete from reviews")
		check("a review", "change insert reviews "+row+" Rui - "+actor, "change update reviews "+row+" Rui - "+actor, "change delete reviews "+row+" Rui - "+actor)

		run("insert into cover_images (id, image_url, created_at) values ('"+row+"', '/a.jpg', '2026-01-02T03:04:05+00:00')", "update cover_images set title = 'Mar'", "delete from cover_images")
		check("a cover", "change insert cover_images "+row+" - - "+actor, "change update cover_images "+row+" Mar - "+actor, "change delete cover_images "+row+" Mar - "+actor)

		run("insert into products (id, title, created_at) values ('"+row+"', 'Onda', '2026-01-02T03:04:05+00:00')", "insert into series (id, slug, title, created_at) values ('"+row+"', 'luz', 'Luz', '2026-01-02T03:04:05+00:00')",
			"update series set title = 'Cal'", "delete from series", "delete from products")
		check("a series", "change insert products "+row+" Onda - "+actor, "change insert series "+row+" Luz - "+actor, "change update series "+row+" Cal - "+actor,
			"change delete series "+row+" Cal - "+actor, "change delete products "+row+" Onda - "+actor)

		const other = "33333333-3333-4333-8333-333333333333"
		run("insert into products (id, title, created_at) values ('"+row+"', 'Onda', '2026-01-02T03:04:05+00:00')", "insert into series (id, slug, title, created_at) values ('"+row+"', 'luz', 'Luz', '2026-01-02T03:04:05+00:00')",
			"insert into series (id, slug, title, created_at) values ('"+other+"', 'cal', 'Cal', '2026-01-02T03:04:05+00:00')")
		entries(t, d)
		pair := "insert into series_works (id, series_id, product_id, created_at) values ('" + row + "', '" + row + "', '" + row + "', '2026-01-02T03:04:05+00:00')"
		run(pair, "update series_works set position = 'b'", "update series_works set series_id = '"+other+"'", "delete from series_works", "delete from series where id = '"+other+"'")
		inLuz, inCal := " series_works "+row+" Onda - "+actor+" in "+row+" Luz", " series_works "+row+" Onda - "+actor+" in "+other+" Cal"
		check("works of series, whose order alone is no change", "change insert"+inLuz, "change delete"+inLuz, "change insert"+inCal, "change delete"+inCal, "change delete series "+other+" Cal - "+actor)
		run(pair, "delete from products")
		check("a deletion that takes a pair along", "change insert"+inLuz, "change delete products "+row+" Onda - "+actor)
		run("insert into products (id, title, created_at) values ('"+row+"', 'Onda', '2026-01-02T03:04:05+00:00')", pair, "delete from series", "delete from products")
		check("a series that is deleted with its works", "change insert products "+row+" Onda - "+actor, "change insert"+inLuz,
			"change delete series "+row+" Luz - "+actor, "change delete products "+row+" Onda - "+actor)

		for key, value := range map[string]string{"site": `{}`, "notice.email": `[]`, "notice.webhook": `""`, "thanks.enabled": "false", "guide": `"done"`} {
			run(fmt.Sprintf("insert into site_settings (key, value, updated_at) values ('%s', '%s', '2026-01-02T03:04:05+00:00')", key, value))
		}
		run("update site_settings set value = '[\"a@b.example\"]' where key = 'notice.email'", `update site_settings set value = '"open"' where key = 'guide'`)
		check("settings, without those that a first save leaves as they are", "change update site_settings - site - "+actor, "change update site_settings - notice.email - "+actor)

		for i := range 3 {
			run(fmt.Sprintf("insert into contact_submissions (id, name, email, message, reason, status, created_at) values ('0000000%d-0000-4000-8000-000000000000', 'Eva', 'eva@exemplo.example', 'Bom dia a todos', 'general', 'new', '2026-01-02T03:04:05+00:00')", i))
		}
		run("update contact_submissions set status = 'read'", "delete from contact_submissions where id = '00000000-0000-4000-8000-000000000000'")
		if _, err := d.Exec(t.Context(), "delete from contact_submissions"); err != nil { // by the program
			t.Fatal(err)
		}
		check("messages, without a word of them", "change delete contact_submissions - - 1 "+actor, "change delete contact_submissions - - 2 -")

		run("insert into auth_users (id, email, created_at, updated_at) values ('"+row+"', 'rui@alvor.example', '2026-01-02T03:04:05+00:00', '2026-01-02T03:04:05+00:00')",
			"insert into user_roles (user_id, role) values ('"+row+"', 'editor')", "update user_roles set role = 'editor'", "update user_roles set role = 'admin'", "delete from auth_users")
		check("a role", "key role_given user_roles "+row+" editor - "+actor, "key role_given user_roles "+row+" admin - "+actor, "key role_removed user_roles "+row+" admin - "+actor)

		run("insert into access_keys (role, generation, created_at) values ('service_role', 2, '2026-01-02T03:04:05+00:00')", "update access_keys set revoked_at = '2026-01-02T03:04:05+00:00'",
			"insert into access_keys (role, generation, revoked_at) values ('anon', 1, '2026-01-02T03:04:05+00:00')")
		check("keys", "key key_made access_keys - service_role 2 "+actor, "key key_revoked access_keys - service_role 2 "+actor, "key key_revoked access_keys - anon 1 "+actor)

		rollback := errors.New("rolled back")
		err := d.WithTx(ctx, func(tx *db.Tx) error {
			return errors.Join(db.Exec(ctx, tx, "insert into products (id, title, artwork_type, created_at) values ('"+row+"', 'Onda', 'oil', '2026-01-02T03:04:05+00:00')"), rollback)
		})
		if !errors.Is(err, rollback) {
			t.Fatal(err)
		}
		check("a change that was rolled back")
	})
}

// Proves A-activity-1.
func TestSecretsLeaveActivity(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		only := func(fingerprint string) {
			t.Helper()
			if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return db.AcceptOnlySecret(t.Context(), tx, fingerprint, time.Now()) }); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := d.AcceptFirstSecret(t.Context(), "first", time.Now()); err != nil {
			t.Fatal(err)
		}
		only("first") // every server does this once an hour
		if got := entries(t, d); len(got) != 0 {
			t.Errorf("the first secret: %q", got)
		}
		if _, err := d.AcceptAnotherSecret(t.Context(), "first", "second", time.Now()); err != nil {
			t.Fatal(err)
		}
		only("second")
		only("third") // the secret was lost
		want := []string{"key secret_changed - - - - -", "key secret_forgotten - - - - -", "key secret_changed - - - - -", "key secret_forgotten - - - - -"}
		if got := entries(t, d); !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
		if state, err := db.CheckSecret(t.Context(), d, "second"); err != nil || state != db.SecretRefused {
			t.Errorf("the earlier secret: %v, %v", state, err)
		}
	})
}

// TestTriggersDoNotSearchTheSchema fails for triggers that read the names of the schema, because that takes longer than writing the row.
func TestTriggersDoNotSearchTheSchema(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	found, err := db.Collect(t.Context(), d, db.ScanOne[string], "select name from sqlite_master where type = 'trigger' and sql like '%sqlite\\_master%' escape '\\'")
	if err != nil || len(found) != 0 {
		t.Errorf("%q, %v", found, err)
	}
}
