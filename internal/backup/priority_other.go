//go:build !linux

package backup

// atLowPriority calls fn at normal priority, because only Linux has threads with a priority of their own.
func atLowPriority(fn func() error) error { return fn() }
