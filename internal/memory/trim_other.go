//go:build !linux

package memory

// trimC does nothing: on other systems modernc.org/libc has the variables of trim_linux.go under other names.
func trimC() {}
