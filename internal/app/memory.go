package app

import (
	"context"
	"runtime/metrics"
	"time"

	"atelie/internal/interval"
	"atelie/internal/memory"
)

// This file returns memory to the operating system after bursts of work. Go's runtime would return it only minutes later. The memory in use
// is measured once per memoryInterval. Memory is released when the memory in use no longer grows, and either exceeds its minimum since the
// previous release by memoryFactor, or the previous release has returned memory (then there may be more to return).
const (
	memoryInterval  = 15 * time.Second // interval of measurements
	memoryFactor    = 1.15             // how far the memory in use must exceed its minimum
	memoryTolerance = 1.02             // changes by less than this factor are ignored, because an idle program allocates a little too
)

// releaseMemory returns memory to the system after bursts of work, until ctx ends.
func (a *App) releaseMemory(ctx context.Context) {
	var watch memoryWatch
	watch.measure(memoryInUse()) // the first minimum
	interval.After(ctx, memoryInterval, func() bool {
		if watch.measure(memoryInUse()) {
			memory.Release()
			watch.released(memoryInUse())
		}
		return true
	})
}

// memoryWatch decides when memory is released.
type memoryWatch struct {
	minimum         uint64 // minimum of the bytes in use since the previous release; 0 before the first measurement
	previous        uint64 // bytes in use at the previous measurement
	hasReleasedSome bool   // the previous release has returned memory
}

// measure records the bytes in use, and reports whether memory should be released now. It must be called once per memoryInterval.
func (w *memoryWatch) measure(inUse uint64) (release bool) {
	hasGrown := float64(inUse) > float64(w.previous)*memoryTolerance
	w.previous = inUse
	if w.minimum == 0 || inUse < w.minimum {
		w.minimum = inUse
	}
	return !hasGrown && (w.hasReleasedSome || float64(inUse) > float64(w.minimum)*memoryFactor)
}

// released records the bytes in use after a release.
func (w *memoryWatch) released(inUse uint64) {
	w.hasReleasedSome = float64(inUse)*memoryTolerance < float64(w.previous)
	w.minimum, w.previous = inUse, inUse
}

// memoryInUse returns the bytes of memory that Go's runtime has from the system. SQLite's memory is not included.
func memoryInUse() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
