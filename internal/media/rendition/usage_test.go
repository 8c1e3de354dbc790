package rendition

import (
	"os"
	"time"
)

// usage is what a worker and the programs that it started have used. A value that the system does not report is zero.
type usage struct {
	cpu time.Duration // processor time of all these processes together
	// peak is the largest resident set of any of these processes, in bytes. On Linux it is at least the resident set of the server, because a
	// new process begins as a copy of the server.
	peak int64
}

// readUsage returns what an ended process and its ended child processes have used. p is nil if no process was started.
func readUsage(p *os.ProcessState) usage {
	if p == nil {
		return usage{}
	}
	return usage{p.UserTime() + p.SystemTime(), peakOf(p)}
}
