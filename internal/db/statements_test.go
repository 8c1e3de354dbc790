package db_test

import (
	"fmt"
	"sync"
	"testing"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// Many concurrent readers run more different statements than the cache holds, and some stop halfway. No reader may get the
// rows of another one, or use a statement that the cache has closed.
func TestStatementCacheUnderConcurrentReaders(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var wg sync.WaitGroup
		for reader := range 8 {
			wg.Go(func() {
				for i := range 400 {
					n := (i*7 + reader*13) % 300
					var got int
					if err := d.QueryRow(t.Context(), fmt.Sprintf("select %d + cast($1 as integer)", n), reader).Scan(&got); err != nil || got != n+reader {
						t.Errorf("%d + %d: %d, %v", n, reader, got, err)
						return
					}
					rows, err := d.Query(t.Context(), fmt.Sprintf("select %d union all select %d order by 1", n, n+1))
					if err != nil {
						t.Error(err)
						return
					}
					if !rows.Next() {
						t.Error("no row")
					}
					if err := rows.Scan(&got); err != nil || got != n {
						t.Errorf("%d: %d, %v", n, got, err)
					}
					if err := rows.Close(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
	})
}

func TestCachedStatementSeesSchemaChanges(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		const query = "select count(*) from site_settings where key = $1"
		var n int
		if err := d.QueryRow(t.Context(), query, "x").Scan(&n); err != nil {
			t.Fatal(err)
		}
		if _, err := d.Exec(t.Context(), "alter table site_settings add column note text"); err != nil {
			t.Fatal(err)
		}
		if err := d.QueryRow(t.Context(), query, "x").Scan(&n); err != nil || n != 0 {
			t.Errorf("after a change of the table: %d, %v", n, err)
		}
	})
}
