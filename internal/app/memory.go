package app

import (
	"context"
	"runtime/metrics"
	"time"

	"atelie/internal/interval"
	"atelie/internal/memory"
)

// This file returns memory to the operating system after bursts of work. Go's runtime would return the memory only minutes later. The memory
// in use is measured once per memoryInterval. The floor is the smallest measured value since the most recent release of memory. Memory is
// released when the memory in use exceeds floor*memoryFactor and has stopped growing.
const (
	memoryInterval = 15 * time.Second // interval of measurements
	memoryFactor   = 1.15             // memory is released when the memory in use exceeds the floor by this factor
	memoryGrowth   = 1.02             // less growth between two measurements is ignored, because an idle program allocates a little too
)

// releaseMemory returns memory to the system after bursts of work, until ctx ends.
func (a *App) releaseMemory(ctx context.Context) {
	var watch memoryWatch
	watch.shouldRelease(memoryInUse()) // sets the first floor
	interval.After(ctx, memoryInterval, func() bool {
		if watch.shouldRelease(memoryInUse()) {
			memory.Release()
			watch.reset(memoryInUse())
		}
		return true
	})
}

// memoryWatch decides when memory is released.
type memoryWatch struct {
	floor    uint64 // minimum number of bytes in use since the most recent release; 0 before the first measurement
	previous uint64 // bytes in use at the previous measurement
	again    bool   // the most recent release has returned memory, so the next one need not wait until memoryFactor is exceeded
}

// shouldRelease reports whether memory should be released. It must be called once per memoryInterval.
func (w *memoryWatch) shouldRelease(inUse uint64) bool {
	grown := float64(inUse) > float64(w.previous)*memoryGrowth
	w.previous = inUse
	if w.floor == 0 || inUse < w.floor {
		w.floor = inUse
	}
	return !grown && (w.again || float64(inUse) > float64(w.floor)*memoryFactor)
}

// reset sets the floor to the bytes in use after a release.
func (w *memoryWatch) reset(inUse uint64) {
	w.again = float64(inUse)*memoryGrowth < float64(w.previous)
	w.floor, w.previous = inUse, inUse
}

// memoryInUse returns the bytes of memory that Go's runtime has from the system. SQLite's memory is not included.
func memoryInUse() uint64 {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(samples)
	return samples[0].Value.Uint64() - samples[1].Value.Uint64()
}
