package jobs

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
	"atelie/test/soak"
)

// TestManyJobsRunOnce runs two nodes on one database, each with eight workers. A tenth of the jobs fail at the first attempt. Each job must
// succeed exactly once.
func TestManyJobsRunOnce(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		total := soak.Size(500, 2000)
		c := newClock()
		var (
			mu     sync.Mutex
			done   = map[int]int{}  // how often each job has succeeded
			failed = map[int]bool{} // the jobs that have failed once
		)
		handler := func(_ context.Context, payload []byte) error {
			var n int
			if err := json.Unmarshal(payload, &n); err != nil {
				return Permanent(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if n%10 == 0 && !failed[n] {
				failed[n] = true
				return errors.New("once")
			}
			done[n]++
			return nil
		}
		first, second := newQueue(d, c, nil), newQueue(d, c, nil)
		payloads := make([]any, total)
		for i := range payloads {
			payloads[i] = i
		}
		enqueue(t, first, "k", payloads...)
		begin := time.Now()
		for _, q := range []*Queue{first, second} {
			q.Handle("k", handler)
			start(t, q)
		}
		for left, deadline := total, time.Now().Add(time.Minute); left > 0; c.advance(100 * time.Millisecond) {
			<-time.After(20 * time.Millisecond)
			s := state(t, first)
			if s.Waiting < left {
				left, deadline = s.Waiting, time.Now().Add(time.Minute) // a minute for the next job, because all of them may take longer on a busy machine
			}
			if time.Now().After(deadline) {
				t.Fatalf("nothing is done any more: %+v", s)
			}
		}
		t.Logf("%s for %d jobs", time.Since(begin).Round(time.Millisecond), total)
		mu.Lock()
		defer mu.Unlock()
		if len(done) != total || len(failed) != total/10 {
			t.Errorf("%d done, %d failed once", len(done), len(failed))
		}
		for n, times := range done {
			if times != 1 {
				t.Errorf("job %d was done %d times", n, times)
			}
		}
	})
}
