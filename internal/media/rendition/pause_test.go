package rendition

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Proves F-render-first.
//
// Urgent jobs pause all other jobs while they run, also those that begin meanwhile. Afterwards the other jobs continue.
func TestUrgentJobsPauseOthers(t *testing.T) {
	p := newPool(1, 100)
	var calls []string
	// join begins a job that is not urgent, and returns the function that ends it.
	join := func(name string) func() {
		return p.pauser.add(func() { calls = append(calls, name+" is paused") }, func() { calls = append(calls, name+" continues") })
	}
	expect := func(want ...string) {
		t.Helper()
		slices.Sort(calls)
		if !slices.Equal(calls, want) {
			t.Fatalf("%q, want %q", calls, want)
		}
		calls = nil
	}
	// enter begins an urgent job, and returns the function that ends it.
	enter := func() func() {
		t.Helper()
		leave, err := p.enter(t.Context(), 10, true)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	endA := join("a")
	expect()
	endFirst := enter()
	expect("a is paused")
	endB := join("b")
	expect("b is paused")
	endSecond := enter()
	expect()
	endFirst()
	expect()
	endB() // before it continues, as a cancelled job
	endSecond()
	expect("a continues")
	endA()
	enter()()
	expect()
}

// Proves F-render-first.
//
// A job that was paused for maxPause in total is not paused again, so that it ends eventually.
func TestPauseIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var p pauser
		pauses, continued := 0, 0
		defer p.add(func() { pauses++ }, func() { continued++ })()
		p.beginUrgent()
		time.Sleep(maxPause / 2)
		synctest.Wait()
		if p.endUrgent(); pauses != 1 || continued != 1 {
			t.Fatalf("%d, %d", pauses, continued)
		}
		p.beginUrgent()
		time.Sleep(maxPause)
		synctest.Wait()
		if pauses != 2 || continued != 2 {
			t.Fatalf("after its time: %d, %d", pauses, continued)
		}
		p.endUrgent()
		if p.beginUrgent(); pauses != 2 {
			t.Error("halted again")
		}
		p.endUrgent()
	})
}
