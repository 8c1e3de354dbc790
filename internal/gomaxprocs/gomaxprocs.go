// Package gomaxprocs raises GOMAXPROCS, the number of goroutines that run at the same time, while a goroutine waits for the disk.
//
// Go's scheduler notices only after up to 10 ms that a system call takes long, and runs nothing in its place until then. On a machine with
// two processors, a file and a commit that are being synced therefore stop all requests for that time.
package gomaxprocs

import (
	"runtime"
	"sync"
	"time"
)

const (
	// extra is by how much Raise raises GOMAXPROCS. It is not raised all the time, because requests need a tenth to a quarter more processor
	// time with a higher value.
	extra = 2
	// lowerDelay is how long the raised value stays, because other writes often follow, such as the commit of the row of a file.
	lowerDelay = time.Second
)

var raised struct {
	sync.Mutex

	callers  int // calls of Raise that were not released
	calls    int // all calls of Raise
	original int // the value to restore; 0 if the value is not raised
}

// Raise raises GOMAXPROCS until all callers have called release, and for lowerDelay after that.
func Raise() (release func()) {
	raised.Lock()
	defer raised.Unlock()
	raised.callers++
	raised.calls++
	if raised.original == 0 {
		raised.original = runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(raised.original + extra)
	}
	return sync.OnceFunc(func() {
		raised.Lock()
		defer raised.Unlock()
		if raised.callers--; raised.callers == 0 {
			calls := raised.calls
			time.AfterFunc(lowerDelay, func() { lower(calls) })
		}
	})
}

// lower restores the original value, unless Raise was called since the given number of calls.
func lower(calls int) {
	raised.Lock()
	defer raised.Unlock()
	if raised.calls == calls {
		runtime.GOMAXPROCS(raised.original)
		raised.original = 0
	}
}
