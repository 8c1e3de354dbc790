// Package memory returns unused memory to the operating system.
package memory

import "runtime/debug"

// Release runs a garbage collection and returns to the system what Go's runtime, SQLite and the JavaScript engine have freed.
// It takes some milliseconds of one processor, so it is called after a burst of work and not within a request.
func Release() {
	debug.FreeOSMemory()
	trimC()
}
