//go:build race

package renditiontest

import (
	"os"
	"path/filepath"

	"atelie/internal/media/rendition"
)

// The race detector makes a worker's loops over pixels ten times slower. Therefore tests with the detector start the worker program that
// scripts/test.mjs has built without the detector. That program was built by the last `make test`. To test later changes, unset
// TEST_PROGRAMS. The tests of packages media and rendition run this code with the detector.
func init() {
	if programs := os.Getenv("TEST_PROGRAMS"); programs != "" {
		rendition.WorkerProgram = func() (string, error) { return filepath.Join(programs, "atelie"), nil }
	}
}
