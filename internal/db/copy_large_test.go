//go:build !race

package db_test

import (
	"runtime"
	"slices"
	"testing"

	"atelie/internal/db"
)

// TestCopyOfALargeTableUsesLittleMemory copies 100,000 rows, 30 MB in total, and checks that memory stays small.
func TestCopyOfALargeTableUsesLittleMemory(t *testing.T) {
	from := filled(t, 1)
	addRows(t, from, 100_000)
	for _, dialect := range []db.Dialect{db.Postgres, db.SQLite} {
		var maxHeap uint64
		to := emptyAddress(t, dialect)
		sums, _, err := copyRows(t.Context(), from, to, run{tell: func(string, int64) {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			maxHeap = max(maxHeap, m.HeapInuse)
		}})
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(sums, func(s db.TableChecksum) bool { return s.Table == "rate_limits" }); sums[i].Rows != 100_001 {
			t.Errorf("got %+v", sums[i])
		}
		if maxHeap > 24<<20 {
			t.Errorf("to %s: %d MB of memory", dialect, maxHeap>>20)
		}
		t.Logf("to %s: at most %d MB of heap", dialect, maxHeap>>20)
	}
}
