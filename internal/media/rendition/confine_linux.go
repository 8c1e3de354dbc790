package rendition

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// This file limits what a worker (a process that makes the renditions of one picture) may use, and reads how much memory the machine has.

// confine limits the memory (in bytes) and the processor time of this process and of each process that it starts. It also forbids core
// dumps and files larger than 2 GB, and lowers the priority. For an urgent job (somebody waits for its result) it lowers it less.
//
// The limit of memory is RLIMIT_DATA, which counts allocated memory, but not mapped files. RLIMIT_AS would end harmless jobs, because it
// counts the address space, and Go reserves more of that than it uses.
func confine(memory int64, cpu time.Duration, urgent bool) error {
	limits := map[int]uint64{syscall.RLIMIT_CORE: 0, syscall.RLIMIT_FSIZE: 2 << 30, syscall.RLIMIT_CPU: uint64(max(1, cpu/time.Second))}
	if !raceDetector { // the shadow memory of the race detector alone exceeds any limit
		limits[syscall.RLIMIT_DATA] = uint64(memory)
	}
	for resource, limit := range limits {
		if err := syscall.Setrlimit(resource, &syscall.Rlimit{Cur: limit, Max: limit}); err != nil {
			return fmt.Errorf("limit %d: %w", resource, err)
		}
	}
	return lowerPriority(urgent)
}

// machineMemory returns the memory in bytes of the machine, or the limit of the container (cgroup) if that is less. It returns 0 if the
// memory is unknown.
func machineMemory() int64 {
	var info syscall.Sysinfo_t
	if err := syscall.Sysinfo(&info); err != nil {
		return 0
	}
	total := int64(info.Totalram) * int64(info.Unit) // the fields' types differ between architectures
	for _, file := range []string{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"} {
		text, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		if limit, err := strconv.ParseInt(strings.TrimSpace(string(text)), 10, 64); err == nil && limit > 0 {
			total = min(total, limit)
		}
	}
	return total
}
