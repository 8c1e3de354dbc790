// Package soak sets the size of long tests: reduced in `make test`, full in `make soak`. The latter runs the tests of all files that import
// this package.
package soak

import "os"

// Running reports whether this is `make soak`.
func Running() bool { return os.Getenv("SOAK") != "" }

// Size returns the size of a test: usual in `make test`, full in `make soak`.
func Size[T any](usual, full T) T {
	if Running() {
		return full
	}
	return usual
}
