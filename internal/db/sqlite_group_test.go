package db_test

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// put stores a setting in a transaction.
func put(t *testing.T, tx *db.Tx, key, value string) error {
	t.Helper()
	return db.Exec(t.Context(), tx, "insert into site_settings (key, value, updated_at) values ($1, $2, $3)", key, value, time.Unix(0, 0).UTC())
}

// keys returns the keys of the settings that start with prefix.
func keys(t *testing.T, d *db.DB, prefix string) map[string]bool {
	t.Helper()
	list, err := db.Collect(t.Context(), d, db.ScanOne[string], "select key from site_settings where key like $1 || '%'", prefix)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, key := range list {
		found[key] = true
	}
	return found
}

// queued runs fn in n short transactions and returns their results. On SQLite it holds the write connection until all transactions wait
// for that connection, so that they run together. On PostgreSQL they run concurrently.
func queued(t *testing.T, d *db.DB, n int, fn func(i int, tx *db.Tx) error) []error {
	t.Helper()
	results := make([]error, n)
	var running sync.WaitGroup
	if err := d.WithTx(t.Context(), func(*db.Tx) error {
		for i := range n {
			running.Go(func() {
				defer func() {
					if p := recover(); p != nil {
						results[i] = fmt.Errorf("panic: %v", p)
					}
				}()
				results[i] = d.WithShortTx(t.Context(), func(tx *db.Tx) error { return fn(i, tx) })
			})
		}
		for d.Dialect == db.SQLite && d.WaitingWrites() < n {
			runtime.Gosched()
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	running.Wait()
	return results
}

// Proves H-write-together.
//
// Short transactions that wait together share a commit. If some of them fail, all others must still be stored, and exactly once.
func TestShortTransactionsFailAlone(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return put(t, tx, "group taken", "1") }); err != nil {
			t.Fatal(err)
		}
		refused := errors.New("refused")
		const n = 40
		results := queued(t, d, n, func(i int, tx *db.Tx) error {
			if err := put(t, tx, fmt.Sprint("group ", i), "1"); err != nil {
				return err
			}
			switch i % 8 {
			case 1:
				return refused
			case 2:
				return put(t, tx, "group taken", "2")
			case 3:
				_ = put(t, tx, "group taken", "2") // the error is ignored, the transaction has failed
				_ = put(t, tx, fmt.Sprint("group ignored ", i), "2")
				return nil
			case 4:
				panic("in a transaction")
			case 5:
				_, err := tx.Exec(t.Context(), "no statement")
				return err
			}
			return nil
		})
		found := keys(t, d, "group ")
		for i, err := range results {
			fails := i%8 >= 1 && i%8 <= 5
			if (err != nil) != fails || found[fmt.Sprint("group ", i)] == fails {
				t.Errorf("transaction %d: %v, stored: %v", i, err, found[fmt.Sprint("group ", i)])
			}
			if i%8 == 2 && !db.IsConstraint(err, db.UniqueViolation) || i%8 == 1 && !errors.Is(err, refused) {
				t.Errorf("transaction %d: %v", i, err)
			}
			if found[fmt.Sprint("group ignored ", i)] {
				t.Errorf("transaction %d: a statement after a failed one was stored", i)
			}
		}
	})
}

// A statement that makes SQLite roll back the whole transaction does not affect the other transactions of the group.
//
// Proves H-write-together.
func TestShortTransactionsSurviveARollback(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	const n = 12
	results := queued(t, d, n, func(i int, tx *db.Tx) error {
		if err := put(t, tx, fmt.Sprint("group ", i), "1"); err != nil {
			return err
		}
		if i%4 == 3 {
			return db.Exec(t.Context(), tx, "insert or rollback into site_settings (key, value, updated_at) values ('group 0', '2', ''), ('group 0', '3', '')")
		}
		return nil
	})
	found := keys(t, d, "group ")
	for i, err := range results {
		if fails := i%4 == 3; (err != nil) != fails || found[fmt.Sprint("group ", i)] == fails {
			t.Errorf("transaction %d: %v, stored: %v", i, err, found[fmt.Sprint("group ", i)])
		}
	}
}

// The functions of AfterCommit run once for each committed transaction.
func TestShortTransactionsCallAfterCommit(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var mu sync.Mutex
		calls := map[int]int{}
		queued(t, d, 16, func(i int, tx *db.Tx) error {
			tx.AfterCommit(func() {
				mu.Lock()
				defer mu.Unlock()
				calls[i]++
			})
			if err := put(t, tx, fmt.Sprint("group ", i), "1"); err != nil || i%2 == 0 {
				return err
			}
			return errors.New("refused")
		})
		for i := range 16 {
			if calls[i] != (i+1)%2 {
				t.Errorf("transaction %d: called %d times", i, calls[i])
			}
		}
	})
}

// A transaction whose context ends while it waits does not run. The other transactions do.
func TestShortTransactionsLeaveTheQueue(t *testing.T) {
	d := dbtest.Open(t, db.SQLite)
	ctx, cancel := context.WithCancel(t.Context())
	left := make(chan error)
	if err := d.WithTx(t.Context(), func(*db.Tx) error {
		go func() {
			left <- d.WithShortTx(ctx, func(tx *db.Tx) error { return put(t, tx, "group left", "1") })
		}()
		for d.WaitingWrites() < 1 {
			runtime.Gosched()
		}
		cancel()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("a transaction that left the queue: %v", err)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := d.WithShortTx(t.Context(), func(tx *db.Tx) error { return put(t, tx, "group stays", "1") }); err != nil {
		t.Fatal(err)
	}
	if found := keys(t, d, "group "); len(found) != 1 || !found["group stays"] {
		t.Errorf("stored: %v", found)
	}
}
