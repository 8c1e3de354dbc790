//go:build !linux

package memory

// trimC does nothing: on other systems modernc.org/libc has these variables under other names.
func trimC() {}
