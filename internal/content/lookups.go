package content

import "sync/atomic"

// Lookups counts requests by whether a cached value answered them. The Cache itself does not count, because one request may
// call Get several times, and pages that are made in advance call it without a request.
type Lookups struct{ hits, misses atomic.Int64 }

// Record counts one request: hit is whether a cached value answered it.
func (l *Lookups) Record(hit bool) {
	if hit {
		l.hits.Add(1)
	} else {
		l.misses.Add(1)
	}
}

// Counts returns the numbers of requests since the start of the program.
func (l *Lookups) Counts() (hits, misses int64) { return l.hits.Load(), l.misses.Load() }
