package jobs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"atelie/internal/db"
	"atelie/internal/db/dbtest"
)

func TestMain(m *testing.M) { dbtest.Main(m) }

// clock is a clock that tests set. The queue's own waits use the real time, so tests make these waits short.
type clock struct{ unix atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.unix.Store(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC).UnixMicro())
	return c
}
func (c *clock) now() time.Time           { return time.UnixMicro(c.unix.Load()).UTC() }
func (c *clock) advance(by time.Duration) { c.unix.Add(by.Microseconds()) }

var key = []byte("the key of the tests")

// newQueue returns a queue that looks for jobs every 5 ms. log may be nil.
func newQueue(d *db.DB, c *clock, log *bytes.Buffer) *Queue {
	logger := slog.New(slog.DiscardHandler)
	if log != nil {
		logger = slog.New(slog.NewTextHandler(log, nil))
	}
	q := New(d, key, nil, logger, c.now)
	q.poll = 5 * time.Millisecond
	return q
}

// enqueue adds a job for each payload, in one transaction.
func enqueue(t testing.TB, q *Queue, kind string, payloads ...any) {
	t.Helper()
	err := q.db.WithTx(t.Context(), func(tx *db.Tx) error {
		for _, p := range payloads {
			if err := q.Enqueue(t.Context(), tx, kind, p); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// start runs the queue. The returned function stops it and waits for Run to return.
func start(t *testing.T, q *Queue) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		q.Run(ctx)
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return stop
}

func state(t *testing.T, q *Queue) State {
	t.Helper()
	s, err := q.State(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// until calls a condition repeatedly, for at most a minute.
func until(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); {
		if time.Now().After(deadline) {
			t.Fatalf("not within the time limit: %s", what)
		}
		<-time.After(2 * time.Millisecond)
	}
}

func receive[T any](t *testing.T, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// Proves A-mail-5.
func TestJobRunsAfterTheCommitAndNeverAfterARollback(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		q := newQueue(d, newClock(), nil)
		q.poll = time.Hour // no poll during the test, only wake-ups
		got := make(chan string, 4)
		q.Handle("greet", func(_ context.Context, payload []byte) error {
			got <- string(payload)
			return nil
		})
		start(t, q)
		undone := errors.New("undone")
		err := d.WithTx(t.Context(), func(tx *db.Tx) error {
			if err := q.Enqueue(t.Context(), tx, "greet", "never"); err != nil {
				return err
			}
			return undone
		})
		if !errors.Is(err, undone) {
			t.Fatal(err)
		}
		enqueue(t, q, "greet", map[string]string{"name": "Inês"})
		if p := receive(t, got); p != `{"name":"Inês"}` {
			t.Errorf("got %s", p)
		}
		until(t, "the row goes", func() bool { return state(t, q) == State{} })
	})
}

// Proves A-mail-5.
func TestStoredPayloadsAreEncrypted(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		q := newQueue(d, newClock(), nil)
		enqueue(t, q, "mail", map[string]string{"link": "https://example.com/secret-link"}, "moved")
		rows, err := d.Query(t.Context(), "select payload from jobs")
		if err != nil {
			t.Fatal(err)
		}
		for rows.Next() {
			var sealed []byte
			if err := rows.Scan(&sealed); err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(sealed, []byte("secret")) || len(sealed) < 28 {
				t.Errorf("readable: %q", sealed)
			}
		}
		if err := errors.Join(rows.Err(), rows.Close()); err != nil {
			t.Fatal(err)
		}

		// A payload of another secret, or of another row, fails permanently and is logged.
		if _, err := d.Exec(t.Context(), "update jobs set payload = (select payload from jobs order by id limit 1)"); err != nil {
			t.Fatal(err)
		}
		var ran atomic.Int32
		q.Handle("mail", func(context.Context, []byte) error { ran.Add(1); return nil })
		start(t, q)
		until(t, "one failed", func() bool { return state(t, q).Failed == 1 && state(t, q).Waiting == 0 })
		if s := state(t, q); ran.Load() != 1 || !strings.Contains(s.LastError, "another secret") {
			t.Errorf("ran %d times, %+v", ran.Load(), s)
		}
	})
}

func TestEmptyQueueIsPolledWithoutWrites(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		claim := func(want int) {
			t.Helper()
			if claimed, err := claimJobs(t.Context(), d, []string{"k"}, 8, c.now()); err != nil || len(claimed) != want {
				t.Fatalf("%d jobs, %v", len(claimed), err)
			}
		}
		enqueue(t, q, "k", 1)
		enqueue(t, q, "unknown here", 1)
		claim(1)
		before, _ := d.Writes()
		claim(0)
		if tried, _ := d.Writes(); tried != before {
			t.Errorf("%d writes, though no job was due", tried-before)
		}
	})
}

func TestBackoffAndLastTry(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		var log bytes.Buffer
		q := newQueue(d, c, &log)
		tried := make(chan time.Time, 1)
		var tickets sync.Map
		q.Handle("mail", func(ctx context.Context, _ []byte) error {
			tickets.Store(InfoOf(ctx), true)
			tried <- c.now()
			return errors.New("451 try later\x00")
		})
		stop := start(t, q)
		begin := c.now()
		enqueue(t, q, "mail", 1)
		wantAt := begin
		for i := range maxTries {
			if at := receive(t, tried); !at.Equal(wantAt) {
				t.Errorf("try %d came at %s, not at %s", i+1, at, wantAt)
			}
			if i == len(backoff) {
				break
			}
			until(t, "the failure is noted", func() bool {
				s := state(t, q)
				var held int
				if err := d.QueryRow(t.Context(), "select count(*) from jobs where claim is not null").Scan(&held); err != nil {
					t.Fatal(err)
				}
				return s.Retried == 1 && held == 0
			})
			c.advance(backoff[i] - time.Microsecond)
			select {
			case <-tried:
				t.Fatalf("try %d came too early", i+2)
			case <-time.After(12 * time.Millisecond): // two polls
			}
			c.advance(time.Microsecond)
			wantAt = wantAt.Add(backoff[i])
		}
		until(t, "given up", func() bool { return state(t, q).Failed == 1 })
		if s := state(t, q); s.Waiting != 0 || s.LastError != "451 try later�" {
			t.Errorf("%+v", s)
		}
		c.advance(failedRetention - time.Second)
		if err := q.Purge(t.Context()); err != nil || state(t, q).Failed != 1 {
			t.Errorf("gone before its time: %v", err)
		}
		c.advance(2 * time.Second)
		if err := q.Purge(t.Context()); err != nil || state(t, q).Failed != 0 {
			t.Errorf("still there after 30 days: %v", err)
		}
		stop()
		var seen []Info
		tickets.Range(func(ticket, _ any) bool {
			if created := ticket.(Info).Created; !created.Equal(begin) || ticket.(Info).ID == "" {
				t.Errorf("all tries must have the same id: %+v", ticket)
			}
			seen = append(seen, ticket.(Info))
			return true
		})
		if len(seen) != 2 || seen[0].ID != seen[1].ID || seen[0].LastTry == seen[1].LastTry {
			t.Errorf("all tries must have the same id, and the last one must be marked: %+v", seen)
		}
		if text := log.String(); strings.Count(text, "another try follows") != len(backoff) || strings.Count(text, "failed permanently") != 1 {
			t.Errorf("log: %s", text)
		}
	})
}

func TestPermanentErrorsAndPanics(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		q := newQueue(d, newClock(), nil)
		var runs sync.Map
		handle := func(kind string, err error) {
			q.Handle(kind, func(context.Context, []byte) error {
				n, _ := runs.LoadOrStore(kind, new(atomic.Int32))
				n.(*atomic.Int32).Add(1)
				if err == nil {
					panic("broken")
				}
				return err
			})
		}
		handle("refused", fmt.Errorf("send: %w", Permanent(errors.New("550 no such mailbox"))))
		handle("panics", nil)
		enqueue(t, q, "refused", 1)
		enqueue(t, q, "panics", 1)
		enqueue(t, q, "unknown here", 1)
		start(t, q)
		until(t, "both end", func() bool { s := state(t, q); return s.Failed == 1 && s.Retried == 1 })
		for _, kind := range []string{"refused", "panics"} {
			if n, _ := runs.Load(kind); n.(*atomic.Int32).Load() != 1 {
				t.Errorf("%s ran %d times", kind, n)
			}
		}
		if s, err := q.State(t.Context(), "unknown here"); err != nil || s != (State{Waiting: 1}) {
			t.Errorf("a kind without handler must wait: %+v %v", s, err)
		}
		if s, err := q.State(t.Context(), "refused"); err != nil || s != (State{Failed: 1, LastError: "send: 550 no such mailbox"}) {
			t.Errorf("%+v %v", s, err)
		}
	})
	if InfoOf(t.Context()) != (Info{}) {
		t.Error("no job, no ticket")
	}
	if Permanent(nil) != nil || IsPermanent(errors.New("x")) {
		t.Error("Permanent(nil) must be nil")
	}
}

func TestJobsRunInTheOrderOfRunAt(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		base := c.now()
		for _, minute := range []int{7, 3, 9, 0, 5, 1, 8, 2, 6, 4} {
			c.unix.Store(base.Add(time.Duration(minute) * time.Minute).UnixMicro())
			enqueue(t, q, "k", minute)
		}
		c.unix.Store(base.Add(8 * time.Minute).UnixMicro()) // 9 is not due yet
		enqueue(t, q, "k", 80, 81, 82)                      // of the same time: in the order in which they were queued
		var got []string
		for {
			claimed, err := claimJobs(t.Context(), d, []string{"other", "k"}, 3, c.now())
			if err != nil {
				t.Fatal(err)
			}
			if len(claimed) == 0 {
				break
			}
			for _, j := range claimed {
				plain, err := q.sealer.Open(j.payload, additionalData(j.id, j.kind))
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, string(plain))
			}
		}
		if want := strings.Fields("0 1 2 3 4 5 6 7 8 80 81 82"); !slices.Equal(got, want) {
			t.Errorf("got %v, want %v", got, want)
		}
	})
}

// Proves A-mail-5.
//
// The node dies between the claim and the result. Its job is claimed again when the lease has expired, and a later result of the dead
// node does not count.
func TestCrashBetweenClaimAndResult(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		enqueue(t, q, "k", "x")
		dead, err := claimJobs(t.Context(), d, []string{"k"}, 8, c.now())
		if err != nil || len(dead) != 1 || dead[0].tries != 1 {
			t.Fatalf("%v %v", dead, err)
		}
		c.advance(lease - time.Microsecond)
		if again, err := claimJobs(t.Context(), d, []string{"k"}, 8, c.now()); err != nil || len(again) != 0 {
			t.Fatalf("taken during the lease: %v %v", again, err)
		}
		c.advance(time.Microsecond)
		second, err := claimJobs(t.Context(), d, []string{"k"}, 8, c.now())
		if err != nil || len(second) != 1 || second[0].tries != 2 {
			t.Fatalf("%v %v", second, err)
		}
		for _, late := range []error{
			deleteJob(t.Context(), d, dead[0]), retryJob(t.Context(), d, dead[0], "late", c.now()), failJob(t.Context(), d, dead[0], "late", c.now()),
		} {
			if late != nil {
				t.Fatal(late)
			}
		}
		if s := state(t, q); s != (State{Waiting: 1}) {
			t.Errorf("the dead node's word counted: %+v", s)
		}
		// A job that kills every node that runs it is recorded as failed, without another run.
		for range maxTries - 2 {
			c.advance(lease)
			if again, err := claimJobs(t.Context(), d, []string{"k"}, 8, c.now()); err != nil || len(again) != 1 {
				t.Fatalf("%v %v", again, err)
			}
		}
		c.advance(lease)
		var ran atomic.Int32
		q.Handle("k", func(context.Context, []byte) error { ran.Add(1); return nil })
		start(t, q)
		until(t, "given up", func() bool { return state(t, q).Failed == 1 })
		if ran.Load() != 0 {
			t.Error("it ran once more")
		}
	})
}

func TestRestartsWithinSecondsDoNotUseUpTheTries(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		c := newClock()
		q := newQueue(d, c, nil)
		enqueue(t, q, "k", "x")
		claims := 0
		for range 10 * maxTries { // the program runs for a second each time, and stops during the try
			claimed, err := claimJobs(t.Context(), d, []string{"k"}, 8, c.now())
			if err != nil {
				t.Fatal(err)
			}
			claims += len(claimed)
			c.advance(time.Second)
			if err := ReleaseAll(t.Context(), d, c.now()); err != nil {
				t.Fatal(err)
			}
		}
		if claims != 6 { // at 0, 1, 2, 4, 10 and 41 s
			t.Errorf("%d tries within %d seconds", claims, 10*maxTries)
		}
		c.advance(maxBackoff)
		q.Handle("k", func(context.Context, []byte) error { return nil })
		start(t, q)
		until(t, "done", func() bool { return state(t, q) == State{} })
	})
}

func TestShutdownFinishesRunningJobs(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		q := newQueue(d, newClock(), nil)
		running, finish := make(chan context.Context, defaultWorkers), make(chan struct{})
		q.Handle("slow", func(ctx context.Context, _ []byte) error {
			running <- ctx
			<-finish
			return ctx.Err()
		})
		for i := range defaultWorkers + 2 {
			enqueue(t, q, "slow", i)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan struct{})
		go func() {
			defer close(done)
			q.Run(ctx)
		}()
		for range defaultWorkers {
			if _, limited := receive(t, running).Deadline(); !limited {
				t.Error("a run has no time limit")
			}
		}
		cancel()
		select {
		case <-done:
			t.Fatal("returned while jobs ran")
		case <-time.After(20 * time.Millisecond):
		}
		close(finish)
		receive(t, done)
		if s := state(t, q); s != (State{Waiting: 2}) {
			t.Errorf("the running ones must be done and the others wait: %+v", s)
		}
	})
}

func TestStorableErrorTexts(t *testing.T) {
	for text, want := range map[string]string{
		"a\x00b":                                "a�b",
		"\xff":                                  "�",
		strings.Repeat("a", maxErrorText):       strings.Repeat("a", maxErrorText),
		"a" + strings.Repeat("é", maxErrorText): "a" + strings.Repeat("é", (maxErrorText-1)/2) + "…",
	} {
		if got := errorText(errors.New(text)); got != want {
			t.Errorf("%q → %q", text, got)
		}
	}
}

func TestDepthsCountEveryKind(t *testing.T) {
	dbtest.Each(t, func(t *testing.T, d *db.DB) {
		q := newQueue(d, newClock(), nil)
		done := func(context.Context, []byte) error { return nil }
		q.Handle("mail", done)
		q.Handle("refused", done)
		q.HandlePool(1, time.Minute, map[string]Handler{"picture": done})
		enqueue(t, q, "mail", 1, 2)
		enqueue(t, q, "refused", 1)
		enqueue(t, q, "a kind of tomorrow", 1)
		enqueue(t, q, "another one", 1)
		for _, kind := range []string{"refused", "another one"} {
			if err := db.Exec(t.Context(), d, "update jobs set failed_at = $1 where kind = $2", q.now(), kind); err != nil {
				t.Fatal(err)
			}
		}
		got, err := q.Depths(t.Context())
		want := []Depth{{"mail", 2, 0}, {"picture", 0, 0}, {"refused", 0, 1}, {OtherKinds, 1, 1}}
		if err != nil || !slices.Equal(got, want) {
			t.Errorf("%v, %v", got, err)
		}
	})
}
