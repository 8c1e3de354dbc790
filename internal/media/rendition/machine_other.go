//go:build !linux

package rendition

// machineMemory returns 0, which means unknown. The memory is read on Linux only.
func machineMemory() int64 { return 0 }
