package jobs

import (
	"context"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

// TestSlowJobsKeepTheirLeaseAndDelayNothing checks that slow jobs of one pool do not delay those of another, and that the leases of running
// jobs are renewed.
func TestSlowJobsKeepTheirLeaseAndDelayNothing(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		q.renew = time.Millisecond
		begun, quick, release := make(chan struct{}, 8), make(chan struct{}, 1), make(chan struct{})
		q.HandlePool(2, time.Hour, map[string]Handler{"slow": func(context.Context, []byte) error {
			begun <- struct{}{}
			<-release
			return nil
		}})
		q.Handle("quick", func(context.Context, []byte) error {
			quick <- struct{}{}
			return nil
		})
		enqueue(t, q, "slow", 1, 2, 3)
		enqueue(t, q, "quick", 1)
		start(t, q)
		receive(t, begun)
		receive(t, begun)
		receive(t, quick)
		until(t, "the end of the quick job is stored", func() bool { return state(t, q).Waiting == 3 })
		if len(begun) != 0 {
			t.Error("three slow jobs at once, with two workers")
		}
		c.advance(3 * lease / 4)
		until(t, "the leases are renewed", func() bool {
			var n int
			if err := d.QueryRow(t.Context(), "select count(*) from jobs where kind = 'slow' and leased_until >= $1", c.now().Add(lease)).Scan(&n); err != nil {
				t.Fatal(err)
			}
			return n == 2
		})
		close(release)
		until(t, "all is done", func() bool { return state(t, q).Waiting == 0 })
	})
}

// TestShutdownReleasesSlowJobs checks that a shutdown cancels a running job and releases it, so that it runs again after the next start.
func TestShutdownReleasesSlowJobs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		begun := make(chan Info, 2)
		done := make(chan struct{})
		again := false
		q.HandlePool(1, time.Hour, map[string]Handler{"slow": func(ctx context.Context, _ []byte) error {
			begun <- InfoOf(ctx)
			if again {
				close(done)
				return nil
			}
			<-ctx.Done()
			return ctx.Err()
		}})
		enqueue(t, q, "slow", 1)
		stop := start(t, q)
		first := receive(t, begun)
		stop()
		if s := state(t, q); s.Waiting != 1 || s.Retried != 0 || s.Failed != 0 {
			t.Errorf("after the stop: %+v", s)
		}
		again = true
		start(t, q)
		if second := receive(t, begun); second.ID != first.ID || second.LastTry {
			t.Errorf("%+v after %+v", second, first)
		}
		receive(t, done)
		until(t, "it is done", func() bool { return state(t, q).Waiting == 0 })
	})
}

func TestInfoLastTry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		tries := make(chan bool, maxTries)
		q.HandlePool(1, time.Hour, map[string]Handler{"slow": func(ctx context.Context, _ []byte) error {
			tries <- InfoOf(ctx).LastTry
			return context.DeadlineExceeded
		}})
		enqueue(t, q, "slow", 1)
		start(t, q)
		for n := 1; n <= maxTries; n++ {
			until(t, "another try", func() bool {
				c.advance(backoff[len(backoff)-1])
				return len(tries) > 0
			})
			if last := <-tries; last != (n == maxTries) {
				t.Errorf("try %d of %d: last is %t", n, maxTries, last)
			}
		}
		until(t, "it has failed", func() bool { return state(t, q).Failed == 1 })
	})
}

func TestPoolPriorities(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		order := make(chan string, 6)
		note := func(kind string) map[string]Handler {
			return map[string]Handler{kind: func(context.Context, []byte) error {
				order <- kind
				return nil
			}}
		}
		q.HandlePool(1, time.Hour, note("first"), note("second"))
		enqueue(t, q, "second", 1, 2)
		c.advance(time.Second)
		enqueue(t, q, "first", 1, 2)
		start(t, q)
		for i, want := range []string{"first", "first", "second", "second"} {
			if got := receive(t, order); got != want {
				t.Errorf("%d: %s, want %s", i, got, want)
			}
		}
	})
}
