//go:build !linux

package backup

// atLowPriority calls fn. Only Linux has threads with a priority of their own.
func atLowPriority(fn func() error) error { return fn() }
