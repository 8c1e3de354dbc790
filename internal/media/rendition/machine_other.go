//go:build !linux

package rendition

// machineMemory returns 0: the memory of the machine is unknown here.
func machineMemory() int64 { return 0 }
