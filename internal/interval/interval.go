// Package interval runs functions at intervals until a context ends, and waits for times.
package interval

import (
	"context"
	"time"
)

// Every calls fn immediately and then once per interval, until ctx ends.
func Every(ctx context.Context, interval time.Duration, fn func()) {
	fn()
	After(ctx, interval, func() bool { fn(); return true })
}

// After is like Every, but makes the first call after one interval. It also ends when fn returns false.
func After(ctx context.Context, interval time.Duration, fn func() (again bool)) {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !fn() {
			return
		}
	}
}

// Sleep waits for d. If ctx ends first, it returns the error of ctx.
func Sleep(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
