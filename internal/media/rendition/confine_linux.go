package rendition

import (
	"fmt"
	"syscall"
	"time"
)

// confine limits the memory in bytes and the processor time of this process and of each process that it starts, and lowers
// their priority (lowerPriority). They write no core dumps and no file above 2 GB. RLIMIT_DATA limits the memory that a program
// has allocated, without mapped files. RLIMIT_AS is not used: Go reserves more address space than it uses, so the limit would end
// harmless jobs.
func confine(memory int64, cpu time.Duration) error {
	type limit struct {
		resource int
		value    uint64
	}
	limits := []limit{{syscall.RLIMIT_CORE, 0}, {syscall.RLIMIT_FSIZE, 2 << 30}, {syscall.RLIMIT_CPU, uint64(max(1, cpu/time.Second))}}
	if !raceDetector { // the shadow memory of the race detector alone exceeds any limit
		limits = append(limits, limit{syscall.RLIMIT_DATA, uint64(memory)})
	}
	for _, l := range limits {
		if err := syscall.Setrlimit(l.resource, &syscall.Rlimit{Cur: l.value, Max: l.value}); err != nil {
			return fmt.Errorf("limit %d: %w", l.resource, err)
		}
	}
	return lowerPriority()
}
