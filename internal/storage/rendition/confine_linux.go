package rendition

import (
	"fmt"
	"syscall"
	"time"
)

// confine lowers what this process and all that it starts may take. RLIMIT_DATA counts what a program asked for and
// not what it maps of files; RLIMIT_AS would kill honest jobs, as Go reserves more than it uses.
func confine(memory int64, cpu time.Duration) error {
	limits := []struct {
		what  int
		value uint64
	}{{syscall.RLIMIT_CORE, 0}, {syscall.RLIMIT_FSIZE, 2 << 30}, {syscall.RLIMIT_CPU, uint64(max(1, cpu/time.Second))}}
	if !raceDetector { // its shadow memory alone is beyond any bound
		limits = append(limits, struct {
			what  int
			value uint64
		}{syscall.RLIMIT_DATA, uint64(memory)})
	}
	for _, l := range limits {
		if err := syscall.Setrlimit(l.what, &syscall.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("limit %d: %w", l.what, err)
		}
	}
	return yield()
}
