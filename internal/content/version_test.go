package content

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

var quiet = slog.New(slog.DiscardHandler)

// current returns the current versions.
func current(t *testing.T, v *Version) Versions {
	t.Helper()
	at, err := v.Current(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return at
}

const (
	id  = "00000000-0000-4000-8000-000000000001"
	now = "2026-11-21T12:00:00+00:00"
)

// Proves KEPT-version-1.
//
// TestEveryChangeThatVisitorsCanSeeRaisesTheVersion checks that every statement that changes visible content raises the version.
// Statements that only take a lease for making renditions do not, because requests of visitors cause them. Recorded facts about files
// raise the version, but are no edits.
func TestEveryChangeThatVisitorsCanSeeRaisesTheVersion(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		v := NewVersion(d, quiet)
		before := current(t, v)
		for _, step := range []struct {
			statement string
			want      string // what the version counts: "edit", "files" (facts about files), or "" if it must stay
		}{
			{"insert into access_keys (role, generation, created_at) values ('anon', 2, '" + now + "')", "edit"},
			{"update access_keys set revoked_at = '" + now + "'", "edit"},
			{"delete from access_keys", "edit"},
			{"insert into products (id, title, created_at) values ('" + id + "', 'A', '" + now + "')", "edit"},
			{"update products set title = 'B'", "edit"},
			{"update products set title = 'C' where title = 'nobody'", ""},
			{"insert into products (id, title, created_at) values ('" + id + "', 'D', '" + now + "') on conflict (id) do update set title = excluded.title", "edit"},
			{"insert into reviews (id, client_name, message, created_at) values ('" + id + "', 'Ana', 'Olá', '" + now + "')", "edit"},
			{"update reviews set is_active = not is_active", "edit"},
			{"insert into cover_images (id, image_url, created_at) values ('" + id + "', '/a.jpg', '" + now + "')", "edit"},
			{"update cover_images set is_active = not is_active", "edit"},
			{"insert into site_settings (key, value, updated_at) values ('site', '{}', '" + now + "')", "edit"},
			{"insert into contact_submissions (id, name, email, message, created_at) values ('" + id + "', 'A', 'a@b.pt', 'Olá', '" + now + "')", ""},
			{"insert into rate_limits (name, subject, bucket_start, hits) values ('a', 'b', 1, 1)", ""},
			{"insert into storage_buckets (id, name, created_at, updated_at) values ('b', 'b', '" + now + "', '" + now + "')", ""},
			{"insert into storage_objects (id, bucket_id, name, blob_id, size, mime_type, etag, cache_control, created_at, updated_at) values ('" + id + "', 'b', 'a.jpg', '" + id + "', 1, 'image/jpeg', 'e', '', '" + now + "', '" + now + "')", ""},
			{"insert into media (object_id, blob_id, kind, state, width, height, created_at, updated_at) values ('" + id + "', '" + id + "', 'image', 'waiting', 1, 1, '" + now + "', '" + now + "')", "files"},
			{"update media set maker = '" + id + "', making_until = '" + now + "'", ""},
			{"update media set kind = kind, updated_at = '2027-01-01T00:00:00+00:00'", ""},
			{"update media set state = 'ready', thumbhash = null, width = 2", "files"},
			{"update media set state = 'waiting', poster = '" + id + "'", "edit"},
			{"update media set focus_x = 0.5, focus_y = 0.5", "edit"},
			{"update storage_objects set name = name", ""},
			{"update storage_objects set name = 'b.jpg'", "edit"},
			{"delete from media", "edit"},
			{"delete from site_settings", "edit"},
			{"delete from cover_images", "edit"},
			{"delete from reviews", "edit"},
			{"insert into series (id, slug, title, created_at) values ('" + id + "', 'a', 'A', '" + now + "')", "edit"},
			{"update series set title = 'B'", "edit"},
			{"insert into series_works (id, series_id, product_id, created_at) values ('" + id + "', '" + id + "', '" + id + "', '" + now + "')", "edit"},
			{"update series_works set position = 'b'", "edit"},
			{"delete from series_works", "edit"},
			{"delete from series", "edit"},
			{"delete from products", "edit"},
		} {
			if _, err := d.Exec(t.Context(), step.statement); err != nil {
				t.Fatal(step.statement, err)
			}
			after := current(t, v)
			got := ""
			switch {
			case after.Edited > before.Edited:
				got = "edit"
			case after.Current > before.Current:
				got = "files"
			}
			if got != step.want || (got == "edit" && after.Edited != after.Current && d.Dialect == db.Postgres) {
				t.Errorf("%s: %q, from %v to %v", step.statement, got, before, after)
			}
			before = after
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error { // an edit counts as an edit, also after a recorded fact in the same transaction
			for _, statement := range []string{
				"insert into media (object_id, blob_id, kind, state, width, height, created_at, updated_at) values ('" + id + "', '" + id + "', 'image', 'waiting', 1, 1, '" + now + "', '" + now + "')",
				"insert into products (id, title, created_at) values ('" + id + "', 'A', '" + now + "')",
			} {
				if _, err := tx.Exec(t.Context(), statement); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		after := current(t, v)
		if after.Edited <= before.Edited {
			t.Errorf("both in one transaction: %v, then %v", before, after)
		}
		before = after
		if d.Dialect == db.Postgres {
			if _, err := d.Exec(t.Context(), "truncate products cascade"); err != nil {
				t.Fatal(err)
			}
			if after := current(t, v); after != edit(before.Current+1) {
				t.Errorf("truncate: %v, then %v", before, after)
			}
		}
	})
}

// Proves KEPT-version-1.
//
// TestEveryColumnOfMediaRaisesTheVersion checks that each column of media and storage_objects either raises the version or is named here.
func TestEveryColumnOfMediaRaisesTheVersion(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	for table, silent := range map[string][]string{
		"media":           {"object_id", "maker", "making_until", "created_at", "updated_at", "private"},
		"storage_objects": {"id", "cache_control", "owner_id", "user_metadata", "created_at"},
	} {
		var trigger string
		if err := d.QueryRow(t.Context(), "select group_concat(sql) from sqlite_master where type = 'trigger' and tbl_name = $1 and sql not like '% after delete on %'", table).Scan(&trigger); err != nil {
			t.Fatal(err)
		}
		rows, err := d.Query(t.Context(), "select name from pragma_table_info($1)", table)
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var column string
			if err := rows.Scan(&column); err != nil {
				t.Fatal(err)
			}
			if named := strings.Count(trigger, "old."+column+" "); named > 1 || (named == 1) == slices.Contains(silent, column) {
				t.Errorf("%s.%s: the triggers and this list must name it once", table, column)
			}
		}
		if err := rows.Err(); err != nil {
			t.Fatal(err)
		}
		if err := rows.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// Proves KEPT-version-2.
//
// TestATransactionCountsOnceAndOnlyWhenCommitted also checks that writers of different rows do not wait for each other before they
// commit.
func TestATransactionCountsOnceAndOnlyWhenCommitted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		v := NewVersion(d, quiet)
		before := current(t, v)
		fill := func(tx *db.Tx) error {
			for _, key := range []string{"a", "b", "c"} {
				if _, err := tx.Exec(t.Context(), "insert into site_settings (key, value, updated_at) values ($1, '1', $2)", key, time.Now()); err != nil {
					return err
				}
			}
			return nil
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			if err := fill(tx); err != nil {
				return err
			}
			return context.Canceled
		}); err == nil {
			t.Fatal("not rolled back")
		}
		if n := current(t, v); n != before {
			t.Errorf("after a rollback %v, before it %v", n, before)
		}
		if err := d.WithTx(t.Context(), fill); err != nil {
			t.Fatal(err)
		}
		if n := current(t, v); n == before || (d.Dialect == db.Postgres && n != edit(before.Current+1)) {
			t.Errorf("after the commit %v, before it %v", n, before)
		}
		if d.Dialect != db.Postgres {
			return
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			if _, err := tx.Exec(t.Context(), "update site_settings set value = '2' where key = 'a'"); err != nil {
				return err
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			_, err := d.Exec(ctx, "update site_settings set value = '2' where key = 'b'")
			return err
		}); err != nil {
			t.Error(err)
		}
	})
}

// Proves KEPT-version-3.
//
// TestWritesOfOtherProgramsAreSeenWithinASecond covers both ways: the reads of requests alone, and notifications on PostgreSQL.
func TestWritesOfOtherProgramsAreSeenWithinASecond(t *testing.T) {
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		for _, listening := range []bool{false, true} {
			t.Run(string(dialect), func(t *testing.T) {
				url := dbtest.URL(t, dialect)
				open := func() *db.DB {
					d, err := db.Open(t.Context(), url, db.NoHooks)
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(func() { _ = d.Close() })
					return d
				}
				ours, others := open(), open()
				if err := ours.Migrate(t.Context()); err != nil {
					t.Fatal(err)
				}
				v := NewVersion(ours, quiet)
				before := current(t, v)
				if listening {
					ctx, stop := context.WithCancel(t.Context())
					ended := make(chan struct{})
					go func() { v.Run(ctx); close(ended) }()
					defer func() { stop(); <-ended }()
				}
				if _, err := others.Exec(t.Context(), "insert into site_settings (key, value, updated_at) values ('site', '{}', $1)", time.Now()); err != nil {
					t.Fatal(err)
				}
				for written := time.Now(); ; {
					requested := time.Since(written) // not the response, which a busy machine may delay
					if current(t, v) != before {
						break
					}
					if requested > time.Second {
						t.Fatal("after a second the old version was still returned")
					}
				}
			})
		}
	}
}

// Proves KEPT-version-3.
//
// TestVersionIsUnknownWithoutTheDatabase checks that soon after an outage begins no cached value is served as current.
func TestVersionIsUnknownWithoutTheDatabase(t *testing.T) {
	d, err := db.Open(t.Context(), dbtest.URL(t, db.SQLite), db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	v := NewVersion(d, quiet)
	current(t, v)
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	gone := time.Now()
	for {
		requested := time.Since(gone)
		if _, err := v.Current(t.Context()); err != nil {
			break
		}
		if requested > time.Second {
			t.Fatal("a version was returned a second after the outage began")
		}
	}
	full := &Version{db: d, refreshing: make(chan struct{}, 1)}
	full.refreshing <- struct{}{} // a read without a response
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := full.Current(ctx); err == nil {
		t.Error("a cancelled caller still waits for the reading of another")
	}
}

// Proves P-outage.
//
// TestLastVersionIsServedDuringAnOutage checks that values are served for a limited time, unless this node has changed the content since.
func TestLastVersionIsServedDuringAnOutage(t *testing.T) {
	databaseURL, beginOutage, endOutage := dbtest.Outage(t, db.SQLite)
	d, err := db.Open(t.Context(), databaseURL, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = d.Close() }()
	v := NewVersion(d, quiet)
	at, stale, err := v.Serving(t.Context())
	if err != nil || stale != 0 || at != current(t, v) {
		t.Fatal(at, stale, err)
	}
	beginOutage()
	old := *v.latest.Load()
	old.readAt = old.readAt.Add(-maxAge)
	v.latest.Store(&old)
	if _, err := v.Current(t.Context()); !errors.Is(err, db.ErrOutage) {
		t.Fatalf("the version is known: %v", err)
	}
	serves := func(want bool, why string) {
		t.Helper()
		got, stale, err := v.Serving(t.Context())
		if (err == nil) != want || want && (got != at || stale <= 0) || !want && !errors.Is(err, db.ErrOutage) {
			t.Errorf("%s: %v, stale for %v, %v", why, got, stale, err)
		}
	}
	serves(true, "at once")
	if _, err := d.Exec(t.Context(), "delete from products"); err == nil {
		t.Fatal("written without a database")
	}
	serves(true, "after a write that failed")
	last := *v.latest.Load()
	last.readAt = time.Now().Add(-OutageLife + time.Second)
	v.latest.Store(&last)
	serves(true, "just before its end")
	last.writes--
	serves(false, "after a write that was acknowledged")
	last.writes++
	last.readAt = time.Now().Add(-OutageLife)
	v.latest.Store(&last)
	serves(false, "after its end")
	endOutage()
	for deadline := time.Now().Add(time.Minute); d.InOutage(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the end of the outage is not seen")
		}
	}
	if at, stale, err := v.Serving(t.Context()); err != nil || stale != 0 || at != current(t, v) {
		t.Errorf("afterwards: %v, %v, %v", at, stale, err)
	}
}
