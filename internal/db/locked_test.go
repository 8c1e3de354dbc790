package db_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// TestTheHookDecidesHowLongAWriteWaitsForTheLock checks for each kind of write that it waits for another program's lock of SQLite until
// the hook returns false.
func TestTheHookDecidesHowLongAWriteWaitsForTheLock(t *testing.T) {
	const waits = 3 // calls of the hook; the last one returns whether the lock was released
	writes := map[string]func(*testing.T, *db.DB) error{
		"a statement": func(t *testing.T, d *db.DB) error { _, err := d.Exec(t.Context(), "delete from products"); return err },
		"a transaction": func(t *testing.T, d *db.DB) error {
			return d.WithTx(t.Context(), func(tx *db.Tx) error { return db.Exec(t.Context(), tx, "delete from products") })
		},
		"a short transaction": func(t *testing.T, d *db.DB) error {
			return d.WithShortTx(t.Context(), func(tx *db.Tx) error { return db.Exec(t.Context(), tx, "delete from products") })
		},
		"the migration of a new database": func(t *testing.T, d *db.DB) error { return d.Migrate(t.Context()) },
	}
	for name, write := range writes {
		for result, released := range map[string]bool{" that is released": true, " that is kept": false} {
			t.Run(name+" and a lock"+result, func(t *testing.T) {
				address, lock, unlock := dbtest.Lock(t)
				if strings.HasSuffix(name, "new database") { // the file is empty
					if err := os.Truncate(strings.TrimPrefix(address, "sqlite:"), 0); err != nil {
						t.Fatal(err)
					}
				}
				calls := 0
				hooks := db.NoHooks
				hooks.Locked = func(waited time.Duration) bool {
					if calls++; calls < waits {
						return waited > 0
					}
					if released {
						unlock()
					}
					return released
				}
				d, err := db.Open(t.Context(), address, hooks)
				if err != nil {
					t.Fatal(err)
				}
				defer func() {
					if err := d.Close(); err != nil {
						t.Error(err)
					}
				}()
				if _, err := d.Exec(t.Context(), "pragma busy_timeout = 20"); err != nil { // of the only write connection
					t.Fatal(err)
				}
				lock()
				err = write(t, d)
				if !released {
					unlock()
				}
				if calls != waits || released != (err == nil) || !released && !db.IsLocked(err) {
					t.Errorf("released %t: called %d times, %v", released, calls, err)
				}
			})
		}
	}
}
