// Package soak sets the size of long tests: reduced in `make test`, full in `make soak`. `make soak` runs the tests of all files that
// import this package.
package soak

import (
	"os"
	"testing"
)

// Running reports whether this is `make soak`.
func Running() bool { return os.Getenv("SOAK") != "" }

// Size returns the size of a test: usual in `make test`, full in `make soak`.
func Size[T any](usual, full T) T {
	if Running() {
		return full
	}
	return usual
}

// Only skips a test that has no useful reduced size. `make test` does not run tests that call it, so it does not count them as skipped.
func Only(t testing.TB) {
	t.Helper()
	if !Running() {
		t.Skip("only in make soak, or with SOAK=1")
	}
}
