package content

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// edit returns the versions after the edit with this number: the edit is the latest change.
func edit(number int64) Versions { return Versions{number, number} }

// texts returns a cache of texts. The limit is in bytes.
func texts(limit int) *Cache[string, string] {
	return NewCache[string](limit, func(s string) int { return len(s) })
}

// returning returns a function for Load that returns s.
func returning(s string) func(context.Context) (string, bool, error) {
	return func(context.Context) (string, bool, error) { return s, true, nil }
}

// Proves KEPT-page-1.
func TestLoadRunsOnceForConcurrentCallers(t *testing.T) {
	c, calls := texts(1000), atomic.Int32{} // calls of slow
	begun, goOn := make(chan struct{}), make(chan struct{})
	slow := func(context.Context) (string, bool, error) {
		calls.Add(1)
		close(begun)
		<-goOn
		return "page", true, nil
	}
	var wg sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	wg.Go(func() { // the caller whose function runs is cancelled before the value is made
		if got, err := c.Load(ctx, edit(1), "k", slow); got != "page" || err != nil {
			t.Errorf("got %q, error %v", got, err)
		}
	})
	<-begun
	cancel()
	for range 20 {
		wg.Go(func() {
			if got, err := c.Load(t.Context(), edit(1), "k", slow); got != "page" || err != nil {
				t.Errorf("got %q, error %v", got, err)
			}
		})
	}
	if _, err := c.Load(ctx, edit(1), "k", slow); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled caller still waits: %v", err)
	}
	close(goOn)
	wg.Wait()
	if got, ok := c.Get(edit(1), "k"); got != "page" || !ok || calls.Load() != 1 {
		t.Errorf("%q, %v, made %d times", got, ok, calls.Load())
	}
}

// Proves KEPT-version-5.
//
// TestValuesOfPastVersionsAreNotCached also tests a value whose version ended while the value was being made.
func TestValuesOfPastVersionsAreNotCached(t *testing.T) {
	c := texts(1000)
	got, err := c.Load(t.Context(), edit(1), "cover", func(ctx context.Context) (string, bool, error) {
		if _, ok := c.Get(edit(2), "cover"); ok { // the cover was hidden before this request
			t.Error("the cache has a value that is not made yet")
		}
		return "shown", true, nil
	})
	if got != "shown" || err != nil {
		t.Fatal(got, err)
	}
	if got, ok := c.Get(edit(2), "cover"); ok {
		t.Errorf("cached for the next version: %q", got)
	}
	if got, err := c.Load(t.Context(), edit(2), "cover", returning("hidden")); got != "hidden" || err != nil {
		t.Error(got, err)
	}
	if got, err := c.Load(t.Context(), edit(1), "cover", returning("late")); got != "late" || err != nil {
		t.Error(got, err)
	}
	if got, ok := c.Get(edit(2), "cover"); got != "hidden" || !ok {
		t.Errorf("a late caller changed what is cached: %q", got)
	}
}

// Proves KEPT-page-0.
//
// TestStaleValuesAreServedForALimitedTime raises the version without an edit: only facts about files were recorded.
func TestStaleValuesAreServedForALimitedTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := texts(100)
		if _, err := c.Load(t.Context(), edit(1), "page", returning("first")); err != nil {
			t.Fatal(err)
		}
		found := func(at Versions, want string) {
			t.Helper()
			if got, _ := c.GetStale(at, "page", time.Second); got != want {
				t.Errorf("%q at %v", got, at)
			}
		}
		found(Versions{2, 1}, "first")
		time.Sleep(900 * time.Millisecond)
		found(Versions{3, 1}, "first") // a further change does not extend the second
		if got, ok := c.Get(Versions{3, 1}, "page"); ok {
			t.Errorf("%q for new", got)
		}
		time.Sleep(100 * time.Millisecond)
		found(Versions{3, 1}, "")
		if got, err := c.Load(t.Context(), Versions{3, 1}, "page", returning("second")); got != "second" || err != nil {
			t.Error(got, err)
		}
		if c.bytes != len("second") || c.byRecency.Len() != 1 {
			t.Errorf("%d bytes in %d places", c.bytes, c.byRecency.Len())
		}
		found(Versions{3, 1}, "second")
		found(Versions{4, 1}, "second")
		found(Versions{5, 5}, "") // after an edit
		found(Versions{6, 5}, "")
	})
}

// Proves KEPT-page-3.
func TestLeastRecentlyUsedIsEvictedFirst(t *testing.T) {
	c := texts(100)
	for i := range 20 {
		if _, err := c.Load(t.Context(), edit(1), strconv.Itoa(i), returning(strings.Repeat("x", 10))); err != nil {
			t.Fatal(err)
		}
		c.Get(edit(1), "0")
	}
	if _, ok := c.Get(edit(1), "0"); !ok {
		t.Error("a value that is always in use was evicted")
	}
	if _, ok := c.Get(edit(1), "1"); ok {
		t.Error("the oldest value was not evicted")
	}
	if c.bytes != 100 || len(c.entries) != 10 || c.byRecency.Len() != 10 {
		t.Errorf("%d bytes, %d, %d", c.bytes, len(c.entries), c.byRecency.Len())
	}
	if _, err := c.Load(t.Context(), edit(1), "large", returning(strings.Repeat("x", 50))); err != nil {
		t.Fatal(err)
	}
	if _, ok := c.Get(edit(1), "large"); ok || c.bytes != 100 {
		t.Error("one large value evicts the others")
	}
}

func TestReplace(t *testing.T) {
	c := texts(100)
	c.Replace(edit(1), "k", "never asked for")
	if _, ok := c.Get(edit(1), "k"); ok {
		t.Error("stored where nothing was cached")
	}
	if _, err := c.Load(t.Context(), edit(1), "k", returning("long")); err != nil {
		t.Fatal(err)
	}
	c.Replace(edit(1), "k", "ok")
	if got, _ := c.Get(edit(1), "k"); got != "ok" || c.bytes != 2 || c.byRecency.Len() != 1 {
		t.Errorf("%q, %d bytes in %d", got, c.bytes, c.byRecency.Len())
	}
	if _, err := c.Load(t.Context(), edit(2), "k", returning("new")); err != nil {
		t.Fatal(err)
	}
	c.Replace(edit(1), "k", "late")
	if got, _ := c.Get(edit(2), "k"); got != "new" {
		t.Errorf("%q", got)
	}
}

// Proves KEPT-page-3.
func TestFailuresAreNotCached(t *testing.T) {
	c := texts(100)
	for _, fail := range []func(context.Context) (string, bool, error){
		func(context.Context) (string, bool, error) { return "", true, errors.New("no") },
		func(context.Context) (string, bool, error) { return "personal", false, nil },
	} {
		_, _ = c.Load(t.Context(), edit(1), "k", fail) // only the cache afterwards matters
		if _, ok := c.Get(edit(1), "k"); ok {
			t.Error("cached")
		}
	}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a panic was swallowed")
			}
		}()
		_, _ = c.Load(t.Context(), edit(1), "k", func(context.Context) (string, bool, error) { panic("oops") })
	}()
	if got, err := c.Load(t.Context(), edit(1), "k", returning("fine")); got != "fine" || err != nil {
		t.Error(got, err)
	}
}
