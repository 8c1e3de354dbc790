package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// node is a running bus with the events that it has delivered.
type node struct {
	*Bus
	t      *testing.T
	got    chan string   // payloads
	missed chan struct{} // receives a value for each call of Run's second function: events may have been missed
}

// run starts a bus that receives events until the end of the test.
func run(t *testing.T, d *db.DB, now func() time.Time) *node {
	t.Helper()
	b, err := New(t.Context(), d, slog.New(slog.DiscardHandler), now)
	if err != nil {
		t.Fatal(err)
	}
	n := &node{Bus: b, t: t, got: make(chan string, 10000), missed: make(chan struct{}, 100)}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { b.Run(ctx, func(e Event) { n.got <- string(e.Payload) }, func() { n.missed <- struct{}{} }) })
	t.Cleanup(func() {
		cancel()
		running.Wait()
	})
	return n
}

// expect waits until the wanted events have arrived in this order.
func (n *node) expect(want ...string) {
	n.t.Helper()
	for _, w := range want {
		select {
		case got := <-n.got:
			if got != w {
				n.t.Fatalf("got %s, want %s", got, w)
			}
		case <-time.After(time.Minute):
			n.t.Fatalf("%s was not delivered", w)
		}
	}
}

// record records an event in a transaction of its own.
func (n *node) record(text string) error {
	return n.db.WithTx(context.Background(), func(tx *db.Tx) error { return n.Record(context.Background(), tx, "test", []byte(text)) })
}

// Proves RT-node-4.
func TestCommittedEventsArriveOnceAndInOrder(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		n := run(t, d, time.Now)
		boom := errors.New("boom")
		var want []string
		for i := range 50 {
			text := fmt.Sprint(i)
			err := d.WithTx(t.Context(), func(tx *db.Tx) error {
				if err := n.Record(t.Context(), tx, "test", []byte(text)); err != nil {
					return err
				}
				if i%5 == 0 {
					return boom
				}
				return nil
			})
			switch {
			case i%5 == 0:
				if !errors.Is(err, boom) {
					t.Fatal(err)
				}
			case err != nil:
				t.Fatal(err)
			default:
				want = append(want, text)
			}
		}
		n.expect(want...)
		many := [][]byte{[]byte("a"), []byte(`{"\\u0000":"\u2028\\"}`), []byte("c")}
		if err := d.WithTx(t.Context(), func(tx *db.Tx) error { return n.Record(t.Context(), tx, "test", many...) }); err != nil {
			t.Fatal(err)
		}
		n.expect("a", string(many[1]), "c")
		if err := n.Publish(t.Context(), Event{"test", []byte("last")}); err != nil {
			t.Fatal(err)
		}
		n.expect("last")
	})
}

// Proves RT-node-3.
//
// TestEventsOfASlowTransactionAreNotLost commits a transaction with a lower id after one with a higher id was read.
func TestEventsOfASlowTransactionAreNotLost(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	n := run(t, d, time.Now)
	written, release, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		done <- d.WithTx(context.Background(), func(tx *db.Tx) error {
			if err := insertEvents(context.Background(), tx, "test", []string{"slow"}, time.Now()); err != nil {
				return err
			}
			close(written)
			<-release
			return nil
		})
	}()
	<-written
	for i := range 3 {
		if err := n.record(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	n.expect("0", "1", "2")
	close(release)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	n.expect("slow")
	if err := n.record("end"); err != nil {
		t.Fatal(err)
	}
	n.expect("end") // no event is delivered twice
}

// Proves RT-node-1.
//
// TestTwoNodesReceiveTheEventsOfBoth uses two nodes with one database.
func TestTwoNodesReceiveTheEventsOfBoth(t *testing.T) {
	address := dbtest.URL(t, db.Postgres)
	var nodes []*node
	for range 2 {
		d, err := db.Open(t.Context(), address, db.NoHooks)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = d.Close() })
		nodes = append(nodes, run(t, d, time.Now))
	}
	for i, n := range nodes {
		text := fmt.Sprint("from ", i)
		if err := n.record(text); err != nil {
			t.Fatal(err)
		}
		nodes[0].expect(text)
		nodes[1].expect(text)
	}
}

// Proves RT-node-3.
//
// TestNoEventIsLostWhenTheConnectionEnds ends the listening connection repeatedly while events are written.
func TestNoEventIsLostWhenTheConnectionEnds(t *testing.T) {
	d := dbtest.Open(t, db.Postgres)
	n := run(t, d, time.Now)
	var want []string
	killed := 0
	for i := range 200 {
		if i%20 == 10 {
			for deadline := time.Now().Add(time.Minute); ; {
				var ended int
				if err := d.QueryRow(t.Context(), `select count(*) from (select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'atelie listen') as e`).Scan(&ended); err != nil {
					t.Fatal(err)
				}
				if killed += ended; ended > 0 || time.Now().After(deadline) {
					break
				}
			}
		}
		want = append(want, fmt.Sprint(i))
		if err := n.record(want[i]); err != nil {
			t.Fatal(err)
		}
	}
	n.expect(want...)
	if killed < 10 {
		t.Errorf("only %d connections were ended", killed)
	}
	select {
	case extra := <-n.got:
		t.Errorf("%s came twice", extra)
	case <-n.missed:
		t.Error("events are reported as missed, but none was")
	default:
	}
}

// Proves RT-node-5.
func TestSweptEventsAreReportedAsLost(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		var mu sync.Mutex
		clock := time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)
		now := func() time.Time {
			mu.Lock()
			defer mu.Unlock()
			return clock
		}
		n := run(t, d, now)
		if err := n.record("first"); err != nil {
			t.Fatal(err)
		}
		n.expect("first")
		left := func() (count int) {
			if err := d.QueryRow(t.Context(), "select count(*) from realtime_outbox").Scan(&count); err != nil {
				t.Fatal(err)
			}
			return count
		}
		for _, c := range []struct {
			add  time.Duration
			want int
		}{{retention, 1}, {time.Second, 0}} {
			mu.Lock()
			clock = clock.Add(c.add)
			mu.Unlock()
			if err := n.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			if got := left(); got != c.want {
				t.Errorf("%d left, want %d", got, c.want)
			}
		}
		// The next read is more than maxGap after the last one.
		mu.Lock()
		clock = clock.Add(2 * retention)
		mu.Unlock()
		n.signal()
		select {
		case <-n.missed:
		case <-time.After(time.Minute):
			t.Error("a gap of more than ten minutes was not reported")
		}
	})
}

// TestNodeWithAFastClockDeletesNoUnreadEvents has a node sweep whose clock is ahead by db.ClockSkew. The events that it may delete are so
// old that a node that has not read them notices the gap.
func TestNodeWithAFastClockDeletesNoUnreadEvents(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		start := time.Date(2026, 3, 12, 10, 0, 0, 0, time.UTC)
		clock := start
		now := func() time.Time { return clock }
		log := slog.New(slog.DiscardHandler)
		reader, err := New(t.Context(), d, log, now)
		if err != nil {
			t.Fatal(err)
		}
		fast, err := New(t.Context(), d, log, func() time.Time { return clock.Add(db.ClockSkew) })
		if err != nil {
			t.Fatal(err)
		}
		if err := (&node{Bus: reader}).record("first"); err != nil {
			t.Fatal(err)
		}
		for _, after := range []time.Duration{0, time.Minute, maxGap, maxGap + time.Second} {
			clock = start.Add(after)
			if err := fast.Sweep(t.Context()); err != nil {
				t.Fatal(err)
			}
			events, _, err := eventsAfter(t.Context(), d, reader.cursor)
			if err != nil {
				t.Fatal(err)
			}
			if isNoticed := after > maxGap; len(events) == 0 && !isNoticed {
				t.Errorf("after %s the event is gone, and a node that has not read it would not notice", after)
			}
		}
	})
}

// Proves AM-delete-gone.
//
// TestEventsWithAnIDAreDeleted deletes the events of one row and of many, also those in later batches. Events that only have a similar text
// stay.
func TestEventsWithAnIDAreDeleted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		n := run(t, d, time.Now)
		for _, c := range []struct {
			delete []string
			left   string
		}{
			{[]string{"a"}, `{"id":"ab"} {"old":{"message_id":"b"}} {"id":"c","text":"a, b"} {"id":"d"}`},
			{[]string{"a", "b", "none"}, `{"id":"ab"} {"id":"c","text":"a, b"} {"id":"d"}`},
		} {
			var left string
			err := d.WithTx(t.Context(), func(tx *db.Tx) error {
				if err := db.Exec(t.Context(), tx, "delete from realtime_outbox"); err != nil {
					return err
				}
				for range 2*deleteBatch + 1 {
					if err := n.Record(t.Context(), tx, "test", []byte(`{"id":"z"}`)); err != nil {
						return err
					}
				}
				for _, payload := range []string{`{"id":"a"}`, `{"id":"ab"}`, `{"old":{"message_id":"b"}}`, `{"id":"c","text":"a, b"}`, `{"id":"d"}`} {
					if err := n.Record(t.Context(), tx, "test", []byte(payload)); err != nil {
						return err
					}
				}
				if err := n.DeleteContaining(t.Context(), tx, c.delete...); err != nil {
					return err
				}
				all, err := db.Collect(t.Context(), tx, db.ScanOne[string], "select payload from realtime_outbox where payload not like '%z%' order by id")
				left = strings.Join(all, " ")
				return err
			})
			if err != nil || left != c.left {
				t.Errorf("without %q: %s, %v", c.delete, left, err)
			}
		}
	})
}
