package memory

import (
	"sync"
	_ "unsafe" // for go:linkname

	_ "modernc.org/libc" // defines the two variables
	"modernc.org/memory"
)

// SQLite and the JavaScript engine are C translated to Go. Their malloc keeps freed memory, as much as was ever in use at once: 10 MB
// after the engine has compiled its script. modernc.org/libc exports no function that returns it; if it renames these variables,
// the program does not link.

//go:linkname allocator modernc.org/libc.allocator
var allocator memory.Allocator

//go:linkname allocatorMu modernc.org/libc.allocatorMu
var allocatorMu sync.Mutex

// trimC returns the free memory of the C allocator to the system. A failure of munmap leaves the memory with the program.
func trimC() {
	allocatorMu.Lock()
	defer allocatorMu.Unlock()
	_ = allocator.Trim()
}
