package gomaxprocs

import (
	"runtime"
	"testing"
	"testing/synctest"
	"time"
)

// GOMAXPROCS is raised once while there are callers and for lowerDelay after the last one, and then has its original value.
func TestRaise(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		original := runtime.GOMAXPROCS(0)
		expect := func(when string, want int) {
			t.Helper()
			synctest.Wait()
			if got := runtime.GOMAXPROCS(0); got != want {
				t.Errorf("%s: %d, not %d", when, got, want)
			}
		}
		first, second := Raise(), Raise()
		expect("two callers", original+extra)
		first()
		first() // a second call does nothing
		time.Sleep(2 * lowerDelay)
		expect("one caller is left", original+extra)
		second()
		time.Sleep(lowerDelay - 1)
		expect("just before the end of the delay", original+extra)
		third := Raise()
		time.Sleep(2 * lowerDelay)
		expect("a caller came within the delay", original+extra)
		third()
		expect("right after the last caller", original+extra)
		time.Sleep(lowerDelay)
		expect("after the delay", original)
	})
}
