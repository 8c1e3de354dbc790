package memory

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"modernc.org/libc"
)

// resident returns the resident memory of this process in bytes.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	return pages * os.Getpagesize()
}

// Proves T-limits-memory.
//
// TestReleaseReturnsMemoryOfCCode allocates and frees blocks of several sizes, 4 MB of each. The allocator of the C code keeps freed blocks, so
// only Release can return them.
func TestReleaseReturnsMemoryOfCCode(t *testing.T) {
	const mb, total = 1 << 20, 4 << 20
	tls := libc.NewTLS()
	defer tls.Close()
	var blocks []uintptr
	for size := mb / 8; size <= total; size *= 2 {
		for range total / size {
			block := libc.Xmalloc(tls, libc.Tsize_t(size))
			libc.Xmemset(tls, block, 1, libc.Tsize_t(size))
			blocks = append(blocks, block)
		}
	}
	for _, block := range blocks {
		libc.Xfree(tls, block)
	}
	kept := resident(t)
	Release()
	returned := kept - resident(t)
	t.Logf("%d kB", returned>>10)
	if returned < 2*total {
		t.Errorf("%d kB of %d kB were returned", returned>>10, 6*total>>10)
	}
}
