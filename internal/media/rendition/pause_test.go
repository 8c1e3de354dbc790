package rendition

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// Proves F-render-first.
//
// While urgent jobs run, other jobs are stopped, including those that begin in this time. Afterwards they continue.
func TestUrgentJobsPauseOthers(t *testing.T) {
	p := newPool(1, 100)
	var calls []string
	join := func(name string) func() {
		return p.pauser.add(func() { calls = append(calls, name+" halts") }, func() { calls = append(calls, name+" goes on") })
	}
	expect := func(want ...string) {
		t.Helper()
		slices.Sort(calls)
		if !slices.Equal(calls, want) {
			t.Fatalf("%q, want %q", calls, want)
		}
		calls = nil
	}
	enter := func() func() {
		t.Helper()
		leave, err := p.enter(t.Context(), 10, true)
		if err != nil {
			t.Fatal(err)
		}
		return leave
	}
	a := join("a")
	expect()
	one := enter()
	expect("a halts")
	b := join("b")
	expect("b halts")
	two := enter()
	expect()
	one()
	expect()
	b() // b is cancelled
	two()
	expect("a goes on")
	a()
	enter()()
	expect()
}

// Proves F-render-first.
//
// A job that was stopped for a minute in total is not stopped again, so that it ends eventually.
func TestPauseIsLimited(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a pauser
		halts, goesOn := 0, 0
		defer a.add(func() { halts++ }, func() { goesOn++ })()
		a.beginUrgent()
		time.Sleep(maxPause / 2)
		synctest.Wait()
		if a.endUrgent(); halts != 1 || goesOn != 1 {
			t.Fatalf("%d, %d", halts, goesOn)
		}
		a.beginUrgent()
		time.Sleep(maxPause)
		synctest.Wait()
		if halts != 2 || goesOn != 2 {
			t.Fatalf("after its time: %d, %d", halts, goesOn)
		}
		a.endUrgent()
		if a.beginUrgent(); halts != 2 {
			t.Error("halted again")
		}
		a.endUrgent()
	})
}
