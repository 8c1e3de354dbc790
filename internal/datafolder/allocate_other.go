//go:build !linux

package datafolder

import "os"

// allocate makes the file f occupy size bytes of the disk, by filling it with data. The program keeps such a file to free its space when
// the disk is full.
func allocate(f *os.File, size int64) error { return fill(f, size) }
