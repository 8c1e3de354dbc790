package db_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// queueSetting queues the insert of a setting.
func queueSetting(t *testing.T, tx *db.Tx, key string) error {
	t.Helper()
	return db.Queue(t.Context(), tx, "insert into site_settings (key, value, updated_at) values ($1, '1', '2026-03-12T10:00:00+00:00')", key)
}

// counted returns a PostgreSQL database, and a function that runs fn in a transaction and returns the round trips that this took. It runs the
// transaction twice and counts the second time, when all statements are prepared.
func counted(t *testing.T) (*db.DB, func(ctx context.Context, fn func(*db.Tx) error) []string) {
	t.Helper()
	proxy := dbtest.CountRoundTrips(t)
	d, err := db.Open(t.Context(), proxy.URL, db.NoHooks)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = d.Close() })
	return d, func(ctx context.Context, fn func(*db.Tx) error) (trips []string) {
		t.Helper()
		for range 2 {
			trips = proxy.During(func() {
				if err := d.WithTx(ctx, fn); err != nil {
					t.Fatal(err)
				}
			})
		}
		return trips
	}
}

func TestRoundTripsOfTransactions(t *testing.T) {
	_, run := counted(t)
	const remove = "delete from site_settings"
	read := func(tx *db.Tx) error {
		_, err := db.One[int](t.Context(), tx, "select count(*) from site_settings")
		return err
	}
	for _, c := range []struct {
		name  string
		actor string
		fn    func(*db.Tx) error
		want  []string // the first words of the statements of each round trip
	}{
		{"nothing", "", func(*db.Tx) error { return nil }, nil},
		{"queued statements", "", func(tx *db.Tx) error {
			return errors.Join(db.Queue(t.Context(), tx, remove), queueSetting(t, tx, "a"), queueSetting(t, tx, "b"))
		}, []string{"delete insert insert"}},
		{"with an actor", "7d1b1b3c-4f6a-4a53-9d27-1f6f5a0d8c11", func(tx *db.Tx) error { return db.Queue(t.Context(), tx, remove) }, []string{"select delete"}},
		{"a result", "", func(tx *db.Tx) error {
			return errors.Join(db.Queue(t.Context(), tx, remove), read(tx), queueSetting(t, tx, "a"))
		},
			[]string{"begin delete select", "insert commit"}},
		{"two results", "", func(tx *db.Tx) error { return errors.Join(db.Exec(t.Context(), tx, remove), read(tx)) },
			[]string{"begin delete", "select", "commit"}},
	} {
		ctx := db.WithActor(t.Context(), c.actor)
		var got []string
		for _, trip := range run(ctx, c.fn) {
			var words []string
			for _, statement := range strings.Split(trip, ";\n") {
				word, _, _ := strings.Cut(statement, " ")
				words = append(words, word)
			}
			got = append(got, strings.Join(words, " "))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %q", c.name, got)
		}
	}
}

// Whichever statements were sent before one fails, nothing is stored, the error is that of the failed statement, and the connection can
// be used again.
func TestQueuedStatementsFailTogether(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		read := func(tx *db.Tx) error {
			_, err := db.One[int](t.Context(), tx, "select count(*) from site_settings")
			return err
		}
		for name, fn := range map[string]func(tx *db.Tx) error{
			"alone": func(tx *db.Tx) error { return errors.Join(queueSetting(t, tx, "a"), queueSetting(t, tx, "a")) },
			"before a result": func(tx *db.Tx) error {
				return errors.Join(queueSetting(t, tx, "a"), queueSetting(t, tx, "a"), read(tx))
			},
			"after a result": func(tx *db.Tx) error {
				return errors.Join(read(tx), queueSetting(t, tx, "a"), queueSetting(t, tx, "a"))
			},
			"the error of a statement ignored": func(tx *db.Tx) error {
				_ = errors.Join(queueSetting(t, tx, "a"), queueSetting(t, tx, "a"), read(tx))
				return nil
			},
			"a row that is read": func(tx *db.Tx) error {
				return errors.Join(queueSetting(t, tx, "a"), tx.QueueRows(t.Context(), func(db.Row) error { return nil },
					"insert into site_settings (key, value, updated_at) values ('a', '1', '2026-03-12T10:00:00+00:00') returning key"))
			},
			"a list": func(tx *db.Tx) error {
				_ = errors.Join(queueSetting(t, tx, "a"), queueSetting(t, tx, "a"))
				_, err := db.Collect(t.Context(), tx, db.ScanOne[string], "select key from site_settings")
				return err
			},
		} {
			err := d.WithTx(t.Context(), fn)
			if name == "the error of a statement ignored" && err != nil && !db.IsConstraint(err, db.UniqueViolation) {
				err = &db.ConstraintError{Code: db.UniqueViolation, Cause: err} // PostgreSQL says only that the transaction has failed
			}
			if !db.IsConstraint(err, db.UniqueViolation) {
				t.Errorf("%s: %v", name, err)
			}
			if found := keys(t, d, ""); found["a"] {
				t.Fatalf("%s: stored", name)
			}
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return queueSetting(t, tx, "a") }); err != nil || !keys(t, d, "")["a"] {
			t.Errorf("afterwards: %v", err)
		}
	})
}

// A constraint that is checked at the commit fails the transaction, also if the transaction was sent in one message.
func TestQueuedStatementsAndDeferredConstraints(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	if _, err := d.Exec(t.Context(), "create table late (id int primary key deferrable initially deferred)"); err != nil {
		t.Fatal(err)
	}
	for range 2 { // without and with prepared statements
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			return errors.Join(db.Queue(t.Context(), tx, "insert into late values (1)"), db.Queue(t.Context(), tx, "insert into late values (1)"))
		})
		if !db.IsConstraint(err, db.UniqueViolation) {
			t.Errorf("at the commit: %v", err)
		}
	}
	if n, err := db.One[int](t.Context(), d, "select count(*) from late"); err != nil || n != 0 {
		t.Errorf("%d stored, %v", n, err)
	}
}

// Rows of queued statements are read at the latest when the transaction ends, in the order of the statements.
func TestQueuedRows(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var got []string
		note := func(row db.Row) error {
			text, err := db.ScanOne[string](row)
			got = append(got, text)
			return err
		}
		queue := func(tx *db.Tx, text string) error {
			return tx.QueueRows(t.Context(), note, "select $1 || '1' union all select $1 || '2' order by 1", text)
		}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			if err := errors.Join(queue(tx, "a"), queue(tx, "b")); err != nil {
				return err
			}
			text, err := db.One[string](t.Context(), tx, "select 'c'")
			got = append(got, text)
			return errors.Join(err, queue(tx, "d"))
		}); err != nil {
			t.Fatal(err)
		}
		if want := []string{"a1", "a2", "b1", "b2", "c", "d1", "d2"}; !slices.Equal(got, want) {
			t.Errorf("%q", got)
		}
	})
}
