//go:build !linux

package rendition

// machineMemory is unknown here.
func machineMemory() int64 { return 0 }
