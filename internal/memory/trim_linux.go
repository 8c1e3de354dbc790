package memory

import (
	"sync"
	_ "unsafe" // required by go:linkname

	_ "modernc.org/libc" // defines the two variables that go:linkname names
	"modernc.org/memory"
)

// This file returns the freed memory of SQLite and the JavaScript engine to the system. Both are C code translated to Go. Their malloc
// (modernc.org/libc) keeps the largest amount of memory that was ever in use. It exports no function to return memory, so this file uses
// its internal variables. They have these names only on Linux; on other systems trim_other.go does nothing. If modernc.org/libc renames
// them, the program does not link.

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
