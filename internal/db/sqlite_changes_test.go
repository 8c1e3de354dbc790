package db_test

import (
	"errors"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// TestChangesDetectsEveryCommit checks that each kind of write changes the result of Changes, also a write through another connection to the
// file, and that nothing else does.
func TestChangesDetectsEveryCommit(t *testing.T) {
	url := dbtest.URL(t, db.SQLite)
	open := func() *db.DB {
		d, err := db.Open(t.Context(), url, db.NoHooks)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
		return d
	}
	d, other := open(), open()
	read := func() db.Changes {
		t.Helper()
		c, ok, err := d.Changes(t.Context())
		if !ok || err != nil || c == (db.Changes{}) {
			t.Fatal(c, ok, err)
		}
		return c
	}
	const touch = "update content_version set edited = edited + 1"
	write := func(tx *db.Tx) error { return db.Exec(t.Context(), tx, touch) }
	rollback := errors.New("rolled back")
	rolledBack := func(tx *db.Tx) error { return errors.Join(write(tx), rollback) }
	before := read()
	for _, step := range []struct {
		name    string
		do      func() error
		changes bool
	}{
		{"nothing", func() error { return nil }, false},
		{"a read", func() error { _, err := db.One[int](t.Context(), d, "select edited from content_version"); return err }, false},
		{"a statement", func() error { return db.Exec(t.Context(), d, touch) }, true},
		{"a transaction", func() error { return d.WithTx(t.Context(), write) }, true},
		{"a short transaction", func() error { return d.WithShortTx(t.Context(), write) }, true},
		{"a transaction that is rolled back", func() error {
			if err := d.WithShortTx(t.Context(), rolledBack); !errors.Is(err, rollback) {
				return err
			}
			return nil
		}, false},
		{"a write through another connection", func() error { return db.Exec(t.Context(), other, touch) }, true},
	} {
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		after := read()
		if (after != before) != step.changes {
			t.Errorf("%s: %v, then %v", step.name, before, after)
		}
		if before = after; read() != after {
			t.Errorf("%s: the value changes without a commit", step.name)
		}
	}
}

func TestChangesIsForSQLite(t *testing.T) {
	if _, ok, err := dbtest.Open(t, db.Postgres).Changes(t.Context()); ok || err != nil {
		t.Errorf("got %v, error %v", ok, err)
	}
}
