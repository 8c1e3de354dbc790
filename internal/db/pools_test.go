package db_test

import (
	"slices"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestPoolStatsCountConnectionsInUse(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		pool := func(name string) db.PoolStats {
			t.Helper()
			all := d.Pools()
			i := slices.IndexFunc(all, func(p db.PoolStats) bool { return p.Name == name })
			if i < 0 {
				t.Fatalf("no pool %s in %v", name, all)
			}
			return all[i]
		}
		var open []db.Rows
		for range db.AnonymousConns {
			rows, err := d.AnonymousPool().Query(t.Context(), "select id from products")
			if err != nil {
				t.Fatal(err)
			}
			open = append(open, rows)
		}
		if p := pool("anonymous"); p.Max != db.AnonymousConns || p.Open != db.AnonymousConns || p.InUse != db.AnonymousConns {
			t.Errorf("with all connections in use: %+v", p)
		}
		for _, rows := range open {
			if err := rows.Close(); err != nil {
				t.Fatal(err)
			}
		}
		if p := pool("anonymous"); p.Open != db.AnonymousConns || p.InUse != 0 {
			t.Errorf("with none in use: %+v", p)
		}
		writer := map[db.Dialect]string{db.SQLite: "write", db.Postgres: "main"}[d.Dialect]
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			if err := db.Exec(t.Context(), tx, "delete from jobs"); err != nil { // on PostgreSQL a transaction gets its connection with the first statement
				return err
			}
			if p := pool(writer); p.InUse != 1 || p.Max < 1 {
				t.Errorf("within a transaction: %+v", p)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		if p := pool(writer); p.InUse != 0 || p.Waits < 0 || p.Waited < 0 {
			t.Errorf("after it: %+v", p)
		}
	})
}

// TestPoolsCountWaits runs only on SQLite, where every second writer waits for the only connection. PostgreSQL counts a wait only at its
// end, and counts the opening of a connection too.
func TestPoolsCountWaits(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	waits := func() int64 { return d.Pools()[0].Waits }
	before := waits()
	written := make(chan error, 1)
	if err := d.WithTx(t.Context(), func(*db.Tx) error {
		go func() { written <- d.WithTx(t.Context(), func(*db.Tx) error { return nil }) }()
		for waits() == before && t.Context().Err() == nil {
			select {
			case err := <-written:
				t.Errorf("the second writer has not waited: %v", err)
				return nil
			default:
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := <-written; err != nil || waits() != before+1 || d.Pools()[0].Waited <= 0 {
		t.Errorf("%d waits after %d, %v, %v", waits(), before, d.Pools()[0].Waited, err)
	}
}
