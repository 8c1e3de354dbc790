package app

import (
	"testing"
)

// Proves T-limits-memory.
//
// Each step is one measurement of the memory in use. If it must cause a release, after is the memory in use after that release.
func TestMemoryIsReleasedAfterABurst(t *testing.T) {
	const mb = 1 << 20
	var w memoryWatch
	for i, step := range []struct {
		inUse   uint64
		release bool
		after   uint64
	}{
		{60 * mb, false, 0}, // the first measurement sets the minimum
		{64 * mb, false, 0},
		{62 * mb, false, 0},       // only a little above the minimum
		{400 * mb, false, 0},      // a burst begins
		{900 * mb, false, 0},      // the burst continues
		{890 * mb, true, 63 * mb}, // the burst is over
		{63 * mb, true, 63 * mb},  // the previous release returned memory, so another one may return more
		{63 * mb, false, 0},       // the previous release returned nothing
		{74 * mb, false, 0},
		{74 * mb, true, 63 * mb}, // a small burst
		{64 * mb, true, 63 * mb}, // growth by less than memoryTolerance is ignored
		{63 * mb, false, 0},
		{300 * mb, false, 0},
		{300 * mb, true, 250 * mb}, // memory in use at the time of the release becomes the minimum
		{280 * mb, false, 0},
		{280 * mb, true, 70 * mb}, // the work has ended meanwhile
		{70 * mb, true, 69 * mb},
		{50 * mb, false, 0}, // released by the runtime itself
		{90 * mb, false, 0},
		{90 * mb, true, 50 * mb},
	} {
		if got := w.measure(step.inUse); got != step.release {
			t.Fatalf("step %d, %d MB: %v", i, step.inUse/mb, got)
		}
		if step.release {
			w.released(step.after)
		}
	}
	if memoryInUse() < mb {
		t.Error("memoryInUse reports less than 1 MB")
	}
}
