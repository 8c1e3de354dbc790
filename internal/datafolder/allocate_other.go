//go:build !linux

package datafolder

import "os"

// allocate reserves disk space for a file of size bytes, the reserve (space.go), by filling the file with data.
func allocate(f *os.File, size int64) error { return fill(f, size) }
