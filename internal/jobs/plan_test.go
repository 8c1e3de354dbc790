package jobs

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// TestClaimsReadNoJobsOfOtherKinds checks the query plans of both engines: jobs of a kind must come from the index in the order of their
// time. Otherwise each mail would wait until thousands of waiting files are read.
func TestClaimsReadNoJobsOfOtherKinds(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		fillQueue(t, q, 4000)
		kinds := []string{"mail", "files-0", "files-1"}
		dueKinds, dueKindsArgs := dueKindsStatement(kinds, c.now())
		claim, claimArgs := claimStatement(d.Dialect, kinds, 8, c.now())
		for _, statement := range []struct {
			query    string
			args     []any
			searches int // how often the plan names the index
		}{{dueKinds, dueKindsArgs, 1}, {claim, claimArgs, len(kinds)}} {
			plan := explained(t, d, statement.query, statement.args)
			fromIndex := regexp.MustCompile(`SEARCH jobs (EXISTS )?USING INDEX jobs_due \(kind=\?\)|Index Scan using jobs_due on jobs`).FindAllString(plan, -1)
			if len(fromIndex) != statement.searches || strings.Contains(plan, "SCAN jobs") || strings.Contains(plan, "Seq Scan") {
				t.Errorf("%s:\n%s", statement.query, plan)
			}
		}
	})
}

// TestNodesClaimAtTheSameTime has two nodes claim before the first one commits: the second gets the jobs that follow.
func TestNodesClaimAtTheSameTime(t *testing.T) {
	d := dbtest.Open(t, db.Postgres) // on SQLite the second waits for the first
	c := newClock()
	q := newQueue(d, c, nil)
	kinds := []string{"a", "b", "c", "d"}
	for _, kind := range kinds {
		enqueue(t, q, kind, make([]any, 8)...)
	}
	c.advance(time.Second)
	query, args := claimStatement(d.Dialect, kinds, 8, c.now())
	err := d.WithTx(t.Context(), func(tx *db.Tx) error {
		first, err := db.Collect(t.Context(), tx, scanJob, query, args...)
		if err != nil || len(first) != 8 {
			t.Errorf("the first node claimed %d, %v", len(first), err)
		}
		for _, want := range []int{8, 8, 8, 0} {
			next, err := claimJobs(t.Context(), d, kinds, 8, c.now())
			if err != nil || len(next) != want {
				t.Errorf("another node claimed %d, want %d, %v", len(next), want, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// BenchmarkClaim claims, with 20,000 waiting jobs of other kinds, one job of twelve kinds and removes it; and looks for one when none waits.
func BenchmarkClaim(b *testing.B) {
	kinds := strings.Fields("a b c d e f g h i j k mail")
	for _, dialect := range []db.Dialect{db.SQLite, db.Postgres} {
		d := dbtest.Open(b, dialect)
		c := newClock()
		q := newQueue(d, c, nil)
		fillQueue(b, q, 20_000)
		c.advance(time.Second)
		claim := func(b *testing.B, want int) []job {
			claimed, err := claimJobs(b.Context(), d, kinds, defaultWorkers, c.now())
			if err != nil || len(claimed) != want {
				b.Fatalf("claimed %d: %v", len(claimed), err)
			}
			return claimed
		}
		b.Run(string(dialect)+"/one", func(b *testing.B) {
			for b.Loop() {
				enqueue(b, q, "mail", 1)
				if err := deleteJob(b.Context(), d, claim(b, 1)[0]); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(string(dialect)+"/none", func(b *testing.B) {
			for b.Loop() {
				claim(b, 0)
			}
		})
	}
}

// fillQueue adds n jobs of eight kinds, and updates the database's statistics.
func fillQueue(t testing.TB, q *Queue, n int) {
	t.Helper()
	for i := range 8 {
		enqueue(t, q, fmt.Sprint("files-", i), make([]any, n/8)...)
	}
	if _, err := q.db.Exec(t.Context(), "analyze jobs"); err != nil {
		t.Fatal(err)
	}
}

// explained returns the query plan of a statement.
func explained(t *testing.T, d *db.DB, query string, args []any) string {
	t.Helper()
	explain, dest := "explain ", []any{new(string)}
	if d.Dialect == db.SQLite {
		explain, dest = "explain query plan ", []any{new(int), new(int), new(int), new(string)}
	}
	lines, err := db.Collect(t.Context(), d, func(row db.Row) (string, error) {
		err := row.Scan(dest...)
		return *dest[len(dest)-1].(*string), err
	}, explain+query, args...)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
