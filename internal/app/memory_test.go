package app

import (
	"testing"
)

func TestMemoryIsReleasedAfterABurst(t *testing.T) {
	const mb = 1 << 20
	var w memoryWatch
	for i, step := range []struct {
		inUse uint64
		give  bool
		rest  uint64 // bytes in use after the release
	}{
		{60 * mb, false, 0}, // the first check sets the floor
		{64 * mb, false, 0},
		{62 * mb, false, 0},       // only a little above the floor
		{400 * mb, false, 0},      // a burst begins
		{900 * mb, false, 0},      // the burst continues
		{890 * mb, true, 63 * mb}, // the burst is over
		{63 * mb, false, 0},
		{300 * mb, false, 0},
		{300 * mb, true, 250 * mb}, // memory that stays in use becomes the floor
		{250 * mb, false, 0},
		{260 * mb, false, 0},
		{260 * mb, false, 0},
		{50 * mb, false, 0}, // released by the runtime itself
		{90 * mb, false, 0},
		{90 * mb, true, 50 * mb},
	} {
		if got := w.shouldRelease(step.inUse); got != step.give {
			t.Fatalf("step %d, %d MB: %v", i, step.inUse/mb, got)
		}
		if step.give {
			w.reset(step.rest)
		}
	}
	if memoryInUse() < mb {
		t.Error("a program without memory")
	}
}
