//go:build unix

package rendition

import (
	"os"
	"runtime"
	"syscall"
)

// peakOf returns usage.peak of an ended process.
func peakOf(p *os.ProcessState) int64 {
	r, ok := p.SysUsage().(*syscall.Rusage)
	switch {
	case !ok:
		return 0
	case runtime.GOOS == "darwin": // in bytes
		return int64(r.Maxrss) //nolint:unconvert // Maxrss has 32 bits on some systems
	}
	return int64(r.Maxrss) << 10 //nolint:unconvert // in KiB
}
