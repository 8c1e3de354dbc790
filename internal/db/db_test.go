package db_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// insertMessage inserts a message, and returns its id.
func insertMessage(t *testing.T, q db.Querier, name string, at time.Time) string {
	t.Helper()
	id := uuid.NewString()
	if _, err := q.Exec(t.Context(), "insert into contact_submissions (id, name, email, message, created_at) values ($1, $2, $3, $4, $5)", id, name, "a@b.pt", "long enough", at); err != nil {
		t.Fatal(err)
	}
	return id
}

func TestTimesAreReturnedInUTCToTheMicrosecond(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		at := time.Date(2026, 3, 12, 23, 59, 59, 123456789, time.FixedZone("", -3*3600))
		id := insertMessage(t, d, "Inês", at)
		var got time.Time
		if err := d.QueryRow(t.Context(), "select created_at from contact_submissions where id = $1", id).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if want := at.UTC().Truncate(time.Microsecond); !got.Equal(want) || got.Location() != time.UTC {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

func TestNullTimes(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Now()
		id := uuid.NewString()
		if _, err := d.Exec(t.Context(), "insert into auth_users (id, email, last_sign_in_at, email_confirmed_at, created_at, updated_at) values ($1, $2, $3, $4, $5, $5)", id, "a@b.pt", (*time.Time)(nil), &now, now); err != nil {
			t.Fatal(err)
		}
		var none, some *time.Time
		if err := d.QueryRow(t.Context(), "select last_sign_in_at, email_confirmed_at from auth_users where id = $1", id).Scan(&none, &some); err != nil {
			t.Fatal(err)
		}
		if none != nil || some == nil || !some.Equal(now.UTC().Truncate(time.Microsecond)) {
			t.Errorf("got %v and %v", none, some)
		}
		var scanned string
		if err := d.QueryRow(t.Context(), "select id from auth_users").Scan(&scanned); err != nil || scanned != id {
			t.Errorf("uuid as text: %q, %v", scanned, err)
		}
	})
}

func TestNoRows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var id string
		err := d.QueryRow(t.Context(), "select id from products where id = $1", uuid.NewString()).Scan(&id)
		if !errors.Is(err, db.ErrNoRows) {
			t.Errorf("got %v", err)
		}
	})
}

// SQLite itself rolls back on a full disk. Without the check of the package, each later statement would then be committed on its own.
func TestAFailedStatementEndsItsTransactionOnBothEngines(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		insert := func(tx *db.Tx, title any) error {
			return db.Exec(t.Context(), tx, "insert into products (id, title, created_at) values ($1, $2, $3)", uuid.NewString(), title, time.Now())
		}
		var read error
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			if err := insert(tx, nil); !db.IsConstraint(err, db.NotNullViolation) {
				t.Errorf("without a title: %v", err)
			}
			if insert(tx, "A") == nil {
				t.Error("a statement after the failed one was executed")
			}
			_, read = db.One[int](t.Context(), tx, "select count(*) from products")
			return nil
		})
		n, countErr := db.One[int](t.Context(), d, "select count(*) from products")
		if err == nil || read == nil || n != 0 || countErr != nil {
			t.Errorf("committed: %v, read: %v, %d rows: %v", err, read, n, countErr)
		}
	})
}

func TestConstraintsHaveTheSameCodesOnBothEngines(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Now()
		user := uuid.NewString()
		insertUser := func(id string) error {
			_, err := d.Exec(t.Context(), "insert into auth_users (id, email, created_at, updated_at) values ($1, 'a@b.pt', $2, $2)", id, now)
			return err
		}
		if err := insertUser(user); err != nil {
			t.Fatal(err)
		}
		exec := func(q string, args ...any) error { _, err := d.Exec(t.Context(), q, args...); return err }
		for _, c := range []struct {
			name, code string
			err        error
		}{
			{"unique", db.UniqueViolation, insertUser(uuid.NewString())},
			{"primary key", db.UniqueViolation, exec("insert into auth_users (id, created_at, updated_at) values ($1, $2, $2)", user, now)},
			{"foreign key", db.ForeignKeyViolation, exec("insert into user_roles (user_id, role) values ($1, 'admin')", uuid.NewString())},
			{"check", db.CheckViolation, exec("insert into products (id, title, artwork_type, created_at) values ($1, 'A', 'sculpture', $2)", uuid.NewString(), now)},
			{"not null", db.NotNullViolation, exec("insert into products (id, created_at) values ($1, $2)", uuid.NewString(), now)},
		} {
			if !db.IsConstraint(c.err, c.code) {
				t.Errorf("%s: got %v", c.name, c.err)
			}
		}
	})
}

func TestTransactionsCommitOrLeaveNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		called := 0
		boom := errors.New("boom")
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			insertMessage(t, tx, "lost", time.Now())
			tx.AfterCommit(func() { called++ })
			return boom
		})
		if !errors.Is(err, boom) || called != 0 {
			t.Fatalf("rollback: err %v, %d calls after it", err, called)
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			insertMessage(t, tx, "kept", time.Now())
			tx.AfterCommit(func() { called++ })
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		var names string
		if err := d.QueryRow(t.Context(), "select name from contact_submissions").Scan(&names); err != nil || names != "kept" || called != 1 {
			t.Errorf("got %q, %v, %d calls after the commit", names, err, called)
		}
	})
}

func TestManyWritersAtOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var wg sync.WaitGroup
		for range 16 {
			wg.Go(func() {
				for range 10 {
					if _, err := d.Exec(t.Context(), "insert into rate_limits (name, subject, bucket_start, hits) values ('a', 'b', 1, 1) on conflict (name, subject, bucket_start) do update set hits = rate_limits.hits + 1"); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		var hits int
		if err := d.QueryRow(t.Context(), "select hits from rate_limits").Scan(&hits); err != nil || hits != 160 {
			t.Errorf("got %d, %v", hits, err)
		}
	})
}

func TestMigratingTwiceChangesNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		id := insertMessage(t, d, "Inês", time.Now())
		if err := d.Migrate(t.Context()); err != nil {
			t.Fatal(err)
		}
		var got string
		if err := d.QueryRow(t.Context(), "select id from contact_submissions").Scan(&got); err != nil || got != id {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

func TestNewerSchemaIsRefused(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if _, err := d.Exec(t.Context(), "insert into goose_db_version (version_id, is_applied) values (9999, $1)", true); err != nil {
			t.Fatal(err)
		}
		err := d.Migrate(t.Context())
		if err == nil || !strings.Contains(err.Error(), "newer program") {
			t.Errorf("got %v", err)
		}
	})
}

func TestFourNodesMigrateTogether(t *testing.T) {
	address := dbtest.URL(t, db.Postgres)
	admin, err := db.Open(t.Context(), address, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = admin.Close() }()
	if _, err := admin.Exec(t.Context(), "drop schema public cascade"); err != nil {
		t.Fatal(err)
	}
	if _, err := admin.Exec(t.Context(), "create schema public"); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			d, err := db.Open(t.Context(), address, db.NoHooks)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = d.Close() }()
			if err := d.Migrate(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	insertMessage(t, admin, "ready", time.Now())
}

func TestOpenRefusesUnknownAddresses(t *testing.T) {
	for _, address := range []string{"", "mysql://x", "postgres://%zz", "sqlite:/no/such/folder/x.db"} {
		if d, err := db.Open(t.Context(), address, db.NoHooks); err == nil {
			_ = d.Close()
			t.Errorf("%q was opened", address)
		}
	}
}

// TestDeadlockIsRetried locks the same two rows in opposite order in two transactions. PostgreSQL aborts one of them; on SQLite they run
// one after the other.
func TestDeadlockIsRetried(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		ctx := t.Context()
		for _, key := range []string{"a", "b"} {
			if _, err := d.Exec(ctx, "insert into site_settings (key, value, updated_at) values ($1, '0', $2)", key, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		var both sync.WaitGroup // both have locked their first row
		both.Add(2)
		var runs, committed atomic.Int64
		take := func(keys ...string) error {
			first := true
			return d.WithTx(ctx, func(tx *db.Tx) error {
				runs.Add(1)
				tx.AfterCommit(func() { committed.Add(1) })
				for i, key := range keys {
					if _, err := tx.Exec(ctx, "update site_settings set updated_at = $2 where key = $1", key, time.Now()); err != nil {
						return err
					}
					if i == 0 && first && d.Dialect == db.Postgres {
						first = false
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
		}
		failed := make(chan error, 2)
		go func() { failed <- take("a", "b") }()
		go func() { failed <- take("b", "a") }()
		if err := errors.Join(<-failed, <-failed); err != nil {
			t.Fatal(err)
		}
		again := runs.Load() - 2 // on a busy machine more than once
		if (again > 0) != (d.Dialect == db.Postgres) || committed.Load() != 2 {
			t.Errorf("%d runs again, %d committed", again, committed.Load())
		}
	})
}

func TestExpectedTablesAreThoseOfTheMigrations(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		found, err := d.Tables(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		found = slices.DeleteFunc(found, func(name string) bool { return name == "goose_db_version" })
		expected, err := db.ExpectedTables(d)
		if err != nil || !slices.Equal(found, expected) {
			t.Errorf("the database has %v, %v are expected: %v", found, expected, err)
		}
		if err := d.CheckTables(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

func TestCountersOfAClockAheadArePurged(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
		hit := func(at time.Time) int {
			t.Helper()
			hits, err := d.Hit(t.Context(), "sign-in", "somebody", time.Minute, at)
			if err != nil {
				t.Fatal(err)
			}
			return hits
		}
		hit(now.Add(26 * time.Hour))
		hit(now)
		if err := d.PurgeHits(t.Context(), now.Add(-24*time.Hour), now); err != nil {
			t.Fatal(err)
		}
		if ahead, current := hit(now.Add(26*time.Hour)), hit(now); ahead != 1 || current != 2 {
			t.Errorf("%d hits in the window of the wrong clock, %d in the current one", ahead, current)
		}
	})
}
