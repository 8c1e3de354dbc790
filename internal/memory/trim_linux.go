package memory

import (
	"sync"
	_ "unsafe" // required by go:linkname

	_ "modernc.org/libc" // defines the two variables
	"modernc.org/memory"
)

// SQLite and the JavaScript engine are C code translated to Go. Their malloc (modernc.org/libc) does not return freed memory to the system:
// it keeps as much as was ever in use at once, 10 MB after the engine has compiled its script. The package exports no function that
// returns the memory, so this file uses its internal variables. If the package renames them, the program does not link.

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
